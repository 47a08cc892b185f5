//! What generated code names, and nothing else may.

pub use core::format_args;
pub use core::option::Option;
pub use core::primitive::{bool, str};
pub use core::result::Result;
pub use core::time::Duration;
pub use std::error::Error;
pub use std::string::{String, ToString};

pub use inventory::submit;

pub use crate::context::JobContext;
pub use crate::failure::{PermanentError, permanent};
pub use crate::job::{
    Arg, ArgDef, Backoff, BackoffKind, BreakerDef, Callback, Condition, ConditionDef, CronDef,
    DecodeError, Decoder, EncodeError, Encoder, ErrorMatcher, Fallible, Follows, InjectError,
    Injected, Injection, Input, InputDef, Jitter, Job, JobDef, Keys, Location, PanicPolicy, Plain,
    Priority, Probe, ProbeFallback, ReturnShape, RunFuture, State, arg, checked, default_value,
    inject, injected, injection, input, judge, key_part, run, run_blocking,
};
pub use crate::registry::Registration;

pub mod options;

/// What `Job::decode` returns.
pub type Decoded<J> = Result<J, DecodeError>;

/// What a function that returns `R` gives back on success.
pub type Output<R, const FALLIBLE: bool> = <R as ReturnShape<FALLIBLE>>::Output;

/// What `Job::run` returns.
pub type Run = Result<RunFuture, InjectError>;

/// What a condition answers.
pub type Judged = Result<bool, serde_json::Error>;

/// What `Job::validate` returns.
pub type Validated = Result<(), String>;

/// What `validate = path` returned, with the refusal as text.
pub fn validated<E: core::fmt::Display>(result: Result<(), E>) -> Result<(), String> {
    result.map_err(|error| error.to_string())
}

/// The stored payload of an invocation; for tests of generated code.
pub fn encode<J: Job>(job: &J) -> Result<Vec<u8>, EncodeError> {
    let mut args = Encoder::new();
    job.encode(&mut args);
    args.finish()
}

/// The invocation of a stored payload; for tests of generated code.
pub fn decode<J: Job>(payload: &[u8]) -> Result<J, DecodeError> {
    J::decode(&mut Decoder::new(payload)?)
}

/// Stands in for the methods of a job that did not compile; nothing ever runs it.
pub fn broken() -> ! {
    unreachable!("the macro reported an error for this job")
}

/// The place of the attribute that is being expanded.
#[doc(hidden)]
#[macro_export]
macro_rules! __here {
    () => {
        $crate::__private::Location::new(::core::file!(), ::core::line!())
    };
}

/// The stored name of a function of the user's package.
#[doc(hidden)]
#[macro_export]
macro_rules! __job_name {
    ($name:literal) => {
        ::core::concat!(::core::env!("CARGO_PKG_NAME"), ".", $name)
    };
}

/// Whether a return type is a `Result`.
#[doc(hidden)]
#[macro_export]
macro_rules! __fallible {
    ($returns:ty) => {{
        #[allow(unused_imports)]
        use $crate::__private::ProbeFallback as _;
        $crate::__private::Probe::<$returns>::FALLIBLE
    }};
}

pub use crate::{__fallible as fallible, __here as here, __job_name as job_name};
