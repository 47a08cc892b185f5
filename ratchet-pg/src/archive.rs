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
use crate::fault::{Fault, is_blocked, transact};
use crate::partitions::DropBackoff;
use crate::record::{attempt, job, log, state};
use crate::spec::{instant, micros, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};

/// The longest wait for other transactions that change partitions.
const PARTS_TIMEOUT: &str = "500ms";

/// How often a range is prepared again whose tables are in use, and the pause between two tries.
const PREPARE_TRIES: u32 = 10;
const PREPARE_PAUSE: Duration = Duration::from_millis(150);

/// What became of the oldest range.
enum Moved {
    /// It was archived with this number of jobs.
    Range(u64),
    /// There is no range that is old enough, or another process changes ranges.
    Nothing,
    /// Too many of its jobs must stay.
    TooManyStay,
    /// Other transactions use its tables.
    InUse,
}

impl Inner {
    /// Moves old jobs to the archive: whole partitions until `limit` is reached, then at most `limit` other jobs.
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
            JobState::Succeeded => self.archive_parts(age, limit).await,
            _ => 0,
        };
        // The next partition may be ready as well. Its jobs must not be copied.
        if moved >= u64::from(limit) {
            return Ok(moved);
        }
        let single: Result<i64, Fault> = transact!(self, |db| {
            self.lock_parts(db).await?;
            db::query(self.sql.plan_anew()).execute(&mut *db).await?;
            self.archive_within(db, state, age, limit).await?
        });
        match single {
            Ok(single) => Ok(moved + to_u64(single)),
            Err(fault) if is_blocked(&fault) => {
                tracing::debug!("another process changes the ranges; the next sweep archives more");
                Ok(moved)
            }
            Err(fault) => Err(fault),
        }
    }

    /// Keeps other transactions from changing partitions. Must be the first lock of a transaction: one that changes
    /// partitions takes this lock before it locks tables.
    async fn lock_parts(&self, db: &mut PgConnection) -> Result<(), Fault> {
        db::query(self.sql.set_lock_timeout()).bind(PARTS_TIMEOUT).execute(&mut *db).await?;
        db::query(self.sql.lock_parts()).execute(&mut *db).await?;
        Ok(())
    }

    /// Moves partitions whose succeeded jobs all ended at least `age` ago, until they had at least `limit` jobs. Returns the
    /// number of jobs.
    async fn archive_parts(&self, age: Duration, limit: u32) -> u64 {
        let mut moved = 0;
        while moved < u64::from(limit) && self.drop_backoff.is_over() {
            match self.archive_part(age).await {
                Ok(Moved::Range(jobs)) => {
                    tracing::info!(jobs, "a range of old jobs was archived");
                    moved += jobs;
                }
                Ok(Moved::TooManyStay) => self.drop_backoff.begin(),
                Ok(Moved::Nothing) => break,
                Ok(Moved::InUse) => {
                    tracing::warn!(
                        "a range of old jobs is in use and could not be archived; the next sweep tries again"
                    );
                    break;
                }
                Err(fault) => {
                    let error = StoreError::from(fault);
                    tracing::warn!(%error, "a range of old jobs could not be archived; the next sweep tries again");
                    break;
                }
            }
        }
        moved
    }

    async fn archive_part(&self, age: Duration) -> Result<Moved, Fault> {
        let mut tries = 0;
        let mut remaining = None;
        loop {
            let left: Option<i32> = transact!(self, |db| {
                db::query_scalar(self.sql.prepare_archive_part())
                    .bind(micros(age))
                    .fetch_one(&mut *db)
                    .await?
            })?;
            match left {
                None => return Ok(Moved::Nothing),
                Some(0) => break,
                Some(_) if left == remaining => {
                    tries += 1;
                    if tries >= PREPARE_TRIES {
                        return Ok(Moved::InUse);
                    }
                    tokio::time::sleep(PREPARE_PAUSE).await;
                }
                Some(_) => remaining = left,
            }
        }
        let moved: Option<i64> = transact!(self, |db| {
            db::query_scalar(self.sql.archive_part())
                .bind(micros(age))
                .bind(DropBackoff::MOST_KEPT)
                .fetch_one(&mut *db)
                .await?
        })?;
        Ok(match moved {
            None => Moved::Nothing,
            Some(-1) => Moved::TooManyStay,
            Some(..0) => Moved::InUse,
            Some(jobs) => Moved::Range(to_u64(jobs)),
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
