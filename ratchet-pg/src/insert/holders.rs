//! The holders of business keys, for inserts that coalesce with them.

use std::collections::{BTreeSet, HashMap};

use ratchet_store::model::{Due, JobId, JobRecord, JobState, NewJob};
use ratchet_store::rules::insert::KeyHolder;
use sqlx::PgConnection;

use super::plan::{Plan, Scoped, business_key, coalesces, second_place};
use crate::db;
use crate::fault::{Fault, TRIES};
use crate::settle::PostCommit;
use crate::spec::instant;
use crate::store::Inner;

impl Inner {
    /// Reads the holders of the keys of jobs that coalesce. Those that have not started are locked until the
    /// transaction ends: a claim skips them, so that their runs see what the transaction commits.
    pub(super) async fn read_holders(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        holders: HashMap<Scoped, JobId>,
    ) -> Result<HashMap<Scoped, KeyHolder>, Fault> {
        let keys = jobs.iter().filter(|job| coalesces(job));
        let keys = keys.filter_map(|job| business_key(&job.spec));
        let keys = keys.flat_map(|key| [second_place(&key), key]);
        // In a fixed order, so that two batches do not deadlock.
        let wanted: BTreeSet<_> = keys.filter_map(|key| holders.get(&key).copied()).collect();
        let mut read = HashMap::new();
        for id in wanted {
            if let Some(job) = self.lock_holder(db, id).await? {
                read.insert(id, KeyHolder::read(&job, instant(self.now(&mut *db).await?)));
            }
        }
        let holder = |id| read.get(&id).copied().unwrap_or(KeyHolder::unread(id));
        Ok(holders.into_iter().map(|(key, id)| (key, holder(id))).collect())
    }

    /// Reads a job, and locks it if it has not started. Returns `None` if it does not exist or cannot be read.
    async fn lock_holder(
        &self,
        db: &mut PgConnection,
        id: JobId,
    ) -> Result<Option<JobRecord>, Fault> {
        for _ in 0..TRIES {
            let (mut jobs, unread) = self.read_jobs(db, vec![id.uuid()]).await?;
            self.noted.note(unread);
            let Some(job) = jobs.pop() else { return Ok(None) };
            if !job.is_live() || job.state == JobState::Running {
                return Ok(Some(job));
            }
            let locked = db::query(self.sql.lock_waiting()).bind(id.uuid());
            if locked.fetch_optional(&mut *db).await?.is_some() {
                // Another transaction may have delayed it before the lock.
                let (mut jobs, _) = self.read_jobs(db, vec![id.uuid()]).await?;
                return Ok(jobs.pop());
            }
            // It has moved between the two statements.
        }
        Err(Fault::Conflict)
    }

    /// Gives later due times to the holders of keys, according to the plan.
    pub(super) async fn delay_holders(
        &self,
        db: &mut PgConnection,
        plan: &Plan,
    ) -> Result<(), Fault> {
        for (id, due) in &plan.delayed {
            let (jobs, _) = self.read_jobs(db, vec![id.uuid()]).await?;
            for job in jobs {
                // The job becomes due later, so there is no hint to send.
                let mut post_commit = PostCommit::default();
                let moved = self.reschedule(db, &job, Due::At(*due), &mut post_commit).await?;
                moved.ok_or(Fault::Conflict)?;
            }
        }
        Ok(())
    }
}
