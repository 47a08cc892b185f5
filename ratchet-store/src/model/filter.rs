//! Filters, pages and counts of jobs.

mod text;

pub use text::{CONDITIONS, FilterError};

use serde::Serialize;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{GroupId, JobId, JobRecord, JobState, TerminalReason};

/// Selects jobs. A job must match every condition that is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// The job is in one of these states; empty means any.
    pub states: Vec<JobState>,
    /// The job is in this queue.
    pub queue: Option<String>,
    /// The job has this name.
    pub name: Option<String>,
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

    /// Selects jobs in this queue.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// Selects jobs with this name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
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

    /// Lists the oldest jobs first instead of the newest.
    pub fn oldest_first(mut self) -> Self {
        self.oldest_first = true;
        self
    }

    /// Returns `true` if the job matches. Used by stores that evaluate filters on records.
    pub fn matches(&self, job: &JobRecord) -> bool {
        fn is(wanted: Option<&str>, have: Option<&str>) -> bool {
            wanted.is_none_or(|wanted| have == Some(wanted))
        }
        let spec = &job.spec;
        let envelope = job.envelope.as_ref();
        (self.states.is_empty() || self.states.contains(&job.state))
            && is(self.queue.as_deref(), Some(&spec.queue))
            && is(self.name.as_deref(), Some(&spec.name))
            && self.tag.as_ref().is_none_or(|tag| spec.tags.contains(tag))
            && is(self.tenant.as_deref(), spec.tenant.as_deref())
            && is(self.business_key.as_deref(), spec.business_key.as_deref())
            && is(self.correlation_id.as_deref(), spec.correlation_id.as_deref())
            && self
                .reason
                .is_none_or(|reason| envelope.is_some_and(|envelope| envelope.reason == reason))
            && is(
                self.fingerprint.as_deref(),
                envelope.map(|envelope| envelope.failure.fingerprint.as_str()),
            )
            && self.queued_before.is_none_or(|instant| job.queued_at < instant)
            && self.queued_after.is_none_or(|instant| job.queued_at >= instant)
            && self
                .expires_by
                .is_none_or(|instant| job.cancels_at().is_some_and(|expires| expires <= instant))
            && self.group.is_none_or(|group| {
                spec.step.as_ref().is_some_and(|step| step.group == Some(group))
            })
    }
}

/// A request for one page of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Continue behind this job: the `next` of the previous page. Without it the listing begins with the first page.
    pub before: Option<JobId>,
    /// The maximum number of jobs per page.
    pub limit: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { before: None, limit: 100 }
    }
}

/// One page of a listing, newest jobs first unless the filter says [`oldest_first`](Filter::oldest_first).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Page {
    /// The jobs of the page.
    pub jobs: Vec<JobRecord>,
    /// The `before` of the request for the next page; `None` on the last page.
    pub next: Option<JobId>,
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
