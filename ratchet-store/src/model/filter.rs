//! Filters and counts of jobs.

mod argument;
mod conditions;
mod matching;
mod page;
mod text;

pub use argument::ArgumentTest;
pub use conditions::FilterError;
pub use page::{Page, PageRequest};
pub use text::CONDITIONS;

use serde::Serialize;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{ArchivedJobs, GroupId, JobId, JobState, NodeId, TerminalReason};

/// Selects jobs. A job must match every condition that is set.
///
/// Conditions without an index are compared with one job after the other, so a page with such a condition is limited; see
/// [`Page::examined`].
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; pub use ratchet_store::model::*; }
/// use ratchet::{Filter, JobState};
///
/// let filter = Filter::any().state(JobState::Failed).queue("mail").tenant("acme").attempts_above(3);
/// assert_eq!(filter.to_string(), "state:failed queue:mail tenant:acme attempts>3");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// The job is in one of these states; empty means any.
    pub states: Vec<JobState>,
    /// The job has one of these ids; empty means any.
    pub ids: Vec<JobId>,
    /// The job is in one of these queues; empty means any.
    pub queues: Vec<String>,
    /// The job has one of these names; empty means any.
    pub names: Vec<String>,
    /// The job has this tag.
    pub tag: Option<String>,
    /// The job belongs to this tenant.
    pub tenant: Option<String>,
    /// The job has this business key.
    pub business_key: Option<String>,
    /// The job has this correlation id.
    pub correlation_id: Option<String>,
    /// The job failed for this reason.
    pub reason: Option<TerminalReason>,
    /// The job failed with this fingerprint.
    pub fingerprint: Option<String>,
    /// The job was submitted before this instant.
    pub queued_before: Option<Timestamp>,
    /// The job was submitted at or after this instant.
    pub queued_after: Option<Timestamp>,
    /// The job is a member of this chain, batch or workflow. Members of nested groups are not included.
    pub group: Option<GroupId>,
    /// The job waits or is paused, and expires at this instant or earlier.
    pub expires_by: Option<Timestamp>,
    /// The latest run of the job was claimed by this node.
    pub node: Option<NodeId>,
    /// More attempts than this have failed in the generation of the job.
    pub attempts_above: Option<u32>,
    /// Fewer attempts than this have failed in the generation of the job.
    pub attempts_below: Option<u32>,
    /// The job is or was due at this instant or later.
    pub due_after: Option<Timestamp>,
    /// The job is or was due before this instant.
    pub due_before: Option<Timestamp>,
    /// The job ended at this instant or later.
    pub finished_after: Option<Timestamp>,
    /// The job ended before this instant.
    pub finished_before: Option<Timestamp>,
    /// The type of the last error of the job, without its path.
    pub error_type: Option<String>,
    /// The message of the last error of the job contains this text. Case is ignored.
    pub error_text: Option<String>,
    /// The arguments of the job pass all of these tests.
    pub arguments: Vec<ArgumentTest>,
    /// Whether archived jobs are selected. By default they are not. Commands never change archived jobs.
    pub archived: ArchivedJobs,
    /// Whether a listing begins with the oldest job. Commands ignore this.
    pub oldest_first: bool,
}

impl Filter {
    /// Selects every job.
    pub fn any() -> Self {
        Self::default()
    }

    /// Selects jobs in this state. If called repeatedly, jobs in any of the states.
    pub fn state(mut self, state: JobState) -> Self {
        self.states.push(state);
        self
    }

    /// Selects this job. If called repeatedly, all of these jobs.
    pub fn id(mut self, id: JobId) -> Self {
        self.ids.push(id);
        self
    }

