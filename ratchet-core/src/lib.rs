//! The vocabulary and the engine of Ratchet: jobs, the registry, the decisions, the worker and the `Store` trait.
//!
//! Users depend on the facade `ratchet`; stores depend on this crate.

#[cfg(test)]
extern crate self as ratchet;

mod context;
mod failure;
mod job;
mod registry;

pub use context::JobContext;
pub use failure::{
    Caught, Directive, JobError, PermanentError, fatal, invalid, permanent_reason, reject,
    retry_after, snooze,
};
pub use job::JobOutput;
pub use job::{
    Arg, ArgDef, Backoff, BackoffKind, BreakerDef, Callback, CronDef, DecodeError, Decoder,
    EncodeError, Encoder, ErrorMatcher, Inject, InjectError, Injection, IntoFailure, Jitter, Job,
    JobArg, JobDef, KeyPart, Keys, Location, Need, PanicPolicy, Priority, RunFuture, State, States,
};
pub use registry::{
    InvocationResolver, PrepareError, Prepared, Registration, Registry, RegistryError,
};

#[doc(hidden)]
pub mod __private;
