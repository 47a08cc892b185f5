//! Settings of a runtime, and the state of its workers.

pub use ratchet_core::{
    BadVariable, BreakerConfig, BuildError, Builder, CheckResult, Completion, Config, DepthLimit,
    EngineDied, EnginePart, EnvError, Health, HealthServer, JobDefaults, QueueConfig, RunMode,
    Setting, Stopped, WorkerStats,
};
