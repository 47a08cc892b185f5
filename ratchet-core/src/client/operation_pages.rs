//! Runs bulk operations page by page. The version of an operation fences its pages, so that a leader that was replaced
//! changes nothing.

use ratchet_store::model::{
    BulkVerb, CancelCause, Change, CommandError, ErasurePhase, JobId, JobRecord, OperationFilter,
    OperationPage, OperationRecord, OperationState, OperationUpdate, Page, PageRequest,
    WriteSchedule,
};
use ratchet_store::rules::{erasure, operation};
use ratchet_store::{StoreError, StoreErrorKind};

use super::acting::{Manner, store_error};
use super::erasures::is_of;
use crate::events::Event;
use crate::runtime::Core;

/// The maximum number of operations that run at the same time.
const MOST_ACTIVE: u32 = 100;

/// The maximum number of pages of one operation in one sweep, so that a long operation does not delay other maintenance.
const MOST_PAGES: u32 = 25;

impl Core {
    /// Returns the operations that have not ended, oldest first.
    pub(crate) async fn active_operations(&self) -> Result<Vec<OperationRecord>, StoreError> {
        let mut active = self.store.operations(OperationFilter::active(), MOST_ACTIVE).await?;
        active.reverse();
        Ok(active)
    }

    /// Runs pages of an operation until it must wait. Must be called by the maintenance leader.
    pub(crate) async fn run_operation(
        &self,
        mut operation: OperationRecord,
    ) -> Result<(), StoreError> {
        for _ in 0..MOST_PAGES {
            let next = match operation.state {
                OperationState::Running => self.run_page(&operation).await?,
                OperationState::CanaryWaiting => self.judge_canary(&operation).await?,
                _ => None,
            };
            match next {
                Some(next) => operation = next,
                None => break,
            }
            if erasure::must_wait(&operation) {
                break;
            }
        }
        Ok(())
    }

    /// Runs one page. Returns the operation after it, or `None` if it must wait or has been changed.
    async fn run_page(
        &self,
        current: &OperationRecord,
    ) -> Result<Option<OperationRecord>, StoreError> {
        let limit = operation::allowance(current, self.store.now().await?);
        if limit == 0 {
            return Ok(None);
        }
        let phase = erasure::phase(current);
        let listed = match phase {
            Some(phase) if !phase.visits_jobs() => Page::default(),
            _ => {
                if phase == Some(ErasurePhase::Cancel) && current.cursor.is_none() {
                    self.remove_schedules(current).await?;
                }
                let request = PageRequest { before: current.cursor, limit };
                self.store.list(&operation::listing(current), request).await?
            }
        };
        let page = operation::page(current, &listed);
        self.update_for(current, "operations.page", page).await
    }

    /// Removes the schedules of an erasure before its first page, so that they submit no more jobs.
    async fn remove_schedules(&self, current: &OperationRecord) -> Result<(), StoreError> {
        let Some(subject) = erasure::subject(current) else { return Ok(()) };
        let manner = Manner::of(current.actor.clone());
        for schedule in self.store.schedules().await? {
            if is_of(&schedule, &subject) {
                let write = WriteSchedule {
                    name: schedule.name,
                    replaces: Some(schedule.version),
                    record: None,
                    declarations: None,
                    jobs: Vec::new(),
                    notices: Vec::new(),
                };
                let change = Change::Schedule(write);
                self.operate(&manner, "schedules.remove", change).await.map_err(store_error)?;
            }
        }
        Ok(())
    }

    /// Judges a canary. Returns the operation after that, or `None` if its jobs have not ended.
    async fn judge_canary(
        &self,
        current: &OperationRecord,
    ) -> Result<Option<OperationRecord>, StoreError> {
        if current.canary.is_none_or(|canary| canary.max_failed_percent.is_none()) {
            return Ok(None);
        }
        let mut jobs: Vec<JobRecord> = Vec::new();
        for id in &current.canary_jobs {
            jobs.extend(self.store.get(*id).await?);
        }
        let Some((failed, passed)) = operation::judgment(current, &jobs) else { return Ok(None) };
        let (id, version) = (current.id, current.version);
        let judge = OperationUpdate::Judge { id, version, failed, passed };
        self.update_for(current, "operations.judge", judge).await
    }

    /// Applies an update for the actor of the operation, and publishes what it changed.
    async fn update_for(
        &self,
        current: &OperationRecord,
        verb: &'static str,
        update: OperationUpdate,
    ) -> Result<Option<OperationRecord>, StoreError> {
        let manner = Manner::of(current.actor.clone());
        let reply = match self.update_operation(&manner, verb, update).await {
            Ok(reply) => reply,
            Err(CommandError::Store(error)) => return Err(error),
            // It was deleted in the meantime.
            Err(CommandError::OperationNotFound(_)) => return Ok(None),
            Err(error) => return Err(StoreError::new(StoreErrorKind::Data, error.to_string())),
        };
        if let Some(page) = &reply.page {
            self.publish_page(&current.verb, page);
        }
        Ok(reply.applied.then_some(reply.operation))
    }

    fn publish_page(&self, verb: &BulkVerb, page: &OperationPage) {
        for (job, reply) in &page.changed {
            self.publish_command(reply);
            self.publish_change(verb, *job);
        }
    }

    fn publish_change(&self, verb: &BulkVerb, job: JobId) {
        match verb {
            BulkVerb::Retry => self.events.publish(|| Event::Retried { job }),
            BulkVerb::Cancel | BulkVerb::Erase => {
                let cause = CancelCause::Requested;
                self.meter.canceled(cause);
                self.events.publish(|| Event::Canceled { job, cause });
            }
            BulkVerb::Pause => self.events.publish(|| Event::Paused { job }),
            BulkVerb::Resume => self.events.publish(|| Event::Resumed { job }),
            _ => {}
        }
    }
}
