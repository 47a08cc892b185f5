//! Pipelines that a job accepts: their declarations, and the admission of hand-offs as jobs.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{JobId, NewJob};

/// What a program declares about a pipeline whose hand-offs one of its jobs accepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptor {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The stored name of the job that accepts its hand-offs.
    pub job: String,
    /// The backlog from which publishers that observe it wait or fail; `None` for no limit.
    pub backlog_limit: Option<u32>,
}

/// A pipeline whose hand-offs a job accepts.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::PipelineRecord;
///
/// fn show(pipeline: &PipelineRecord) -> String {
///     match pipeline.room() {
///         Some(0) => format!("{} is full and has refused {}", pipeline.pipeline, pipeline.refusals),
///         Some(room) => format!("{} has room for {room}", pipeline.pipeline),
///         None => format!("{} has no limit", pipeline.pipeline),
///     }
/// }
/// # let acceptor = ratchet_store::model::Acceptor { pipeline: "index".to_owned(), job: "add".to_owned(), backlog_limit: Some(10) };
/// # let pipeline = |backlog| PipelineRecord::stored(acceptor.clone(), "shop".to_owned(), backlog, 3);
/// # assert_eq!((show(&pipeline(4)), show(&pipeline(12))), ("index has room for 6".to_owned(), "index is full and has refused 3".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PipelineRecord {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The program that accepts its hand-offs.
    pub program: String,
    /// The stored name of the job that accepts them.
    pub job: String,
    /// The backlog from which publishers that observe it wait or fail; `None` for no limit.
    pub backlog_limit: Option<u32>,
    /// The number of hand-offs that wait to be admitted, and of admitted ones whose jobs have not ended.
    pub backlog: u64,
    /// How many hand-offs and runs were refused because the pipeline was full.
    pub refusals: u64,
}

impl PipelineRecord {
    /// Creates a record as it was stored.
    pub fn stored(acceptor: Acceptor, program: String, backlog: u64, refusals: u64) -> Self {
        let Acceptor { pipeline, job, backlog_limit } = acceptor;
        Self { pipeline, program, job, backlog_limit, backlog, refusals }
    }

    /// Returns how many hand-offs fit before the pipeline is full; `None` if it has no limit.
    pub fn room(&self) -> Option<u64> {
        self.backlog_limit.map(|limit| u64::from(limit).saturating_sub(self.backlog))
    }
}

/// A hand-off to admit: its key, and the job to insert for it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAdmission {
    /// The key of the hand-off.
    pub key: String,
    /// The job to insert. It must have neither a business key nor an idempotency key.
    pub job: NewJob,
}

/// A hand-off that was admitted as a job.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::HandOffAdmission;
/// use std::time::Duration;
///
/// fn slow(admissions: &[HandOffAdmission]) -> impl Iterator<Item = &str> {
///     let is_slow = |admission: &&HandOffAdmission| admission.latency() > Duration::from_secs(60);
///     admissions.iter().filter(is_slow).map(|admission| admission.key.as_str())
/// }
/// # let from = ratchet_store::model::JobId::from_uuid(uuid::Uuid::from_u128(7));
/// # let (handed_at, admitted_at) = ("2026-11-17T12:00:00Z".parse().unwrap(), "2026-11-17T12:01:01Z".parse().unwrap());
/// # let admission = HandOffAdmission { pipeline: "index".to_owned(), key: "page-4".to_owned(), from, handed_at, admitted_at };
/// # assert_eq!(slow(&[admission]).collect::<Vec<_>>(), ["page-4"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandOffAdmission {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The key of the hand-off.
    pub key: String,
    /// The job that handed it over.
    pub from: JobId,
    /// When it was handed over.
    pub handed_at: Timestamp,
    /// When its job was inserted.
    pub admitted_at: Timestamp,
}

impl HandOffAdmission {
    /// Returns the time from the hand-off to its admission.
    pub fn latency(&self) -> Duration {
        Duration::try_from(self.admitted_at.duration_since(self.handed_at)).unwrap_or_default()
    }
}
