//! The vocabulary and the engine of Ratchet: jobs, the registry, the decisions, the worker and the `Store` trait.
//!
//! Users depend on the facade `ratchet`; stores depend on this crate.

#[cfg(test)]
extern crate self as ratchet;

mod context;
mod failure;
mod job;
pub mod model;
mod registry;
mod seam;
pub mod store;

pub use context::JobContext;
pub use failure::{
    Caught, Directive, JobError, PermanentError, fatal, invalid, permanent_reason, reject,
    retry_after, snooze,
};
pub use job::{
    Arg, ArgDef, Backoff, BackoffKind, BreakerDef, Callback, CronDef, DecodeError, Decoder,
    EncodeError, Encoder, ErrorMatcher, Inject, InjectError, Injection, IntoFailure, Jitter, Job,
    JobArg, JobDef, KeyPart, Keys, Location, Need, PanicPolicy, Priority, RunFuture, State, States,
};
pub use registry::{
    InvocationResolver, PrepareError, Prepared, Registration, Registry, RegistryError,
};

pub use seam::{
    Clock, CurrentRuntime, Entropy, IdSource, OsEntropy, OwnThread, SeededEntropy, Sleep, Spawn,
    SystemClock, Task, VirtualClock,
};
pub use store::MemoryStore;

#[doc(hidden)]
pub mod __private;
