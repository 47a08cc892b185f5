//! What a job is: the trait that `#[job]` implements, its definition, its arguments and its result.
//!
//! Nothing here knows of stores or workers.

mod arg;
mod backoff;
mod breaker;
mod callback;
#[doc(hidden)]
pub mod checked;
mod codec;
mod condition;
mod def;
#[cfg(test)]
mod fuzz;
mod inject;
mod input;
mod keys;
mod priority;
mod returns;
mod schedule;
mod state;

pub use arg::{Arg, ArgDef, JobArg, arg, default_value};
pub use backoff::{Backoff, BackoffKind, Jitter};
pub use breaker::{BreakerDef, ErrorMatcher};
pub use callback::Callback;
pub use codec::{DecodeError, Decoder, EncodeError, Encoder};
pub(crate) use condition::collect as collect_conditions;
pub use condition::{Condition, ConditionDef, judge};
pub use def::{JobDef, Location, PanicPolicy};
pub use inject::{Inject, InjectError, Injected, Injection, Need, inject, injected, injection};
pub use input::{Begins, Follows, Input, InputDef, NoOutput, input};
pub use keys::{KeyPart, Keys, key_part};
pub use priority::Priority;
pub use returns::Output;
pub use returns::{Fallible, Plain, ProbeFallback};
pub use returns::{IntoFailure, JobOutput, Probe, ReturnShape, RunFuture, run, run_blocking};
pub(crate) use returns::{Returned, Work};
pub use schedule::CronDef;
pub(crate) use state::shorten;
pub use state::{State, States};

use crate::context::JobContext;
use crate::registry::Registration;

/// An invocation of a `#[job]` function: its arguments, and how to store and run them.
///
/// `#[job]` writes the implementation. By hand it is only worth writing in tests of this crate.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job",
    label = "expected the arguments of a job",
    note = "`#[job] async fn send_email(to: String)` is enqueued as `SendEmail {{ to }}`; calling `send_email(..)` runs it at once instead"
)]
pub trait Job: Sized + Send + 'static {
    /// What the job gives back when it succeeds; `handle.wait()` returns it.
    ///
    /// Without bounds: `run` asks for them once, so that an unfit type is one error.
    type Output;

    /// The stored arguments, the same as in [`Job::DEF`].
    ///
    /// A constant of its own, so that two jobs may name each other as callbacks without their definitions depending on
    /// one another.
    const ARGS: &'static [ArgDef] = &[];

    /// Name, version, options, arguments: everything the runtime knows of the job without running it.
    const DEF: JobDef;

    /// The registry entry of this job, for `.jobs([SendEmail::JOB])`.
    const JOB: Registration = Registration::of::<Self>();

    /// Writes the arguments, one by one.
    fn encode(&self, args: &mut Encoder);

    /// Reads the arguments back.
    fn decode(args: &mut Decoder<'_>) -> Result<Self, DecodeError>;

    /// The keys of this invocation, from the templates on `#[job]`.
    fn keys(&self) -> Keys {
        Keys::new()
    }

    /// Refuses arguments that can never work (`#[job(validate = path)]`).
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Injects what the function asks for and calls it.
    fn run(self, ctx: JobContext) -> Result<RunFuture, InjectError>;
}
