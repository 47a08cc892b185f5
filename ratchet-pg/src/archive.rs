//! The archive: a schema beside the schema of the store. Whole ranges of ids are detached and attached there, and single
//! jobs are moved row by row.

use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::model::{
    ArchiveStatus, AttemptRecord, CommandError, JobId, JobRecord, JobState, LogLine,
};
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::partitions::DropBackoff;
use crate::record::{attempt, job, log, state};
use crate::spec::{instant, micros, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};

impl Inner {
    /// Moves old jobs to the archive.
    pub(crate) async fn archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, Fault> {
        if !state.is_terminal() {
            return Ok(0);
        }
        let moved = match state {
            JobState::Succeeded => self.archive_parts(age).await,
            _ => 0,
        };
        let single: i64 = transact!(self, |db| {
            db::query(self.sql.plan_anew()).execute(&mut *db).await?;
            self.archive_within(db, state, age, limit).await?
        })?;
        // Whole partitions do not count against the limit, because moving them is cheap.
        Ok(moved + to_u64(single))
    }

    /// Moves the partitions whose succeeded jobs all ended at least `age` ago. Returns the number of jobs.
    async fn archive_parts(&self, age: Duration) -> u64 {
        let mut moved = 0;
        while self.drop_backoff.is_over() {
            let archived = self.archive_part(age).await;
            match archived {
                Ok(Some(jobs)) if jobs >= 0 => {
                    tracing::info!(jobs, "a range of old jobs was archived");
                    moved += u64::try_from(jobs).unwrap_or(0);
                }
                Ok(Some(_)) => self.drop_backoff.begin(),
                Ok(None) => break,
                // The partition is in use. The next sweep tries again.
                Err(fault) => {
                    let error = StoreError::from(fault);
                    tracing::warn!(%error, "a range of old jobs could not be archived; the next sweep tries again");
                    break;
                }
            }
        }
        moved
    }

    async fn archive_part(&self, age: Duration) -> Result<Option<i64>, Fault> {
        let prepared: bool = transact!(self, |db| {
            db::query_scalar(self.sql.prepare_archive_part())
                .bind(micros(age))
                .fetch_one(&mut *db)
                .await?
        })?;
        if !prepared {
            return Ok(None);
        }
        transact!(self, |db| {
            db::query_scalar(self.sql.archive_part())
                .bind(micros(age))
                .bind(DropBackoff::MOST_KEPT)
                .fetch_one(&mut *db)
                .await?
        })
    }

    pub(crate) async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, Fault> {
        transact!(self, |db| self.purge_archive_within(db, state, age, limit).await?)
    }

    /// Deletes archived jobs: at most one whole partition, and at most `limit` other jobs.
    pub(crate) async fn purge_archive_within(
        &self,
        db: &mut PgConnection,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, Fault> {
        let mut gone = 0;
        if state == JobState::Succeeded {
            let dropped = db::query_scalar(self.sql.drop_archive_part()).bind(micros(age));
            let dropped: Option<i64> = dropped.fetch_one(&mut *db).await?;
            gone += to_u64(dropped.unwrap_or_default());
        }
        let deleted: i64 = db::query_scalar(self.sql.purge_archived_jobs())
            .bind(state.code())
            .bind(micros(age))
            .bind(i64::from(limit))
            .fetch_one(&mut *db)
            .await?;
        Ok(gone + to_u64(deleted))
    }

    pub(crate) async fn archive_status(&self) -> Result<ArchiveStatus, Fault> {
        let mut status = ArchiveStatus::default();
        for row in db::query(self.sql.count_archived()).fetch_all(&self.pool).await? {
            let Some(state) = or_report("count", state(row.try_get("state")?))? else { continue };
            let queue = status.counts.queues.entry(row.try_get("queue")?).or_default();
            queue.states.insert(state, to_u64(row.try_get("n")?));
        }
        for row in db::query(self.sql.select_archive_times()).fetch_all(&self.pool).await? {
            let Some(state) = or_report("time", state(row.try_get("state")?))? else { continue };
            status.oldest.insert(state, instant(row.try_get("oldest")?));
            status.newest.insert(state, instant(row.try_get("newest")?));
        }
        let size = db::query_scalar(self.sql.select_archive_size()).fetch_one(&self.pool);
        status.bytes = Some(to_u64(size.await?));
        status.place = Some(crate::sql::archive_schema(self.sql.schema()));
        Ok(status)
    }

    /// Reads archived jobs, newest first. Jobs that cannot be read are reported and left out: nothing claims them.
    pub(crate) async fn archived_jobs(
        &self,
        db: &mut PgConnection,
        ids: Vec<Uuid>,
    ) -> Result<Vec<JobRecord>, Fault> {
        let rows = db::query(self.sql.select_archived_jobs()).bind(ids).fetch_all(db).await?;
        Ok(readable("archived job", &rows, |row| {
            let mut job = job(row)?;
            job.archived_at = row.try_get::<Option<i64>, _>("archived_at")?.map(instant);
            Ok(job)
        })?)
    }

    pub(crate) async fn archived_job(&self, id: JobId) -> Result<Option<JobRecord>, Fault> {
        let mut db = self.pool.acquire().await?;
        let mut jobs = self.archived_jobs(&mut db, vec![id.uuid()]).await?;
        db.done().await?;
        Ok(jobs.pop())
    }

    pub(crate) async fn archived_attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, Fault> {
        let rows = db::query(self.sql.select_archived_attempts()).bind(id.uuid());
        let rows = rows.fetch_all(&self.pool).await?;
        Ok(readable("attempt", &rows, attempt)?)
    }

    pub(crate) async fn archived_logs(&self, id: JobId) -> Result<Vec<LogLine>, Fault> {
        let rows = db::query(self.sql.select_archived_logs()).bind(id.uuid());
        let rows = rows.fetch_all(&self.pool).await?;
        Ok(readable("log line", &rows, log)?)
    }

    /// Replaces the error about a job that does not exist, if it is archived.
    pub(crate) async fn refused(&self, fault: Fault) -> Fault {
        let job = match &fault {
            Fault::Command(CommandError::NotFound(job)) => *job,
            _ => return fault,
        };
        match self.archived_job(job).await {
            Ok(found) => match found.and_then(|job| job.archived_at) {
                Some(at) => Fault::Command(CommandError::Archived { job, at }),
                None => fault,
            },
            Err(other) => other,
        }
    }
}
