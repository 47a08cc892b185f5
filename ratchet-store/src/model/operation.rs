//! Bulk operations: changes of many jobs that are stored, and run page by page.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Actor, CommandReply, Due, ErasedRows, Erasure, Filter, JobId, OperationId, Placement};

/// What a bulk operation does with each job.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{BulkVerb, Due, Placement};
/// use std::time::Duration;
///
/// let later = BulkVerb::Reschedule(Due::In(Duration::from_secs(3600)));
/// let elsewhere = BulkVerb::Move(Placement::default().queue("bulk"));
/// assert_eq!(format!("{later}, {elsewhere}"), "reschedule, move");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BulkVerb {
    /// Retries failed jobs.
    Retry,
    /// Cancels jobs that have not ended.
    Cancel,
    /// Pauses pending jobs.
    Pause,
    /// Resumes paused jobs.
    Resume,
    /// Sets a new due time for pending jobs.
    Reschedule(Due),
    /// Moves pending and paused jobs to another queue or priority.
    Move(Placement),
    /// Deletes everything of a tenant or of a correlation id; see [`Erasure`].
    Erase,
}

impl BulkVerb {
    /// Returns the name of the verb, such as `retry`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Reschedule(_) => "reschedule",
            Self::Move(_) => "move",
            Self::Erase => "erase",
        }
    }
}

impl fmt::Display for BulkVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The jobs that a bulk operation changes first, before it waits.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::Canary;
///
/// // Retries 20 jobs. Continues with the rest if at most one of them fails again.
/// let canary = Canary::new(20).max_failed_percent(5);
/// assert_eq!(canary.max_failed_percent, Some(5));
///
/// // Without a percentage, an operator resumes the operation.
/// assert_eq!(Canary::new(20).max_failed_percent, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Canary {
    /// How many jobs are changed before the operation waits.
    pub jobs: u32,
    /// The maximum percentage of these jobs that may fail again. If it is not exceeded when all of them have ended, the
    /// operation continues; otherwise it is paused. Without it, an operator must resume the operation.
    pub max_failed_percent: Option<u8>,
}

impl Canary {
    /// The maximum number of jobs of a canary.
    pub const MAX_JOBS: u32 = 500;

    /// Creates a canary after which an operator must resume the operation. The number of jobs is limited to
    /// 1 ..= [`Self::MAX_JOBS`].
    pub fn new(jobs: u32) -> Self {
        Self { jobs: jobs.clamp(1, Self::MAX_JOBS), max_failed_percent: None }
    }

    /// Continues automatically if at most this percentage of the jobs fails again.
    #[must_use]
    pub fn max_failed_percent(mut self, percent: u8) -> Self {
        self.max_failed_percent = Some(percent.min(100));
        self
    }
}

/// The state of a bulk operation.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{OperationRecord, OperationState};
///
/// fn next_step(operation: &OperationRecord) -> &'static str {
///     match operation.state {
///         state if state.is_ended() => "nothing to do",
///         OperationState::CanaryWaiting => "look at the canary, then resume or abort",
///         OperationState::Paused => "resume or abort",
///         _ => "wait",
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperationState {
    /// The maintenance leader changes jobs page by page.
    Running,
    /// An operator paused it, or too many jobs of its canary failed again.
    Paused,
    /// The jobs of its canary are changed. It waits for their end, or for an operator.
    CanaryWaiting,
    /// Every selected job was visited.
    Finished,
    /// An operator ended it early.
    Aborted,
}

impl OperationState {
    /// Returns `true` if the operation changes no more jobs.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Aborted)
    }

    /// Returns the name of the state, such as `canary_waiting`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::CanaryWaiting => "canary_waiting",
            Self::Finished => "finished",
            Self::Aborted => "aborted",
        }
    }
}

