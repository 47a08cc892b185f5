//! [`Stopped`]: why a worker has stopped.

use std::fmt;

use ratchet_store::model::NodeRequest;

use super::run_limits::Completion;

/// A part of the engine.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::{EngineDied, EnginePart};
///
/// fn report(died: &EngineDied) {
///     match died.part {
///         EnginePart::Whole => eprintln!("the runtime has dropped the engine"),
///         part => eprintln!("report this as a bug: the {part} {}", died.cause),
///     }
/// }
/// ```
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
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// # async fn demo(worker: ratchet_core::Worker) -> std::io::Result<()> {
/// use ratchet::runtime::EngineDied;
///
/// if let Err(error) = worker.run_until_signal().await {
///     if let Some(died) = error.get_ref().and_then(|inner| inner.downcast_ref::<EngineDied>()) {
///         eprintln!("the {} has died: {}", died.part, died.cause);
///     }
///     return Err(error); // the supervisor restarts the process
/// }
/// # Ok(())
/// # }
/// ```
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
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::Stopped;
/// use std::process::ExitCode;
///
/// // How a process ends after `worker.stopped().await`.
/// fn exit_code(stopped: &Stopped) -> ExitCode {
///     match stopped {
///         Stopped::Requested | Stopped::ByOperator(_) | Stopped::Completed(_) => ExitCode::SUCCESS,
///         Stopped::Died(_) => ExitCode::FAILURE, // the supervisor restarts the process
///     }
/// }
/// # let _ = exit_code(&Stopped::Requested);
/// ```
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
