//! Items a job set aside, and checkpoints it handed on.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::JobId;

/// An item that a run set aside: what went wrong, and the item itself only if that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewReject {
    /// Which item. A later run of the same job that sets it aside again replaces what was said.
    pub index: u64,
    /// The type of the error, without its path.
    pub error_type: String,
    /// The sanitised message.
    pub message: String,
    /// Equal for errors that look alike.
    pub fingerprint: String,
    /// The item as JSON.
    pub payload: Option<String>,
}

/// An item that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The job that met it.
    pub job: JobId,
    /// The name of that job.
    pub job_name: String,
    /// The run that set it aside.
    pub run: u64,
    /// When that was committed.
    pub at: Timestamp,
    /// What was set aside.
    #[serde(flatten)]
    pub item: NewReject,
}

/// Which rejects. Every condition that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectFilter {
    /// Of this job.
    pub job: Option<JobId>,
    /// Of jobs of this name.
    pub job_name: Option<String>,
    /// With this error type.
    pub error_type: Option<String>,
    /// With this fingerprint.
    pub fingerprint: Option<String>,
}

impl RejectFilter {
    /// Every reject.
    pub fn any() -> Self {
        Self::default()
    }

    /// Rejects of this job.
    pub fn job(mut self, job: JobId) -> Self {
        self.job = Some(job);
        self
    }

    /// Rejects of jobs of this name.
    pub fn job_name(mut self, name: impl Into<String>) -> Self {
        self.job_name = Some(name.into());
        self
    }

    /// Rejects with this error type.
    pub fn error_type(mut self, error_type: impl Into<String>) -> Self {
        self.error_type = Some(error_type.into());
        self
    }

    /// Rejects with this fingerprint.
    pub fn fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = Some(fingerprint.into());
        self
    }

    /// Whether a reject fits.
    pub fn matches(&self, reject: &Reject) -> bool {
        fn is(wanted: Option<&String>, have: &str) -> bool {
            wanted.is_none_or(|wanted| wanted == have)
        }
        self.job.is_none_or(|job| reject.job == job)
            && is(self.job_name.as_ref(), &reject.job_name)
            && is(self.error_type.as_ref(), &reject.item.error_type)
            && is(self.fingerprint.as_ref(), &reject.item.fingerprint)
    }
}

/// Rejects that look alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectGroup {
    /// The name of the jobs that met them.
    pub job_name: String,
    /// The type of the error.
    pub error_type: String,
    /// What they have in common.
    pub fingerprint: String,
    /// How many.
    pub count: u64,
    /// The latest of them.
    pub latest: Timestamp,
}

/// A checkpoint that a job hands to the next pipeline, once per key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewHandOff {
    /// The pipeline that takes over.
    pub pipeline: String,
    /// Tells repeats: a second hand-off of the same key is suppressed and counted.
    pub key: String,
    /// What is handed over.
    pub checkpoint: serde_json::Value,
}

/// A checkpoint that waits to be taken over.
#[derive(Debug, Clone, PartialEq)]
pub struct HandOff {
    /// What was handed over.
    pub handed: NewHandOff,
    /// By which job.
    pub job: JobId,
    /// When that was committed.
    pub at: Timestamp,
    /// How often the same was handed over again.
    pub repeats: u64,
}

/// How a pipeline keeps up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HandOffStats {
    /// How many wait, those that were taken and not finished included.
    pub backlog: u64,
    /// How long the oldest of them has waited.
    pub lag: Duration,
    /// How many were finished.
    pub finished: u64,
    /// How many repeats were suppressed.
    pub repeats: u64,
}

impl HandOffStats {
    /// How a pipeline keeps up.
    pub fn new(backlog: u64, lag: Duration, finished: u64, repeats: u64) -> Self {
        Self { backlog, lag, finished, repeats }
    }
}
