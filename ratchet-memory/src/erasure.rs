//! Erasures: deletes everything of a tenant or of a correlation id, page by page.

use std::collections::HashSet;

use jiff::Timestamp;
use ratchet_store::model::{
    CommandError, ErasedRows, ErasurePhase, ErasureSubject, GroupRecord, JobId, KeyKind,
    OperationPage, OperationRecord, PurgeKeys,
};
use ratchet_store::rules::{erasure, operation};

use super::keys::idempotency_key;
use super::row::Row;
use super::tables::Tables;

impl Tables {
    /// Runs a page of an erasure.
    pub(super) fn erase(
        &mut self,
        stored: &OperationRecord,
        phase: ErasurePhase,
        jobs: &[JobId],
        now: Timestamp,
    ) -> Result<OperationPage, CommandError> {
        let mut page = OperationPage::default();
        match phase {
            ErasurePhase::Cancel | ErasurePhase::Remove => {
                let mut ended = Vec::new();
                for id in jobs {
                    let Some(job) = self.jobs.get(id).map(|row| row.job.clone()) else { continue };
                    if let Some(command) = operation::command(stored, &job) {
                        operation::add(&mut page, job.id, self.command(command, now))?;
                        page.left += 1;
                    } else if erasure::selects(stored, &job) {
                        ended.push(job);
                    }
                }
                if erasure::removes(stored) {
                    let passed = ended.iter().filter_map(erasure::passed_turn).collect();
                    self.propagate(passed, now);
                    let ids: Vec<_> = ended.iter().map(|job| job.id).collect();
                    let (free, used): (Vec<_>, Vec<_>) = ids
                        .into_iter()
                        .partition(|id| !self.keys.lingers(*id) && !self.is_needed(*id));
                    page.left += used.len() as u64;
                    let removed = self.remove_jobs(&free);
                    page.erased.jobs = removed.len() as u64;
                    self.erase_what_belongs_to(&removed, &mut page.erased);
                } else {
                    page.left = 0;
                }
            }
            ErasurePhase::Archive => {
                let is_own = |row: &Row| erasure::selects(stored, &row.job);
                let own = jobs.iter().filter(|id| self.archive.get(id).is_some_and(is_own));
                let own: Vec<_> = own.copied().collect();
                let removed: Vec<_> = own.iter().filter_map(|id| self.archive.remove(id)).collect();
                page.erased.archived = removed.len() as u64;
                self.erase_what_belongs_to(&removed, &mut page.erased);
            }
            ErasurePhase::Rest => {
                if let Some(subject) = erasure::subject(stored) {
                    page.erased = self.erase_rest(&subject, stored.cutoff);
                    let most = u64::from(erasure::REST);
                    let ErasedRows { groups, keys, hand_offs, deliveries, .. } = page.erased;
                    page.more =
                        groups > 0 || keys >= most || hand_offs >= most || deliveries >= most;
                }
            }
            // Nothing that was deleted remains in memory that is in use.
            _ => {}
        }
        Ok(page)
    }

    /// Deletes the alerts, messages, hand-offs and keys of deleted jobs.
    fn erase_what_belongs_to(&mut self, removed: &[Row], erased: &mut ErasedRows) {
        let ids: HashSet<_> = removed.iter().map(|row| row.job.id).collect();
        for row in removed {
            if let Some(key) = idempotency_key(&row.job.spec) {
                erased.keys += u64::from(self.keys.erase(&key, row.job.id));
            }
            self.items.forget_job(row.job.id);
        }
        let (alerts, deliveries) = self.outbox.erase_jobs(&ids);
        erased.alerts += alerts;
        erased.deliveries += deliveries;
        erased.hand_offs += self.items.erase_hand_offs(u32::MAX, |it| ids.contains(&it.job));
        self.pipelines.erase(|job, from| ids.contains(&job) || ids.contains(&from));
    }

