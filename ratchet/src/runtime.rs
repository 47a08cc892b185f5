//! Settings of a runtime, and the state of its workers.

pub use ratchet_core::{
    BreakerConfig, Builder, Config, DepthLimit, EngineDied, EnginePart, QueueConfig, Stopped,
    WorkerStats,
};
