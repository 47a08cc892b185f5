//! Bulk operations.

use jiff::Timestamp;
use ratchet_store::model::{
    CommandError, JobId, OperationFilter, OperationPage, OperationRecord, OperationReply,
    OperationState, OperationUpdate,
};
use ratchet_store::rules::{erasure, operation};

use super::tables::Tables;

impl Tables {
    pub(super) fn update_operation(
        &mut self,
        update: &OperationUpdate,
        now: Timestamp,
    ) -> Result<OperationReply, CommandError> {
        let stored = self.operations.get(&update.id()).cloned();
        let mut page = None;
        if let OperationUpdate::Page { version, jobs, .. } = update
            && let Some(stored) = &stored
            && operation::is_current(stored, *version, OperationState::Running)
        {
            page = Some(match erasure::phase(stored) {
                Some(phase) => self.erase(stored, phase, jobs, now)?,
                None => self.visit(stored, jobs, now)?,
            });
        }
        let reply = operation::updated(stored, update, page, now)?;
        if let OperationUpdate::Start(_) = update {
            let kept = now.checked_sub(operation::KEPT).unwrap_or(Timestamp::MIN);
            self.operations.retain(|_, old| old.ended_at.is_none_or(|at| at >= kept));
        }
        if reply.applied {
            self.operations.insert(reply.operation.id, reply.operation.clone());
        }
        Ok(reply)
    }

    fn visit(
        &mut self,
        stored: &OperationRecord,
        jobs: &[JobId],
        now: Timestamp,
    ) -> Result<OperationPage, CommandError> {
        let mut page = OperationPage::default();
        for id in jobs {
            let Some(job) = self.jobs.get(id).map(|row| row.job.clone()) else { continue };
            if let Some(command) = operation::command(stored, &job) {
                operation::add(&mut page, job.id, self.command(command, now))?;
            }
        }
        Ok(page)
    }

    pub(super) fn list_operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Vec<OperationRecord> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let newest_first = self.operations.values().rev();
        newest_first.filter(|one| filter.matches(one)).take(limit).cloned().collect()
    }
}