    /// Deletes what remains of jobs that are not stored anymore.
    fn erase_rest(&mut self, subject: &ErasureSubject, cutoff: Timestamp) -> ErasedRows {
        let mut erased = ErasedRows::default();
        let limit = usize::try_from(erasure::REST).unwrap_or(usize::MAX);
        let of_group =
            |group: &GroupRecord| covers_group(subject, group) && group.queued_at < cutoff;
        let groups = self.remove_groups(limit, of_group);
        erased.groups = groups.len() as u64;
        let keys = self.keys_to_erase(subject, &groups, limit);
        for (key, job) in keys {
            erased.keys += u64::from(self.keys.erase(&key, job));
        }
        let mut gone = HashSet::new();
        erased.hand_offs = self.items.erase_hand_offs(erasure::REST, |it| {
            let handed = &it.handed;
            let own = subject.covers(handed.tenant.as_deref(), handed.correlation_id.as_deref());
            let own = own && it.at < cutoff;
            if own {
                gone.insert((handed.pipeline.clone(), handed.key.clone()));
            }
            own
        });
        self.pipelines.erase_keys(&gone);
        let stored = |id: JobId| self.jobs.contains_key(&id) || self.archive.contains_key(&id);
        let own = |tenant: Option<&str>, correlation_id: Option<&str>, job: JobId| {
            subject.covers(tenant, correlation_id) && !stored(job)
        };
        erased.deliveries = self.outbox.erase_rest(limit, own);
        erased
    }

    /// Returns the idempotency keys of a tenant whose jobs and graphs are not stored anymore, or those of these graphs.
    fn keys_to_erase(
        &self,
        subject: &ErasureSubject,
        groups: &[GroupRecord],
        limit: usize,
    ) -> Vec<(super::keys::Scoped, JobId)> {
        let is_stored = |job: JobId| {
            let group = ratchet_store::model::GroupId::from_uuid(job.uuid());
            self.jobs.contains_key(&job)
                || self.archive.contains_key(&job)
                || self.graph.groups.contains_key(&group)
        };
        let roots: HashSet<_> = groups.iter().map(|group| group.id.uuid()).collect();
        let own = |tenant: Option<&str>, job: JobId| match subject.tenant() {
            Some(own) => tenant == Some(own) && !is_stored(job),
            None => roots.contains(&job.uuid()),
        };
        self.keys
            .idempotent()
            .filter(|((tenant, ..), job)| own(tenant.as_deref(), *job))
            .take(limit)
            .collect()
    }

    pub(super) fn erasable(&self, subject: &ErasureSubject, limit: u32) -> ErasedRows {
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let count = |rows: usize| rows.min(most) as u64;
        let groups = self.graph.groups.values().filter(|group| covers_group(subject, group));
        let keys = self.keys.idempotent().filter(|((tenant, ..), _)| {
            subject.tenant().is_some() && tenant.as_deref() == subject.tenant()
        });
        let hand_offs = self.items.hand_offs.values().filter(|it| {
            let handed = &it.hand_off.handed;
            subject.covers(handed.tenant.as_deref(), handed.correlation_id.as_deref())
        });
        let mut erasable = ErasedRows::default();
        erasable.groups = count(groups.count());
        erasable.keys = count(keys.count());
        erasable.hand_offs = count(hand_offs.count());
        erasable.deliveries = count(self.outbox.of_subject(subject));
        erasable
    }

    /// Deletes idempotency keys.
    pub(super) fn purge_keys(&mut self, keys: &PurgeKeys, now: Timestamp) -> u64 {
        let Some(until) = keys.until(now) else { return 0 };
        let first = erasure::first_id(until);
        let limit = usize::try_from(keys.limit).unwrap_or(usize::MAX);
        match &keys.kind {
            KeyKind::Clear { tenant, prefix } => {
                self.keys.purge(tenant.as_ref(), prefix, first, limit)
            }
            KeyKind::Erased => self.keys.purge_erased(first, limit),
            _ => 0,
        }
    }
}

fn covers_group(subject: &ErasureSubject, group: &GroupRecord) -> bool {
    subject.covers(group.tenant.as_deref(), group.correlation_id.as_deref())
}
