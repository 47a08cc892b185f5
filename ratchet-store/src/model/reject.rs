//! Items that jobs rejected.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::JobId;

/// An item that a run rejected, with its error. The item itself is included only on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewReject {
    /// The index of the item. If a later run of the job rejects the same index, it replaces this entry.
    pub index: u64,
    /// The type of the error, without its path.
    pub error_type: String,
    /// The sanitized message.
    pub message: String,
    /// Equal for similar errors.
    pub fingerprint: String,
    /// The item as JSON, if it was kept.
    pub payload: Option<String>,
}

/// A stored rejected item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// The job that rejected the item.
    pub job: JobId,
    /// The name of that job.
    pub job_name: String,
    /// The run that rejected the item.
    pub run: u64,
    /// The time of the commit.
    pub at: Timestamp,
    /// The item and its error.
    #[serde(flatten)]
    pub item: NewReject,
}

/// Selects rejected items. An item must match every condition that is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectFilter {
    /// The item was rejected by this job.
    pub job: Option<JobId>,
    /// The item was rejected by a job with this name.
    pub job_name: Option<String>,
    /// The error has this type.
    pub error_type: Option<String>,
    /// The error has this fingerprint.
    pub fingerprint: Option<String>,
    /// The item was rejected at this time or later.
    pub since: Option<Timestamp>,
    /// The item was rejected before this time.
    pub before: Option<Timestamp>,
}

impl RejectFilter {
    /// Selects every rejected item.
    pub fn any() -> Self {
        Self::default()
    }

    /// Selects items rejected by this job.
    pub fn job(mut self, job: JobId) -> Self {
        self.job = Some(job);
        self
    }

    /// Selects items rejected by jobs with this name.
    pub fn job_name(mut self, name: impl Into<String>) -> Self {
        self.job_name = Some(name.into());
        self
    }

    /// Selects items with this error type.
    pub fn error_type(mut self, error_type: impl Into<String>) -> Self {
        self.error_type = Some(error_type.into());
        self
    }

    /// Selects items with this fingerprint.
    pub fn fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = Some(fingerprint.into());
        self
    }

    /// Selects items that were rejected at this time or later.
    pub fn since(mut self, since: Timestamp) -> Self {
        self.since = Some(since);
        self
    }

    /// Selects items that were rejected before this time.
    pub fn before(mut self, before: Timestamp) -> Self {
        self.before = Some(before);
        self
    }

    /// Returns `true` if the item matches.
    pub fn matches(&self, reject: &Reject) -> bool {
        fn is(wanted: Option<&String>, have: &str) -> bool {
            wanted.is_none_or(|wanted| wanted == have)
        }
        self.job.is_none_or(|job| reject.job == job)
            && is(self.job_name.as_ref(), &reject.job_name)
            && is(self.error_type.as_ref(), &reject.item.error_type)
            && is(self.fingerprint.as_ref(), &reject.item.fingerprint)
            && self.since.is_none_or(|since| reject.at >= since)
            && self.before.is_none_or(|before| reject.at < before)
    }
}

/// The number of rejected items with the same job name, error type and fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RejectGroup {
    /// The name of the jobs that rejected them.
    pub job_name: String,
    /// The type of the error.
    pub error_type: String,
    /// The fingerprint shared by the errors.
    pub fingerprint: String,
    /// The number of items.
    pub count: u64,
    /// When the oldest of them was committed.
    pub oldest: Timestamp,
    /// When the latest of them was committed.
    pub latest: Timestamp,
}

/// The number of rejected items with the same job name, error type and fingerprint that were rejected in one interval.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RejectCount {
    /// The name of the jobs that rejected them.
    pub job_name: String,
    /// The type of the error.
    pub error_type: String,
    /// The fingerprint shared by the errors.
    pub fingerprint: String,
    /// The number of the interval since 1970, see [`reject_interval`].
    pub interval: i64,
    /// The number of items.
    pub count: u64,
}

/// Returns the number of the interval that contains `at`. Intervals have the same length, and the first one begins in 1970.
///
/// ```
/// use std::time::Duration;
///
/// use ratchet_store::model::reject_interval;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hour = Duration::from_hours(1);
/// assert_eq!(reject_interval("1970-01-01T02:59:59Z".parse()?, hour), 2);
/// assert_eq!(reject_interval("1969-12-31T23:59:59Z".parse()?, hour), -1);
/// # Ok(())
/// # }
/// ```
pub fn reject_interval(at: Timestamp, length: Duration) -> i64 {
    at.as_microsecond().div_euclid(interval_micros(length))
}

/// Returns the length of an interval in microseconds: at least 1, and small enough to be added to a time.
pub fn interval_micros(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX).clamp(1, i64::MAX / 4)
}
