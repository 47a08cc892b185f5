//! [`Stopped`]: why a worker has stopped.

use std::fmt;

use ratchet_store::model::NodeRequest;

use super::run_limits::Completion;

/// A part of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EnginePart {
    /// Claims jobs, starts their runs and settles them.
    ClaimLoop,
    /// Renews the lease of the node.
    Heartbeat,
    /// Rescues orphans, fires schedules, delivers notices and purges old jobs.
    Maintenance,
    /// Detects that no handler thread is free.
    Watchdog,
    /// Runs the health checks of the application.
    HealthChecks,
    /// All parts: the runtime dropped the engine's task.
    Whole,
}

impl fmt::Display for EnginePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClaimLoop => "claim loop",
            Self::Heartbeat => "heartbeat",
            Self::Maintenance => "maintenance",
            Self::Watchdog => "watchdog",
            Self::HealthChecks => "health check loop",
            Self::Whole => "engine",
        })
    }
}

/// The engine of a worker ended unexpectedly. Its running jobs are rescued when its lease has expired. This process
/// claims nothing until a new worker is started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the engine has died: its {part} {cause}; restart the process or start a new worker")]
#[non_exhaustive]
pub struct EngineDied {
    /// The part that ended first.
    pub part: EnginePart,
    /// The panic message, or how else the part ended.
    pub cause: String,
}

/// Why a worker has stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// The worker was stopped with [`Worker::stop`](super::Worker::stop), [`Worker::stop_now`](super::Worker::stop_now)
    /// or a signal.
    Requested,
    /// An operator has stopped the node with [`Nodes::stop`](crate::Nodes::stop). The request says who, when and why.
    ByOperator(NodeRequest),
    /// The worker has stopped by itself, see [`RunMode`](crate::RunMode).
    Completed(Completion),
    /// The engine ended unexpectedly.
    Died(EngineDied),
}
