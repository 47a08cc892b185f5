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
        let places: BTreeSet<_> = keys
            .filter_map(|job| business_key(&job.spec))
            .map(|key| (second_place(&key), key))
            .collect();
        // In a fixed order, so that two batches do not deadlock.
        let keys = places.iter().flat_map(|(second, first)| [second, first]);
        let wanted: BTreeSet<_> = keys.filter_map(|key| holders.get(key).copied()).collect();
        let (mut read, mut started) = (HashMap::new(), HashMap::new());
        for id in wanted {
            if let Some(job) = self.lock_holder(db, id).await? {
                let holder = KeyHolder::read(&job, instant(self.now(&mut *db).await?));
                if !holder.has_not_started() {
                    started.insert(id, job.version);
                }
                read.insert(id, holder);
            }
        }
        for (second, first) in places {
            let holds = |key: Scoped| holders.get(&key).map(|id| (key, *id));
            if let (Some(second), Some(first)) = (holds(second), holds(first)) {
                self.check_started(db, [second, first], &started).await?;
            }
        }
        let holder = |id| read.get(&id).copied().unwrap_or(KeyHolder::unread(id));
        Ok(holders.into_iter().map(|(key, id)| (key, holder(id))).collect())
    }

    /// Checks that two jobs that have started hold both places of a key at one moment, because the submit is then refused.
    /// They were read one after the other: the first may have ended before the second was claimed. If one of them has moved
    /// since it was read, the transaction is tried again.
    async fn check_started(
        &self,
        db: &mut PgConnection,
        places: [(Scoped, JobId); 2],
        started: &HashMap<JobId, u64>,
    ) -> Result<(), Fault> {
        if !places.iter().all(|(_, id)| started.contains_key(id)) {
            return Ok(());
        }
        let (ids, keys): (Vec<_>, Vec<_>) =
            places.iter().map(|(key, id)| (id.uuid(), key.clone())).unzip();
        let (jobs, _) = self.read_jobs(db, ids).await?;
        let held: HashMap<_, _> = self.holders(db, keys).await?.into_iter().collect();
        let is_same = |(key, id): &(Scoped, JobId)| {
            let job = jobs.iter().find(|job| job.id == *id);
            held.get(key) == Some(id) && job.map(|job| job.version) == started.get(id).copied()
        };
        if places.iter().all(is_same) { Ok(()) } else { Err(Fault::Conflict) }
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
