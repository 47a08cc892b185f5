//! Jobs that operators have submitted in place of others, with edited arguments.

use jiff::Timestamp;
use ratchet_store::model::{ChangeError, CommandError, Inserted, JobId, NewJob, Succession};
use ratchet_store::rules::successor;
use ratchet_store::{StoreError, StoreErrorKind};

use super::tables::Tables;

impl Tables {
    pub(super) fn succession(&self, id: JobId) -> Succession {
        let mut links = self.successors.iter();
        let original = links.find_map(|(original, other)| (*other == id).then_some(*original));
        Succession::new(original, self.successors.get(&id).copied())
    }

    /// Submits a job in place of one that has ended.
    pub(super) fn submit_successor(
        &mut self,
        original: JobId,
        version: Option<u64>,
        job: NewJob,
        now: Timestamp,
    ) -> Result<JobId, ChangeError> {
        let row = self.jobs.get(&original).ok_or(CommandError::NotFound(original))?;
        successor::check(&row.job, version, self.successors.get(&original).copied())?;
        let id = job.id;
        if self.insert(vec![job], now)? != [Inserted::Created(id)] {
            let why = "a successor must be a new job, without an idempotency key";
            return Err(StoreError::new(StoreErrorKind::Data, why).into());
        }
        self.successors.insert(original, id);
        Ok(id)
    }

    /// Checks that a failed job has no successor, before it is retried.
    pub(super) fn check_successor(&self, id: JobId) -> Result<(), CommandError> {
        successor::check_retry(id, self.successors.get(&id).copied())
    }
}
