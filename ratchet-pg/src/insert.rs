//! Inserts jobs: reserves the keys of a batch in a fixed order, plans the batch, then writes it.

mod earlier_try;
mod holders;
mod keys;
mod plan;
mod rows;
mod sequences;

use std::collections::HashSet;
use std::sync::Arc;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{InsertError, Inserted, JobId, NewJob};
use ratchet_store::rules::graph::is_new_member;

pub(crate) use self::earlier_try::{EarlierTry, Witness};
use self::keys::Reserved;
use self::plan::Plan;
pub(crate) use self::plan::{Scoped, business_key};
pub(crate) use self::rows::{Fresh, Ids, Stored};
pub(crate) use self::sequences::graph_of;
use crate::error::{is_notify_full, is_unique_violation};
use crate::fault::{Fault, transact};
use crate::group_commit::Group;
use crate::lost_connection::Retries;
use crate::store::Inner;
use sqlx::PgConnection;

impl Inner {
    pub(crate) async fn insert(
        self: &Arc<Self>,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<Inserted>, Fault> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        self.check_ids(&jobs)?;
        match jobs.iter().all(is_keyless) {
            true if jobs.len() <= Group::MOST_JOBS => self.insert_together(jobs).await,
            true => self.insert_plain(&jobs).await,
            false => self.insert_closely(&jobs).await,
        }
    }

    /// Returns an error if a job has an id from a clock far ahead of the store's clock. Jobs spawned by a run are not
    /// checked, because they would be lost: their node was checked when it joined.
    pub(crate) fn check_ids(&self, jobs: &[NewJob]) -> Result<(), Fault> {
        Ok(self.clock.check("job", jobs.iter().map(|job| job.id.uuid()))?)
    }

