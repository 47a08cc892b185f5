//! A job whose stored row cannot be read.

use super::JobId;
use serde::Serialize;

/// A job whose stored row cannot be read: a column is damaged, or was written by a newer version.
///
/// Such a job is set aside: it is not claimed, and it does not block other jobs.
/// [`Store::unreadable`](crate::Store::unreadable) lists these jobs,
/// [`Store::repair_unreadable`](crate::Store::repair_unreadable) returns one to the queue after its row was
/// repaired, and [`Store::drop_unreadable`](crate::Store::drop_unreadable) deletes one.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{JobId, Unreadable};
///
/// # let id = JobId::from_uuid(uuid::Uuid::from_u128(7));
/// let job = Unreadable::new(id, "checkpoint", "recursion limit exceeded").with_queue("mail");
/// assert_eq!(
///     job.to_string(),
///     format!("job {id} cannot be read: column `checkpoint`: recursion limit exceeded"),
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unreadable {
    /// The id of the job. If the id itself cannot be read, a stable substitute that
    /// [`drop_unreadable`](crate::Store::drop_unreadable) accepts.
    pub id: JobId,
    /// The name of the job, if it can be read.
    pub name: Option<String>,
    /// The queue of the job, if it can be read.
    pub queue: Option<String>,
    /// The column that could not be read.
    pub column: String,
    /// Why it could not be read.
    pub why: String,
}

impl Unreadable {
    /// Creates an entry for a job whose `column` could not be read because of `why`.
    pub fn new(id: JobId, column: impl Into<String>, why: impl Into<String>) -> Self {
        Self { id, name: None, queue: None, column: column.into(), why: why.into() }
    }

    /// Sets the name of the job.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the queue of the job.
    #[must_use]
    pub fn with_queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "job {} cannot be read: column `{}`: {}", self.id, self.column, self.why)
    }
}
