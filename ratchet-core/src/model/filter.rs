//! Finding and counting jobs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{JobId, JobRecord, JobState, TerminalReason};

/// Which jobs. Every condition that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// In one of these states; empty means any.
    pub states: Vec<JobState>,
    /// On this queue.
    pub queue: Option<String>,
    /// Of this name.
    pub name: Option<String>,
    /// With this tag.
    pub tag: Option<String>,
    /// Of this tenant.
    pub tenant: Option<String>,
    /// With this business key.
    pub business_key: Option<String>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// Failed for this reason.
    pub reason: Option<TerminalReason>,
    /// Failed with this fingerprint.
    pub fingerprint: Option<String>,
    /// Submitted before this instant.
    pub queued_before: Option<Timestamp>,
    /// Submitted at or after this instant.
    pub queued_after: Option<Timestamp>,
}

impl Filter {
    /// Every job.
    pub fn any() -> Self {
        Self::default()
    }

    /// Jobs in this state.
    pub fn state(mut self, state: JobState) -> Self {
        self.states.push(state);
        self
    }

    /// Jobs on this queue.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// Jobs of this name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Jobs with this tag.
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tag = Some(tag.into());
        self
    }

    /// Jobs of this tenant.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Jobs with this business key.
    pub fn business_key(mut self, key: impl Into<String>) -> Self {
        self.business_key = Some(key.into());
        self
    }

    /// Jobs with this correlation id.
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.correlation_id = Some(id.into());
        self
    }

    /// Jobs that failed for this reason.
    pub fn reason(mut self, reason: TerminalReason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Jobs that failed with this fingerprint.
    pub fn fingerprint(mut self, fingerprint: impl Into<String>) -> Self {
        self.fingerprint = Some(fingerprint.into());
        self
    }

    /// Jobs submitted before this instant.
    pub fn queued_before(mut self, instant: Timestamp) -> Self {
        self.queued_before = Some(instant);
        self
    }

    /// Jobs submitted at or after this instant.
    pub fn queued_after(mut self, instant: Timestamp) -> Self {
        self.queued_after = Some(instant);
        self
    }

    /// Whether a job fits: the meaning of a filter, for stores that look at records one by one.
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
    }
}

/// A request for one page of a listing, newest jobs first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Only jobs older than this one: the `next` of the page before.
    pub before: Option<JobId>,
    /// How many at most.
    pub limit: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { before: None, limit: 100 }
    }
}

/// One page of a listing, newest jobs first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The jobs.
    pub jobs: Vec<JobRecord>,
    /// Where the next page starts; `None` on the last.
    pub next: Option<JobId>,
}

/// How many jobs there are, by queue and state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By queue.
    pub queues: BTreeMap<String, QueueCounts>,
}

/// How many jobs a queue has, by state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// By state; states without jobs are absent.
    pub states: BTreeMap<JobState, u64>,
}

impl Counts {
    /// Jobs in this state over all queues.
    pub fn state(&self, state: JobState) -> u64 {
        self.queues.values().filter_map(|queue| queue.states.get(&state)).sum()
    }

    /// Jobs in this state on one queue.
    pub fn on(&self, queue: &str, state: JobState) -> u64 {
        self.queues.get(queue).and_then(|queue| queue.states.get(&state)).copied().unwrap_or(0)
    }
}
