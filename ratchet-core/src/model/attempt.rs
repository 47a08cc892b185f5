//! The history of a job: one line per run.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Claimed, FailureRecord, NodeId};

/// One run of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AttemptLine {
    /// The number of the run, over all lives of the job.
    pub run: u64,
    /// The number of the attempt within its life.
    pub attempt: u32,
    /// Which life.
    pub generation: u32,
    /// Who ran it.
    pub node: NodeId,
    /// When it was claimed.
    pub started_at: Timestamp,
    /// When it was settled.
    pub finished_at: Timestamp,
    /// How long it had waited.
    pub queue_wait: Duration,
    /// How long it took, by the worker's monotonic clock.
    pub duration: Duration,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// What went wrong.
    pub error: Option<FailureRecord>,
    /// For a run that was put off: why, in words.
    #[serde(default)]
    pub note: Option<String>,
}

impl AttemptLine {
    /// The line of a run that ended now, with nothing but what its claim and its outcome say.
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
    /// It returned a value.
    Success,
    /// It returned an error.
    Failure,
    /// It panicked, timed out or was lost in the runtime.
    Exception,
    /// It could never have run: undecodable, refused or not allowed.
    Invalid,
    /// The handler asked for more time.
    Snoozed,
    /// The handler could not take it now.
    Rejected,
    /// The breaker of its service was open.
    BreakerOpen,
    /// The worker gave it back when shutting down.
    Released,
    /// Its worker died.
    Crashed,
    /// It was called off while it ran.
    Canceled,
}

/// A line a handler logged through its context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Since the run started.
    pub after: Duration,
    /// How serious.
    pub level: LogLevel,
    /// What.
    pub message: String,
    /// The run that wrote it.
    pub run: u64,
}

/// How serious a line of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For the curious.
    Debug,
    /// Normal.
    Info,
    /// Worth a look.
    Warn,
    /// Something failed.
    Error,
}
