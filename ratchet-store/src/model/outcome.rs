//! The outcome of a job as it is published to outcome sinks.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{AttemptOutcome, Claimed, Envelope, FailureKind, JobId, NodeId};

/// The kind of a job's outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeKind {
    /// The job returned a value.
    Success,
    /// The last attempt returned an error, or the job was deferred too often.
    Failure,
    /// The last attempt panicked, timed out or crashed its worker.
    Exception,
    /// The job could not be run: its payload cannot be decoded, was refused, or is not allowed.
    Invalid,
    /// The job returned a domain failure as its value. It succeeded, and `output` has the value.
    DomainFailure,
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
            OutcomeKind::DomainFailure => Self::DomainFailure,
        }
    }
}

/// The outcome of a job, as passed to an outcome sink.
///
/// A job that is retried manually after it failed has another outcome in its next generation. `(job_id, run)`
/// identifies and orders the outcomes of a job, so a receiver that has seen a later `run` can drop a redelivered
/// earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobOutcome {
    /// The id of the job.
    pub job_id: JobId,
    /// The name of the job.
    pub job_name: String,
    /// The queue of the job.
    pub queue: String,
    /// The tenant of the job.
    pub tenant: Option<String>,
    /// The correlation id given at submission.
    pub correlation_id: Option<String>,
    /// Stable over all attempts of this generation.
    pub execution_key: String,
    /// Unique per run: `job:step:run`.
    pub transition_key: String,
    /// How the job ended.
    pub kind: OutcomeKind,
    /// The return value as JSON.
    pub output: Option<String>,
    /// For anything but a success or a domain failure: the terminal envelope.
    pub envelope: Option<Box<Envelope>>,
    /// The generation that ended. Starts at 1; incremented by every manual retry.
    pub generation: u32,
    /// The number of the last run, over all generations.
    pub run: u64,
    /// The node of the last run.
    pub node: NodeId,
    /// How long the last run took.
    pub duration: Duration,
    /// The time of the commit, by the store's clock. The store sets it.
    pub at: Timestamp,
}

impl JobOutcome {
    /// Creates the outcome of a successful run. The store sets the time.
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

    /// Creates the outcome of a run that returned a domain failure. The store sets the time.
    pub fn domain_failure(job: &Claimed, output: Option<String>, duration: Duration) -> Self {
        Self { kind: OutcomeKind::DomainFailure, ..Self::success(job, output, duration) }
    }

    /// Creates the outcome of a run that sends the job to the dead-letter queue. The store sets the time.
    pub fn failure(job: &Claimed, envelope: Box<Envelope>, duration: Duration) -> Self {
        Self {
            kind: envelope.failure.kind.into(),
            envelope: Some(envelope),
            ..Self::success(job, None, duration)
        }
    }

    /// Sets the time of the commit.
    #[must_use]
    pub fn with_commit_time(mut self, at: Timestamp) -> Self {
        self.at = at;
        if let Some(envelope) = &mut self.envelope {
            envelope.at = at;
        }
        self
    }
}
