//! The meaning of a [`Filter`].

use super::Filter;
use crate::model::JobRecord;

impl Filter {
    /// Returns `true` if the job matches. This is the meaning of a filter, which every store must implement.
    pub fn matches(&self, job: &JobRecord) -> bool {
        self.selects(job) && self.finds(job)
    }

    /// Returns `true` if the filter has conditions on node, attempts, due time, end, error or arguments.
    pub fn needs_records(&self) -> bool {
        self.node.is_some()
            || self.attempts_above.is_some()
            || self.attempts_below.is_some()
            || self.due_after.is_some()
            || self.due_before.is_some()
            || self.finished_after.is_some()
            || self.finished_before.is_some()
            || self.error_type.is_some()
            || self.error_text.is_some()
            || !self.arguments.is_empty()
    }

    /// Returns `true` if the job matches the conditions that a statement can compare with columns.
    pub fn selects(&self, job: &JobRecord) -> bool {
        let spec = &job.spec;
        let envelope = job.envelope.as_ref();
        self.archived.selects(job.archived_at.is_some())
            && (self.states.is_empty() || self.states.contains(&job.state))
            && (self.ids.is_empty() || self.ids.contains(&job.id))
            && (self.queues.is_empty() || self.queues.contains(&spec.queue))
            && (self.names.is_empty() || self.names.contains(&spec.name))
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

    /// Returns `true` if the job matches the other conditions. [`Self::needs_records`] lists them.
    pub fn finds(&self, job: &JobRecord) -> bool {
        let error = job.error.as_ref();
        self.node.is_none_or(|node| job.node == Some(node))
            && self.attempts_above.is_none_or(|attempts| job.attempts > attempts)
            && self.attempts_below.is_none_or(|attempts| job.attempts < attempts)
            && self.due_after.is_none_or(|instant| job.due >= instant)
            && self.due_before.is_none_or(|instant| job.due < instant)
            && self
                .finished_after
                .is_none_or(|instant| job.finished_at.is_some_and(|at| at >= instant))
            && self
                .finished_before
                .is_none_or(|instant| job.finished_at.is_some_and(|at| at < instant))
            && is(self.error_type.as_deref(), error.map(|error| error.error_type.as_str()))
            && self
                .error_text
                .as_deref()
                .is_none_or(|text| error.is_some_and(|error| contains(&error.message, text)))
            && self.arguments.iter().all(|test| test.matches(&job.spec.payload))
    }
}

fn is(wanted: Option<&str>, have: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| have == Some(wanted))
}

fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}
