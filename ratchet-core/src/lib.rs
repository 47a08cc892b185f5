//! The core of Ratchet: jobs, the registry, the retry decisions, the client, the worker and the [`Store`] trait.
//!
//! Applications depend on the facade crate `ratchet`; stores depend on this crate. `ARCHITECTURE.md` in the repository
//! gives an overview.

mod client;
mod config;
mod context;
mod decide;
mod env;
mod events;
mod failure;
pub mod graph;
pub mod insert;
mod job;
pub mod model;
pub mod recurring;
mod registry;
pub mod store;
pub mod testing;
mod worker;

pub use async_trait::async_trait;

pub use client::{
    Batch, Breakers, BuildError, Builder, Bulk, Chain, ChainHandle, Declare, Enqueue, Finished,
    GroupHandle, GroupReport, JobHandle, Pipeline, Queues, Ratchet, Redrive, Rejects,
    ScheduleError, ScheduleView, Schedules, StepRef, SubmitError, WaitError, Whole, Wiring,
    Workflow, Yields,
};
pub use config::{BreakerConfig, Config, Depth, QueueConfig};
pub use context::{JobContext, KeepError};
pub use decide::{AlwaysRetry, Outcome, Policies, RetryPolicy, decide};
#[doc(hidden)]
pub use env::crash;
#[cfg(feature = "crash-points")]
#[doc(hidden)]
pub use env::pause;
pub use env::{
    Clock, DedicatedEngineThread, Entropy, IdSource, OsEntropy, SeededEntropy, SingleRuntime,
    Sleep, Spawn, SystemClock, Task, Tasks, VirtualClock,
};
pub use events::{Event, EventStream, GroupRef, JobRef};
pub use failure::{
    DefaultSanitizer, Directive, ErrorSanitizer, Failure, HandlerError, JobError, PermanentError,
    RawError, Retryability, fatal, fingerprint, invalid, permanent_reason, reject, retry_after,
    snooze,
};
pub use job::JobOutput;
pub use job::{
    Arg, ArgDef, Backoff, BackoffKind, Begins, BreakerDef, Callback, Condition, ConditionDef,
    CronDef, DecodeError, Decoder, EncodeError, Encoder, ErrorMatcher, Follows, Inject,
    InjectError, Injection, Input, InputDef, IntoFailure, Jitter, Job, JobArg, JobDef, KeyPart,
    Keys, Location, Need, NoOutput, Output, PanicPolicy, Priority, RunFuture, State, States,
};
pub use model::{
    BreakerState, Due, Explanation, Filter, GroupFilter, GroupId, JobId, JobRecord, JobState,
    Missed, PageRequest, QueueLimits, Rate, Waiting,
};
pub use registry::{
    InvocationResolver, PrepareError, Prepared, Registration, Registry, RegistryError,
};
pub use store::MemoryStore;
pub use store::{Store, StoreError, StoreErrorKind};
pub use worker::{
    AlertSink, DeadLetterSink, EngineDied, EnginePart, Health, Middleware, Next, OutcomeSink,
    RunReport, SinkError, StartError, Stopped, Worker, WorkerStats,
};

#[doc(hidden)]
pub mod __private;
