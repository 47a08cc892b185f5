//! The history of a job: one entry per run, and the lines its handlers logged.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Claimed, FailureRecord, NodeId};

/// The history entry of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttemptRecord {
    /// The number of the run, over all generations.
    pub run: u64,
    /// The number of the attempt within its generation.
    pub attempt: u32,
    /// Starts at 1; incremented by every manual retry.
    pub generation: u32,
    /// The node that ran it.
    pub node: NodeId,
    /// When the run was claimed.
    pub started_at: Timestamp,
    /// When the run was settled.
    pub finished_at: Timestamp,
    /// How long the job had waited, from due to claimed.
    pub queue_wait: Duration,
    /// How long the run took, by the worker's monotonic clock.
    pub duration: Duration,
    /// How the run ended.
    pub outcome: AttemptOutcome,
    /// The failure, if the run failed.
    pub error: Option<FailureRecord>,
    /// For a deferred run: the reason as text.
    #[serde(default)]
    pub note: Option<String>,
}

impl AttemptRecord {
    /// Creates the entry of a run that ended at `finished_at`, without a duration, an error or a note.
    pub fn new(claimed: &Claimed, finished_at: Timestamp, outcome: AttemptOutcome) -> Self {
        Self {
            run: claimed.run,
            attempt: claimed.attempt(),
            generation: claimed.generation,
            node: claimed.node,
            started_at: claimed.claimed_at,
            finished_at,
            queue_wait: claimed.queue_wait(),
            duration: Duration::ZERO,
            outcome,
            error: None,
            note: None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttemptOutcome {
    /// The handler returned a value.
    Success,
    /// The handler returned an error.
    Failure,
    /// The handler panicked, timed out or was lost in the runtime.
    Exception,
    /// The job could not be run: its payload cannot be decoded, was refused, or is not allowed.
    Invalid,
    /// The handler requested to run again later.
    Snoozed,
    /// The handler could not accept the work at this time.
    Rejected,
    /// The breaker of the service was open.
    BreakerOpen,
    /// The worker returned the job to the queue at shutdown.
    Released,
    /// The worker died.
    Crashed,
    /// The job was canceled while it ran.
    Canceled,
    /// The handler returned a domain failure as its value. The job succeeded.
    DomainFailure,
}

/// A line that a handler logged through its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// The time since the run started.
    pub after: Duration,
    /// The severity.
    pub level: LogLevel,
    /// The text, without control characters and truncated to [`limits::LOG_LINE`](super::limits::LOG_LINE) bytes.
    pub message: String,
    /// The run that logged it.
    pub run: u64,
}

/// The severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// A problem that does not stop the run.
    Warn,
    /// A failure.
    Error,
}
