//! The core of Ratchet: jobs, the registry, the retry decisions, the client, the worker and the [`Store`] trait.
//!
//! Applications depend on the facade crate `ratchet`; stores depend on this crate. `ARCHITECTURE.md` in the repository
//! gives an overview.

mod client;
mod config;
mod contract;
mod decide;
mod events;
mod failure;
mod job;
mod meter;
mod ops;
mod protect;
mod runtime;
#[cfg(feature = "testing")]
pub mod testing;
mod worker;

pub use async_trait::async_trait;

pub use client::{
    AddMembers, Alerts, AnyJob, Archive, Batch, Breakers, BuildError, Builder, Bulk, BulkError,
    BulkPreview, Catalog, CatalogJob, Chain, ChainHandle, DeclareSchedule, DurationStats, Edit,
    EditError, Enqueue, EnqueueMany, ErasurePreview, Erasures, Finished, GroupHandle, GroupReport,
    GroupStep, Groups, JobCount, JobHandle, Jobs, Ledger, NodeError, Nodes, Observer, Operations,
    Pipeline, PointGauges, Queues, Ratchet, Redrive, RejectTrend, RejectTrends, Rejects,
    RevealError, Revealed, ScheduleError, ScheduleView, Schedules, StatsPoint, StatsRequest,
    StatsSeries, StatsSpan, StepOptions, StepOutput, StepRef, SubmitError, WaitError, Workflow,
};
pub use config::{
    ArchiveFor, BadVariable, BreakerConfig, Config, DepthLimit, EnvError, JobDefaults, PurgeWindow,
    QueueConfig, Retention, RunMode, Setting,
};
pub use contract::{Described, LockFailure, LockMode, LockReport, check_lock, describe};
pub use decide::{AlwaysRetry, FailedJob, Outcome, Policies, RetryPolicy, decide};
pub use events::{Event, EventStream, GroupRef, JobRef};
pub use failure::{ClassifiedError, ErrorClass, Permanent, permanent};
pub use failure::{
    DefaultSanitizer, Directive, ErrorSanitizer, Failure, HandlerError, JobError, Layer,
    PermanentError, RawError, Retryability, fatal, fingerprint, invalid, reject, retry_after,
    snooze,
};
pub use job::{AfterHook, BeforeHook, HookFuture, HookReturn, Hooks, RetryHook, hook};
pub use job::{
    Arg, ArgDef, BreakerDef, Callback, Condition, ConditionDef, CronDef, DecodeError, Decoder,
    EncodeError, Encoder, ErrorMatcher, FanIn, FirstStep, HandedOff, Handler, Inject, InjectError,
    InjectRequirement, Injection, Input, InputDef, InputListRef, InputRef, IntoFailure, Job,
    JobArg, JobDef, KeyConflict, KeyPart, KeyTemplates, Keys, Location, NoOutput, OnFull, Output,
    RunFuture, State, States, StepAfter, TypeTrace, WithoutInputs,
};
pub use job::{
    CallbackJob, ChainError, ConditionInput, Declared, DeclaredAs, DefaultArg, Fallible, JobReturn,
    MayBeShown, MayRefuse, OldArguments, Plain, ReturnsDeclared, TakesHandOff, Upgrade, Upgrades,
    Validate, ViaBox, ViaError, ViaJobError, accepted, arg, checked, declared_argument,
    declared_arguments, declared_output, default_value, evaluate, find_error, implemented,
    injected, input, input_all, key_part, run, run_blocking, same_output, too_old, upgraded,
    validated,
};
pub use job::{
    JobContext, JobOutput, KeepError, RetryReport, RunReport, Secret, TraceMode, TraceRelation,
};
pub use job::{
    JobInvocationResolver, PrepareError, Prepared, Registration, Registry, RegistryError,
};
pub use meter::{Metric, MetricFamily, MetricKind, MetricSeries, MetricValue, Metrics};
pub use ops::{
    ArchiveOverview, ArchivedState, Audit, AuditError, AuditReport, CHECKS, Capability, Check,
    FailureError, FailureGroup, FailureGroups, Failures, Finding, KeyUsage, Overview,
    QueueOverview, Reencrypt, ReencryptError, Reencrypted, Severity, StoredKind, StoredReview,
    Stranded, StrandedReason, VERBS, Verb, WindowOverview,
};
pub use protect::{Encrypt, Sign};
pub use ratchet_keyring::{
    Key, KeyError, KeyFile, KeyId, KeyInfo, KeyProvider, KeyState, Keyring, KeyringError,
    ProviderError, Purpose, Zeroizing,
};
pub use ratchet_store::env::{
    Clock, Entropy, IdSource, OsEntropy, SeededEntropy, Sleep, SystemClock, VirtualClock,
};
pub use ratchet_store::model::{
    Actor, AfterFailure, ArchiveStatus, ArchivedJobs, Backoff, BackoffKind, BreakerSettings,
    BreakerState, BulkVerb, Canary, DeclaredLimits, DeclaredSettings, DeployMark, Due, ErasedRows,
    Erasure, ErasurePhase, ErasureSubject, FailureMark, FailureState, Filter, GroupFilter, GroupId,
    HandOffAdmission, HandOffStats, Histogram, InvalidTraceContext, Jitter, JobId, JobRecord,
    JobState, Judgment, KeyKind, Missed, NodeAction, NodeId, NodeRecord, NodeRequest, OperationId,
    OperationRecord, OperationState, Overlap, PageRequest, PanicPolicy, PipelineRecord, Placement,
    Priority, QueueLimits, Rate, StatCounts, StatsBy, StatsTier, Succession, TraceContext,
};
pub use ratchet_store::rules::{Explanation, Waiting};
pub use ratchet_store::{Store, StoreError, StoreErrorKind};
pub use runtime::{
    AlertSink, CheckResult, DeadLetterSink, DedicatedEngineThread, Health, Middleware, Next,
    OutcomeSink, SingleRuntime, SinkError, Spawn, Task, Tasks, TracePropagator, TracingSink,
};
pub use worker::{
    Completion, EngineDied, EnginePart, HealthServer, StartError, Stopped, Worker, WorkerStats,
};

#[doc(hidden)]
pub mod __private;
