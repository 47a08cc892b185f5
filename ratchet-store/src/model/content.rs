//! The texts of a store that can be encrypted, as they are stored, so that they can be encrypted again.
//!
//! A store knows where they are and does not interpret them. Replacing one is fenced by its present value: a text that has
//! changed since it was read stays as it is.

use super::{JobId, JobSpec};

/// A kind of stored texts. Arguments are not among them: see [`Rewrite::Arguments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ContentPlace {
    /// The outputs, errors and envelopes of jobs.
    Outcome,
    /// The progress messages, checkpoints and warnings of jobs.
    Notes,
    /// The errors and notes of earlier runs.
    Attempt,
    /// Log lines.
    Log,
    /// Rejected items.
    Reject,
    /// Handed-off checkpoints.
    HandOff,
    /// Messages that wait to be published.
    Delivery,
    /// Alerts.
    Alert,
}

impl ContentPlace {
    /// All places.
    pub const ALL: [Self; 8] = [
        Self::Outcome,
        Self::Notes,
        Self::Attempt,
        Self::Log,
        Self::Reject,
        Self::HandOff,
        Self::Delivery,
        Self::Alert,
    ];
}

/// Identifies a row within its place. The rows of a place are ordered by their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentKey {
    /// The job; `None` if the number alone identifies the row.
    pub job: Option<JobId>,
    /// The number of the run, line, item or message; 0 if the job alone identifies the row.
    pub number: i64,
}

/// A row with texts that can be encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentRow {
    /// The key of the row.
    pub key: ContentKey,
    /// The job that wrote the texts.
    pub job: JobId,
    /// The pipeline and the key of a hand-off.
    pub handed: Option<(String, String)>,
    /// The texts in the form of the store. Which of them exist, and what each contains, is known to the store.
    pub texts: Vec<Option<String>>,
}

/// A page of the rows of a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentPage {
    /// The rows that can be read.
    pub rows: Vec<ContentRow>,
    /// The key of the last row, whether it can be read or not; `None` if there are no more rows.
    pub next: Option<ContentKey>,
    /// How many rows of the page cannot be read.
    pub unreadable: u64,
}

impl ContentPage {
    /// Creates a page from the keys of all its rows in order, and from the rows that can be read.
    pub fn new(keys: &[ContentKey], rows: Vec<ContentRow>) -> Self {
        let unreadable = keys.len().saturating_sub(rows.len()) as u64;
        Self { rows, next: keys.last().copied(), unreadable }
    }
}

impl ContentRow {
    /// Creates a row.
    pub fn new(key: ContentKey, job: JobId, texts: Vec<Option<String>>) -> Self {
        Self { key, job, handed: None, texts }
    }

    /// Returns the job that a delivery belongs to: its JSON names it.
    ///
    /// # Errors
    ///
    /// Returns the error of a text that is not the JSON of a delivery.
    pub fn owner(texts: &[Option<String>]) -> Result<JobId, serde_json::Error> {
        #[derive(serde::Deserialize)]
        struct Owned {
            job_id: JobId,
        }
        let text = texts.iter().flatten().next().map_or("", String::as_str);
        serde_json::from_str::<Owned>(text).map(|owned| owned.job_id)
    }
}

/// The replacement of stored content by the same content in another protected form.
#[derive(Debug, Clone, PartialEq)]
pub enum Rewrite {
    /// Replaces the arguments, callbacks and finished parent of a job.
    Arguments {
        /// The job.
        job: JobId,
        /// The payload that the job must have.
        expected: Vec<u8>,
        /// The job as it is to be stored. Only its payload, callbacks and finished parent may differ.
        spec: Box<JobSpec>,
    },
    /// Replaces the texts of a row.
    Texts {
        /// The place.
        place: ContentPlace,
        /// The key of the row.
        key: ContentKey,
        /// The texts that the row must have.
        expected: Vec<Option<String>>,
        /// The new texts.
        texts: Vec<Option<String>>,
    },
}
