//! Submitting.

use std::time::Duration;

use jiff::Timestamp;

use super::{GroupId, JobId, JobSpec};
use crate::store::StoreError;

/// A job to be inserted.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Its id, made by the client.
    pub id: JobId,
    /// What is to run.
    pub spec: JobSpec,
    /// When.
    pub due: Due,
    /// What to do if another live job holds its business key.
    pub on_taken: OnTaken,
}

impl NewJob {
    /// The group it is to be a member of.
    pub fn owner(&self) -> Option<GroupId> {
        self.spec.step.as_ref().and_then(|step| step.group)
    }
}

/// When a job becomes due. Delays are added to the store's clock, never to the client's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// After this long.
    In(Duration),
    /// At this instant.
    At(Timestamp),
}

impl Due {
    /// The instant, given the store's clock, in microseconds.
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Now => now,
            Self::In(delay) => later(now, delay),
            Self::At(instant) => micros(instant),
        }
    }
}

/// `now + delay` in microseconds, held at the end of time instead of overflowing.
pub(crate) fn later(now: Timestamp, delay: Duration) -> Timestamp {
    micros(now.checked_add(delay).unwrap_or(Timestamp::MAX))
}

/// Cut to what every store can keep, so that a time reads back as it was given.
fn micros(instant: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(instant.as_microsecond()).unwrap_or(instant)
}

/// What a submit does when its business key is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnTaken {
    /// It is refused.
    #[default]
    Refuse,
    /// It answers with the holder instead.
    ReturnHolder,
}

/// What became of one submitted job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is stored.
    Created(JobId),
    /// Its idempotency key was seen before: this is the original, nothing was inserted.
    Duplicate(JobId),
    /// Its business key is held by this job, and the holder was asked for; nothing was inserted.
    Holder(JobId),
}

impl Inserted {
    /// The job that stands for the submit.
    pub fn id(self) -> JobId {
        match self {
            Self::Created(id) | Self::Duplicate(id) | Self::Holder(id) => id,
        }
    }
}

/// A business key that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenKey {
    /// The job that wanted it.
    pub job: JobId,
    /// The key.
    pub key: String,
    /// The job that holds it.
    pub holder: JobId,
}

/// A batch could not be inserted; nothing of it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InsertError {
    /// Live jobs hold these business keys.
    #[error("business keys are taken: {}", list(.0))]
    BusinessKeysTaken(Vec<TakenKey>),
    /// An idempotency key was used before for another job or other arguments.
    #[error(
        "idempotency key `{key}` was used before for another job or other arguments ({original})"
    )]
    IdempotencyMismatch {
        /// The job that was to be inserted; of a graph, the id of its group.
        job: JobId,
        /// The key.
        key: String,
        /// The job that used it first; of a graph, the id of its group.
        original: JobId,
    },
    /// A job of this id exists already.
    #[error("a job with the id {0} exists already")]
    DuplicateId(JobId),
    /// A step of a chain or workflow stands for a job that exists already: others would wait for it in vain.
    #[error(
        "step {job} stands for job {original}, which exists already; a step cannot share its key with another job"
    )]
    StepExists {
        /// The step.
        job: JobId,
        /// The job that has its key.
        original: JobId,
    },
    /// There is no such group to add to.
    #[error("there is no group {0}")]
    GroupNotFound(GroupId),
    /// The group takes no more members.
    #[error("group {0} takes no more members: it is sealed, or was called off")]
    GroupSealed(GroupId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn list(taken: &[TakenKey]) -> String {
    let keys: Vec<_> =
        taken.iter().map(|taken| format!("`{}` by job {}", taken.key, taken.holder)).collect();
    keys.join(", ")
}
