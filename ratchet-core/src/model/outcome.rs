//! The end of a job as it is told outside.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AttemptOutcome, Claimed, Envelope, FailureKind, JobId, NodeId};

/// In which of four ways a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeKind {
    /// It returned a value.
    Success,
    /// It returned an error for the last time, or was put off too often.
    Failure,
    /// It panicked, timed out or killed its worker for the last time.
    Exception,
    /// It could never have run: undecodable, refused or not allowed.
    Invalid,
}

impl From<FailureKind> for OutcomeKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Error | FailureKind::Deferral => Self::Failure,
            FailureKind::Panic | FailureKind::Timeout | FailureKind::Crash => Self::Exception,
            FailureKind::Invalid | FailureKind::Signature => Self::Invalid,
        }
    }
}

impl From<OutcomeKind> for AttemptOutcome {
    fn from(kind: OutcomeKind) -> Self {
        match kind {
            OutcomeKind::Success => Self::Success,
            OutcomeKind::Failure => Self::Failure,
            OutcomeKind::Exception => Self::Exception,
            OutcomeKind::Invalid => Self::Invalid,
        }
    }
}

/// How a job ended: what an [`OutcomeSink`](crate::OutcomeSink) is given.
///
/// A job that is tried again after it had failed ends once more, in its next life. `(job_id, run)` tells its ends apart and
/// in order, so a receiver that has seen a later `run` of a job can drop what comes again of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobOutcome {
    /// The job.
    pub job_id: JobId,
    /// Its name.
    pub job_name: String,
    /// Its queue.
    pub queue: String,
    /// Whose job it was.
    pub tenant: Option<String>,
    /// What it was tied to.
    pub correlation_id: Option<String>,
    /// Stable over all attempts of this life.
    pub execution_key: String,
    /// Unique per run: `job:step:run`.
    pub transition_key: String,
    /// How it ended.
    pub kind: OutcomeKind,
    /// What it returned, as JSON.
    pub output: Option<String>,
    /// For anything but a success: what went wrong.
    pub envelope: Option<Box<Envelope>>,
    /// Which life of the job this ends.
    pub generation: u32,
    /// The number of the last run, over all lives.
    pub run: u64,
    /// The node of the last run.
    pub node: NodeId,
    /// How long the last run took.
    pub duration: Duration,
    /// When, by the store's clock: the store sets it in the commit.
    pub at: Timestamp,
}

impl JobOutcome {
    /// The success of a run; the store will stamp it with its own time.
    pub fn success(job: &Claimed, output: Option<String>, duration: Duration) -> Self {
        let spec = &job.spec;
        Self {
            job_id: job.id(),
            job_name: spec.name.clone(),
            queue: spec.queue.clone(),
            tenant: spec.tenant.clone(),
            correlation_id: spec.correlation_id.clone(),
            execution_key: job.execution_key(),
            transition_key: job.transition_key(),
            kind: OutcomeKind::Success,
            output,
            envelope: None,
            generation: job.generation,
            run: job.run,
            node: job.node,
            duration,
            at: Timestamp::UNIX_EPOCH,
        }
    }

    /// A run after which the job goes to the dead-letter queue; the store will stamp it with its own time.
    pub fn failure(job: &Claimed, envelope: Box<Envelope>, duration: Duration) -> Self {
        Self {
            kind: envelope.failure.kind.into(),
            envelope: Some(envelope),
            ..Self::success(job, None, duration)
        }
    }

    /// Sets the time of the commit.
    #[must_use]
    pub fn stamped(mut self, at: Timestamp) -> Self {
        self.at = at;
        if let Some(envelope) = &mut self.envelope {
            envelope.at = at;
        }
        self
    }
}