    /// Stores jobs without keys in one statement and one commit. If the connection is lost, they are stored again on a
    /// new one, unless the first try was committed.
    pub(crate) async fn store_alone<'a>(
        &self,
        jobs: impl ExactSizeIterator<Item = &'a NewJob> + Clone,
    ) -> Result<Fresh, Fault> {
        let (mut stored, mut retries) = (Stored::standalone(), Retries::new(&self.pool));
        let mut may_be_committed = false;
        loop {
            let mut sent = false;
            let attempt = async {
                let mut db = self.pool.acquire().await?;
                sent = true;
                let fresh = self.store(&mut db, jobs.clone(), stored).await?;
                db.done().await?;
                Ok(fresh)
            };
            let fault = match attempt.await {
                Ok(fresh) => return Ok(fresh),
                Err(fault) => fault,
            };
            match &fault {
                // The commit cannot carry the hint. Workers find the jobs by polling.
                Fault::Database(error) if stored.standalone && is_notify_full(error) => {
                    tracing::warn!(%error, "jobs are stored without a notification");
                    stored = Stored::default();
                    continue;
                }
                Fault::Database(error) if may_be_committed && is_unique_violation(error) => {
                    match self.stored_before(jobs.clone()).await {
                        Ok(Some(fresh)) => return Ok(fresh),
                        Ok(None) => return Err(fault),
                        Err(fault) if retries.repeatable(&fault).await => continue,
                        Err(fault) => return Err(fault),
                    }
                }
                _ => {}
            }
            if !retries.repeatable(&fault).await {
                return Err(fault);
            }
            may_be_committed |= sent;
        }
    }

    /// Returns the hints of jobs that are all stored, or `None` if one of them is not.
    async fn stored_before<'a>(
        &self,
        jobs: impl ExactSizeIterator<Item = &'a NewJob> + Clone,
    ) -> Result<Option<Fresh>, Fault> {
        let mut db = self.pool.acquire().await?;
        let ids: Vec<_> = jobs.clone().map(|job| job.id).collect();
        let stored = self.are_stored(&mut db, &ids).await?;
        let now = self.now(&mut db).await?;
        db.done().await?;
        Ok(stored.then(|| Fresh::of(jobs, now)))
    }

    /// Inserts jobs without keys in one statement.
    pub(crate) async fn insert_plain(&self, jobs: &[NewJob]) -> Result<Vec<Inserted>, Fault> {
        match self.store_alone(jobs.iter()).await {
            Ok(fresh) => {
                self.announce(&fresh);
                Ok(jobs.iter().map(|job| Inserted::Created(job.id)).collect())
            }
            // An id was used before. The slow path finds out which.
            Err(Fault::Database(error)) if is_unique_violation(&error) => {
                self.insert_closely(jobs).await
            }
            Err(fault) => Err(fault),
        }
    }

    async fn insert_closely(&self, jobs: &[NewJob]) -> Result<Vec<Inserted>, Fault> {
        let mut earlier = EarlierTry::default();
        transact!(repeatable self, |db| {
            if !earlier.is_committed(self, db).await? {
                let done = self.insert_within(db, jobs).await;
                let done = done.map(|(answers, fresh)| {
                    let witness = fresh.witness();
                    ((answers, fresh), witness)
                });
                earlier.replace(self, db, done).await?;
            }
        })?;
        let (answers, fresh) = earlier.answer()?;
        self.announce(&fresh);
        Ok(answers)
    }

    /// Inserts jobs within a transaction, all or none.
    pub(crate) async fn insert_within(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
    ) -> Result<(Vec<Inserted>, Fresh), Fault> {
        let (before, reserved) = self.reserve(db, jobs).await?;
        crash_point(CrashPoint::InsertKeys);
        let (plan, answers) = before.plan_all(jobs).map_err(Fault::Insert)?;
        let fresh = self.write_jobs(db, jobs, plan, reserved, Stored::default()).await?;
        Ok((answers, fresh))
    }

    /// Inserts jobs of a graph within a transaction, all or none. Also returns the ids of jobs that already exist and
    /// are therefore not members of the graph.
    pub(crate) async fn insert_members(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        stored: Stored,
    ) -> Result<(Vec<Inserted>, HashSet<JobId>, Fresh), Fault> {
        if stored.ids == Ids::Trusted && jobs.iter().all(is_keyless) {
            let fresh = self.store(db, jobs.iter(), stored).await?;
            let created = jobs.iter().map(|job| Inserted::Created(job.id)).collect();
            return Ok((created, HashSet::new(), fresh));
        }
        let (before, reserved) = self.reserve(db, jobs).await?;
        let (plan, answers) = before.plan_all(jobs).map_err(Fault::Insert)?;
        let mut absent = HashSet::new();
        for (job, answer) in jobs.iter().zip(&answers) {
            if !is_new_member(job, *answer).map_err(Fault::Insert)? {
                absent.insert(job.id);
            }
        }
        let fresh = self.write_jobs(db, jobs, plan, reserved, stored).await?;
        Ok((answers, absent, fresh))
    }

    /// Inserts children within a transaction, at the time of their parent's end. A refused child does not affect the
    /// rest.
    pub(crate) async fn insert_children(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        now: i64,
    ) -> Result<(Vec<Result<Inserted, InsertError>>, Fresh), Fault> {
        let (before, reserved) = self.reserve(db, jobs).await?;
        let mut plan = Plan::default();
        let answers = jobs.iter().map(|job| before.plan_one(job, &mut plan)).collect();
        let stored = Stored { now: Some(now), ..Stored::default() };
        let fresh = self.write_jobs(db, jobs, plan, reserved, stored).await?;
        Ok((answers, fresh))
    }

    /// Assigns the reserved keys and stores the planned jobs.
    async fn write_jobs(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        mut plan: Plan,
        reserved: Reserved,
        stored: Stored,
    ) -> Result<Fresh, Fault> {
        self.assign(db, &mut plan, reserved).await?;
        self.delay_holders(db, &plan).await?;
        let jobs = plan.marked(jobs);
        let jobs = plan.stored(jobs.iter());
        let fresh = self.store(db, jobs.iter().copied(), stored).await?;
        self.extend_sequences(db, &jobs, &plan).await?;
        Ok(fresh)
    }
}

/// Returns whether a job is stored by one statement.
fn is_keyless(job: &NewJob) -> bool {
    job.spec.idempotency_key.is_none()
        && job.spec.business_key.is_none()
        && job.spec.expires.is_none()
        && graph_of(job).is_none()
}
