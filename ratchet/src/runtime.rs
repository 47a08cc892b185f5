//! Settings of a runtime, and the state of its workers.

pub use ratchet_core::{
    ArchiveFor, BadVariable, BreakerConfig, BuildError, Builder, CheckResult, Completion, Config,
    DepthLimit, EngineDied, EnginePart, EnvError, Health, HealthServer, JobDefaults, PurgeWindow,
    QueueConfig, Retention, RunMode, Setting, Stopped, WorkerStats,
};