impl fmt::Display for OperationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A bulk operation as it is stored. [`rules::operation::prepare`](crate::rules::operation::prepare) creates one.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::OperationRecord;
///
/// fn show(operation: &OperationRecord) -> String {
///     let OperationRecord { verb, filter, changed, expected, state, .. } = operation;
///     format!("{verb} `{filter}`: {changed} of {expected} jobs, {state}")
/// }
/// # use ratchet_store::model::{BulkVerb, Filter, OperationId};
/// # let id = OperationId::from_uuid(uuid::Uuid::from_u128(7));
/// # let filter = Filter::any().queue("mail");
/// # let mut operation = ratchet_store::rules::operation::prepare(id, BulkVerb::Retry, &filter, jiff::Timestamp::UNIX_EPOCH, None);
/// # (operation.changed, operation.expected) = (200, 512);
/// # assert_eq!(show(&operation), "retry `state:failed queue:mail`: 200 of 512 jobs, running");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OperationRecord {
    /// The id of the operation.
    pub id: OperationId,
    /// What it does with each job.
    pub verb: BulkVerb,
    /// The jobs that it selects. Serialized in its text form.
    #[serde(with = "filter_text")]
    pub filter: Filter,
    /// Only jobs that were submitted before this instant, and did not end at or after it, are changed.
    pub cutoff: Timestamp,
    /// The digest of verb, filter and cut-off, as shown by the preview.
    pub digest: String,
    /// How many jobs the preview counted.
    pub expected: u64,
    /// Whether the preview counted all of them.
    pub exact: bool,
    /// The maximum number of jobs that are changed per second; `None` for as many as possible.
    pub pace: Option<u32>,
    /// The jobs to change first.
    pub canary: Option<Canary>,
    /// Who started it, and why. Without an actor, its pages are not recorded in the audit trail.
    pub actor: Option<Actor>,
    /// The state.
    pub state: OperationState,
    /// Incremented by every change of this record. A page that was prepared for another version changes nothing.
    pub version: u64,
    /// The last job that was visited. Jobs are visited in the order of their ids.
    pub cursor: Option<JobId>,
    /// How many visited jobs were selected.
    pub matched: u64,
    /// How many jobs were changed.
    pub changed: u64,
    /// How many selected jobs could not be changed, for example because another live job holds their business key.
    pub refused: u64,
    /// How many jobs of the canary failed again.
    pub failed: u64,
    /// The jobs of the canary, until it is judged.
    pub canary_jobs: Vec<JobId>,
    /// When the operation was started, by the store's clock.
    pub started_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// The instant up to which the pace is used.
    pub paced_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How far an erasure is; `None` for any other verb.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<Erasure>,
}

mod filter_text {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::model::Filter;

    pub(super) fn serialize<S: Serializer>(filter: &Filter, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(filter)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Filter, D::Error> {
        // The text form contains no relative times.
        Filter::parse(&String::deserialize(from)?, Timestamp::UNIX_EPOCH).map_err(D::Error::custom)
    }
}

/// What an operator does with an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperationControl {
    /// Pauses it after the current page.
    Pause,
    /// Resumes it. After a canary, it continues with the remaining jobs.
    Resume,
    /// Ends it. Jobs that were changed remain changed.
    Abort,
}

impl OperationControl {
    /// Returns the name, such as `pause`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Abort => "abort",
        }
    }
}

/// A change of an operation.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)] // changes are rare and handled one at a time
pub enum OperationUpdate {
    /// Stores a new operation. Repeating it changes nothing.
    Start(OperationRecord),
    /// Applies a decision of an operator.
    Control(OperationId, OperationControl),
    /// Changes the jobs of one page, and moves the cursor, in one commit.
    Page {
        /// The operation.
        id: OperationId,
        /// The version for which the page was prepared. With another version, nothing changes.
        version: u64,
        /// The jobs to visit, in the order of their ids.
        jobs: Vec<JobId>,
        /// Whether no job follows.
        last: bool,
    },
    /// Records how the canary ended.
    Judge {
        /// The operation.
        id: OperationId,
        /// The version for which the canary was judged. With another version, nothing changes.
        version: u64,
        /// How many of its jobs failed again.
        failed: u64,
        /// Whether the operation continues. Otherwise it is paused.
        passed: bool,
    },
}

impl OperationUpdate {
    /// Returns the operation that it changes.
    pub fn id(&self) -> OperationId {
        match self {
            Self::Start(record) => record.id,
            Self::Control(id, _) | Self::Page { id, .. } | Self::Judge { id, .. } => *id,
        }
    }
}

/// The result of an [`OperationUpdate`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OperationReply {
    /// The operation after the update.
    pub operation: OperationRecord,
    /// Whether the update changed it.
    pub applied: bool,
    /// The jobs of the page, if the update was a page.
    pub page: Option<OperationPage>,
}

impl OperationReply {
    /// Creates the reply to an update that was applied or not.
    pub fn new(operation: OperationRecord, applied: bool, page: Option<OperationPage>) -> Self {
        Self { operation, applied, page }
    }
}

/// What a page of an operation did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OperationPage {
    /// The jobs that were changed, each with the reply to its command.
    pub changed: Vec<(JobId, CommandReply)>,
    /// The selected jobs that could not be changed.
    pub refused: Vec<JobId>,
    /// What a page of an erasure deleted.
    pub erased: ErasedRows,
    /// How many jobs of a page of an erasure cannot be deleted yet.
    pub left: u64,
    /// Whether rows without jobs remain for another page.
    pub more: bool,
}

/// Which operations to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OperationFilter {
    /// Only this one.
    pub id: Option<OperationId>,
    /// Only those that have not ended.
    pub active: bool,
}

impl OperationFilter {
    /// Selects one operation.
    pub fn one(id: OperationId) -> Self {
        Self { id: Some(id), active: false }
    }

    /// Selects the operations that have not ended.
    pub fn active() -> Self {
        Self { id: None, active: true }
    }

    /// Returns `true` if the operation matches.
    pub fn matches(&self, operation: &OperationRecord) -> bool {
        self.id.is_none_or(|id| id == operation.id) && (!self.active || !operation.state.is_ended())
    }
}
