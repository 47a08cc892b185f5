//! The times at which jobs expire. They are kept in a table of their own, so that jobs that do not expire cost nothing.

use ratchet_store::model::{JobId, JobRecord, NewJob};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::spec::instant;
use crate::store::Inner;

impl Inner {
    /// Records when new jobs expire.
    pub(crate) async fn store_expiries<'a>(
        &self,
        db: &mut PgConnection,
        jobs: impl Iterator<Item = &'a NewJob>,
        now: i64,
    ) -> Result<(), Fault> {
        let expires = |job: &NewJob| Some((job.id, job.spec.expires_at(instant(now), 1)?));
        let expiries = jobs.filter_map(expires).map(|(id, at)| (id.uuid(), at.as_microsecond()));
        self.insert_expiries(db, expiries.collect()).await
    }

    /// Records again when jobs expire that have been reopened. Their rows may have been deleted meanwhile.
    pub(crate) async fn restore_expiries(
        &self,
        db: &mut PgConnection,
        jobs: &[JobRecord],
    ) -> Result<(), Fault> {
        let expires = |job: &JobRecord| Some((job.id.uuid(), job.expires_at()?.as_microsecond()));
        self.insert_expiries(db, jobs.iter().filter_map(expires).collect()).await
    }

    async fn insert_expiries(
        &self,
        db: &mut PgConnection,
        expiries: Vec<(Uuid, i64)>,
    ) -> Result<(), Fault> {
        if !expiries.is_empty() {
            let (jobs, at): (Vec<_>, Vec<_>) = expiries.into_iter().unzip();
            db::query(self.sql.insert_expiry()).bind(jobs).bind(at).execute(db).await?;
        }
        Ok(())
    }

    /// Removes the expiry of a job that was retried manually.
    pub(crate) async fn delete_expiry(
        &self,
        db: &mut PgConnection,
        job: JobId,
    ) -> Result<(), Fault> {
        db::query(self.sql.delete_expiry()).bind(job.uuid()).execute(db).await?;
        Ok(())
    }

    /// Deletes the rows of jobs that ended before they expired. A settlement does not delete them, because most jobs
    /// have none.
    pub(crate) async fn sweep_expiries(&self) -> Result<(), Fault> {
        transact!(repeatable self, |db| {
            let ended: Vec<Uuid> =
                db::query_scalar(self.sql.lock_ended_expiry()).fetch_all(&mut *db).await?;
            if !ended.is_empty() {
                db::query(self.sql.delete_ended_expiry()).bind(ended).execute(&mut *db).await?;
            }
        })
    }
}