    /// Selects jobs in this queue. If called repeatedly, jobs in any of the queues.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queues.push(queue.into());
        self
    }

    /// Selects jobs with this name. If called repeatedly, jobs with any of the names.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Selects jobs with this tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Selects jobs of this tenant.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Selects jobs with this business key.
    pub fn business_key(mut self, key: impl Into<String>) -> Self {
        self.business_key = Some(key.into());
        self
    }

    /// Selects jobs with this correlation id.
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.correlation_id = Some(id.into());
        self
    }

    /// Selects jobs that failed for this reason.
    pub fn reason(mut self, reason: TerminalReason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Selects jobs that failed with this fingerprint.
    pub fn fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = Some(fingerprint.into());
        self
    }

    /// Selects jobs submitted before this instant.
    pub fn queued_before(mut self, instant: Timestamp) -> Self {
        self.queued_before = Some(instant);
        self
    }

    /// Selects jobs submitted at or after this instant.
    pub fn queued_after(mut self, instant: Timestamp) -> Self {
        self.queued_after = Some(instant);
        self
    }

    /// Selects the members of a chain, batch or workflow. Members of nested groups are not included.
    pub fn group(mut self, group: GroupId) -> Self {
        self.group = Some(group);
        self
    }

    /// Selects jobs that wait or are paused and expire at this instant or earlier.
    pub fn expires_by(mut self, instant: Timestamp) -> Self {
        self.expires_by = Some(instant);
        self
    }

    /// Selects jobs whose latest run was claimed by this node.
    pub fn node(mut self, node: NodeId) -> Self {
        self.node = Some(node);
        self
    }

    /// Selects jobs of which more attempts than this have failed, in their generation.
    pub fn attempts_above(mut self, attempts: u32) -> Self {
        self.attempts_above = Some(attempts);
        self
    }

    /// Selects jobs of which fewer attempts than this have failed, in their generation.
    pub fn attempts_below(mut self, attempts: u32) -> Self {
        self.attempts_below = Some(attempts);
        self
    }

    /// Selects jobs that are or were due at this instant or later.
    pub fn due_after(mut self, instant: Timestamp) -> Self {
        self.due_after = Some(instant);
        self
    }

    /// Selects jobs that are or were due before this instant.
    pub fn due_before(mut self, instant: Timestamp) -> Self {
        self.due_before = Some(instant);
        self
    }

    /// Selects jobs that ended at this instant or later.
    pub fn finished_after(mut self, instant: Timestamp) -> Self {
        self.finished_after = Some(instant);
        self
    }

    /// Selects jobs that ended before this instant.
    pub fn finished_before(mut self, instant: Timestamp) -> Self {
        self.finished_before = Some(instant);
        self
    }

    /// Selects jobs whose last error has this type, such as `ConnectError`.
    ///
    /// What the runs of a confidential job write is encrypted, so errors of such jobs do not match.
    pub fn error_type(mut self, name: impl Into<String>) -> Self {
        self.error_type = Some(name.into());
        self
    }

    /// Selects jobs with this text in the message of their last error. Case is ignored. Errors of confidential jobs do
    /// not match.
    pub fn error_text(mut self, text: impl Into<String>) -> Self {
        self.error_text = Some(text.into());
        self
    }

    /// Selects jobs whose arguments pass a test. If called repeatedly, jobs whose arguments pass all of them.
    pub fn argument(mut self, test: ArgumentTest) -> Self {
        self.arguments.push(test);
        self
    }

    /// Selects archived jobs too, or no others. Without it, archived jobs are not selected.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_store::model; }
    /// use ratchet::model::{ArchivedJobs, Filter};
    ///
    /// let filter = Filter::any().tenant("acme").archived(ArchivedJobs::Include);
    /// assert_eq!(filter.to_string(), "tenant:acme archived:true");
    /// ```
    pub fn archived(mut self, archived: ArchivedJobs) -> Self {
        self.archived = archived;
        self
    }

    /// Lists the oldest jobs first instead of the newest.
    pub fn oldest_first(mut self) -> Self {
        self.oldest_first = true;
        self
    }
}

/// The number of jobs by queue and state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The counts of each queue, by queue name.
    pub queues: BTreeMap<String, QueueCounts>,
}

/// The number of jobs of a queue by state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct QueueCounts {
    /// The number of jobs in each state; states without jobs are absent.
    pub states: BTreeMap<JobState, u64>,
}

impl Counts {
    /// Returns the number of jobs in this state over all queues.
    pub fn state(&self, state: JobState) -> u64 {
        self.queues.values().filter_map(|queue| queue.states.get(&state)).sum()
    }

    /// Returns the number of jobs in this state in one queue.
    pub fn on(&self, queue: &str, state: JobState) -> u64 {
        self.queues.get(queue).and_then(|queue| queue.states.get(&state)).copied().unwrap_or(0)
    }
}
