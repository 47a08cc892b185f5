//! Changes of operators, and the audit trail.

use jiff::Timestamp;
use ratchet_store::model::{
    AuditFilter, AuditHead, AuditNote, AuditRecord, BreakerRecord, Change, ChangeError,
    ChangeReply, Changed, MarkFailure, QueueRules, Target,
};
use ratchet_store::rules::{audit, failure};

use super::tables::Tables;

impl Tables {
    pub(super) fn operate(
        &mut self,
        change: Change,
        note: Option<AuditNote>,
        now: Timestamp,
    ) -> Result<Changed, ChangeError> {
        let target = change.target();
        let before = self.audited(&target, now);
        let reply = match change {
            Change::Command { command, version } => {
                if let Target::Job(id) = &target
                    && let Some(row) = self.jobs.get(id)
                {
                    audit::check_version(&row.job, version)?;
                }
                ChangeReply::Command(self.command(command, now)?)
            }
            Change::Queue { queue, update } => {
                ChangeReply::Queue(self.update_queue(&queue, update, now))
            }
            Change::Breaker { service, update } => {
                ChangeReply::Breaker(self.update_breaker(&service, update, now))
            }
            Change::Schedule(write) => ChangeReply::Schedule(self.write_schedule(write, now)),
            Change::Submit(jobs) => ChangeReply::Submitted(self.insert(jobs, now)?),
            Change::Successor { original, version, successor } => {
                ChangeReply::Successor(self.submit_successor(original, version, *successor, now)?)
            }
            // The rows of this store can always be read.
            Change::RepairUnreadable(_) | Change::DropUnreadable(_) => {
                ChangeReply::Unreadable(false)
            }
            Change::ForgetRejects(rejects) => {
                self.items.forget(&rejects);
                ChangeReply::Forgotten
            }
            Change::PurgeArchive { state, age, limit } => {
                ChangeReply::ArchivePurged(self.purge_archive(state, age, limit, now))
            }
            Change::PurgeKeys(keys) => ChangeReply::KeysPurged(self.purge_keys(&keys, now)),
            Change::Reveal(_) => ChangeReply::Revealed,
            Change::Operation(update) => {
                ChangeReply::Operation(Box::new(self.update_operation(&update, now)?))
            }
            Change::Reprotect(rewrites) => {
                ChangeReply::Reprotected(rewrites.into_iter().map(|it| self.rewrite(it)).collect())
            }
            Change::Failure(mark) => ChangeReply::Failure(self.mark_failure(&mark, now)),
            Change::Node { node, update, actor } => {
                ChangeReply::Node(self.nodes.update(node, update, actor.as_ref(), now))
            }
        };
        let after = audit::of_reply(&reply).or_else(|| self.audited(&target, now));
        let Some(note) = note.filter(|_| audit::is_recorded(&reply, &before, &after)) else {
            return Ok(Changed::new(reply, None));
        };
        let entry = audit::entry(self.audit_head(), now, &note, &target, before, after);
        let number = entry.number;
        self.audit.push(entry);
        Ok(Changed::new(reply, Some(number)))
    }

    /// Returns what the audit trail says about the present state of a target.
    fn audited(&self, target: &Target, now: Timestamp) -> Option<String> {
        match target {
            Target::Job(id) => self.jobs.get(id).map(|row| audit::of_job(&row.job)),
            Target::Group(id) => self.graph.groups.get(id).map(audit::of_group),
            Target::Queue(queue) => {
                let none = QueueRules::default();
                Some(audit::of_queue(self.gates.queues.get(queue).unwrap_or(&none)))
            }
            Target::Breaker(service) => self.gates.breakers.get(service).map(|breaker| {
                audit::of_breaker(&BreakerRecord {
                    service: service.clone(),
                    breaker: breaker.clone(),
                    state: breaker.state(now),
                })
            }),
            Target::Schedule(name) => self.schedules.get(name).map(audit::of_schedule),
            Target::Operation(id) => self.operations.get(id).map(audit::of_operation),
            Target::Failure { job_name, fingerprint } => {
                let key = (job_name.clone(), fingerprint.clone());
                Some(audit::of_failure(self.failure_marks.get(&key)))
            }
            Target::Node(id) => {
                let live = self.nodes.request(*id, now)?;
                Some(audit::of_node(live.request.as_ref()))
            }
            _ => None,
        }
    }

    /// Changes the mark of a group of failed jobs. Returns whether there was anything to change.
    fn mark_failure(&mut self, change: &MarkFailure, now: Timestamp) -> bool {
        let key = (change.job_name.clone(), change.fingerprint.clone());
        match failure::marked(change, now) {
            Some(mark) => {
                self.failure_marks.insert(key, mark);
                let kept = now.checked_sub(failure::KEPT).unwrap_or(Timestamp::MIN);
                self.failure_marks.retain(|_, mark| mark.at >= kept);
                true
            }
            None => self.failure_marks.remove(&key).is_some(),
        }
    }

    pub(super) fn audit_head(&self) -> AuditHead {
        self.audit
            .last()
            .map(|entry| AuditHead { number: entry.number, hash: entry.hash })
            .unwrap_or_default()
    }

    pub(super) fn list_audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Vec<AuditRecord> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let fits = |entry: &&AuditRecord| {
            let after = |from| if oldest_first { entry.number > from } else { entry.number < from };
            from.is_none_or(after) && filter.matches(entry)
        };
        let entries = self.audit.iter();
        if oldest_first {
            entries.filter(fits).take(limit).cloned().collect()
        } else {
            entries.rev().filter(fits).take(limit).cloned().collect()
        }
    }
}
