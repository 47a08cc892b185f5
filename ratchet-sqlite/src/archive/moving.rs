//! Moves jobs to the archive, and deletes them there.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{AuditNote, Change, ChangeError, ChangeReply, Changed, JobState};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use super::{Archive, Opened};
use crate::SqliteStore;
use crate::session::Session;
use crate::sql;
use crate::value::json;
use crate::verb::{RecordChange, RemoveArchived};

/// A job that was copied: its row in the file of the jobs, and its version.
pub(crate) type Copied = (i64, i64);

impl SqliteStore {
    pub(crate) async fn move_to_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        if !state.is_terminal() {
            return Ok(0);
        }
        let archive = Arc::clone(&self.shared.archive);
        let mut open = archive.open.lock().await;
        let opened = archive.ensure(self, &mut open).await?;
        // What is written to a file that was moved or deleted is lost.
        opened.files.check().map_err(StoreError::from)?;
        let now = self.shared.clock.now();
        let Ok(until) = now.checked_sub(age) else { return Ok(0) };
        let (until, now) = (until.as_microsecond(), now.as_microsecond());
        let copied = archive.copy(opened, state, (until, now), limit).await?;
        opened.files.check().map_err(StoreError::from)?;
        crash_point(CrashPoint::ArchiveCopied);
        let moved = self.remove_archived(RemoveArchived { state, age, limit, copied }).await?;
        sqlx::query(sql::archive::DELETE_MOVED)
            .execute(&mut opened.conn)
            .await
            .map_err(|error| archive.fault(&error))?;
        Ok(moved)
    }

    /// Deletes archived jobs. With a note, it is recorded first, because no commit covers both files.
    pub(crate) async fn delete_archived(
        &self,
        (state, age, limit): (JobState, Duration, u32),
        recorded: Option<(&Change, &AuditNote)>,
    ) -> Result<(u64, Option<u64>), StoreError> {
        let archive = Arc::clone(&self.shared.archive);
        let mut open = archive.open.lock().await;
        if open.is_none() && !archive.path.exists() {
            return Ok((0, None));
        }
        let opened = archive.ensure(self, &mut open).await?;
        let Ok(until) = self.shared.clock.now().checked_sub(age) else { return Ok((0, None)) };
        let fault = |error: sqlx::Error| archive.fault(&error);
        let old = sqlx::query(sql::archive::LIST_OLD)
            .bind(state.code())
            .bind(until.as_microsecond())
            .bind(i64::from(limit));
        let old = old.fetch_all(&mut opened.conn).await.map_err(fault)?;
        let old: Vec<i64> =
            old.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(fault)?;
        if old.is_empty() {
            return Ok((0, None));
        }
        let number = match recorded {
            Some((change, note)) => {
                let reply = ChangeReply::ArchivePurged(old.len() as u64);
                let target = change.target();
                Some(self.record_change(RecordChange { target, note: note.clone(), reply }).await?)
            }
            None => None,
        };
        let deleted = in_transaction(&mut opened.conn, async |conn| forget(conn, &old).await).await;
        deleted.map_err(fault)?;
        Ok((old.len() as u64, number))
    }

    /// Applies [`Change::PurgeArchive`].
    pub(crate) async fn operate_archive(
        &self,
        change: &Change,
        note: Option<&AuditNote>,
    ) -> Result<Changed, ChangeError> {
        let Change::PurgeArchive { state, age, limit } = change else {
            return Ok(Changed::new(ChangeReply::ArchivePurged(0), None));
        };
        let recorded = note.map(|note| (change, note));
        let (jobs, number) = self.delete_archived((*state, *age, *limit), recorded).await?;
        Ok(Changed::new(ChangeReply::ArchivePurged(jobs), number))
    }
}

impl Archive {
    /// Copies the jobs that a purge would delete, and commits.
    async fn copy(
        &self,
        opened: &mut Opened,
        state: JobState,
        (until, now): (i64, i64),
        limit: u32,
    ) -> Result<Vec<Copied>, StoreError> {
        let copied = in_transaction(&mut opened.conn, async |conn| {
            let old = sqlx::query(AssertSqlSafe(sql::archive::list_finished()))
                .bind(state.code())
                .bind(until)
                .bind(i64::from(limit))
                .fetch_all(&mut *conn)
                .await?;
            let copied = old.iter().map(|row| Ok((row.try_get("seq")?, row.try_get("fence")?)));
            let copied: Vec<Copied> = copied.collect::<Result<_, sqlx::Error>>()?;
            if !copied.is_empty() {
                let seqs: Vec<_> = copied.iter().map(|(seq, _)| *seq).collect();
                write_copies(conn, &json(&seqs)?, now).await?;
            }
            Ok(copied)
        });
        copied.await.map_err(|error| self.fault(&error))
    }
}

/// Copies jobs (a list of seq of the file of the jobs).
async fn write_copies(
    conn: &mut SqliteConnection,
    jobs: &str,
    now: i64,
) -> Result<(), sqlx::Error> {
    let earlier = sqlx::query(sql::archive::LIST_COPIES).bind(jobs).fetch_all(&mut *conn).await?;
    let earlier: Vec<i64> = earlier.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    forget(conn, &earlier).await?;
    let columns = sqlx::query(sql::archive::LIST_COLUMNS).fetch_one(&mut *conn).await?;
    let columns: String = columns.try_get(0)?;
    let insert_jobs = sql::archive::insert_jobs(&columns);
    sqlx::query(AssertSqlSafe(insert_jobs)).bind(jobs).execute(&mut *conn).await?;
    for statement in [
        sql::archive::INSERT_TEMPLATES,
        sql::archive::INSERT_ATTEMPTS,
        sql::archive::INSERT_LOG_LINES,
        sql::archive::INSERT_ARCHIVING,
    ] {
        sqlx::query(statement).bind(jobs).execute(&mut *conn).await?;
    }
    let marks = sqlx::query(sql::archive::INSERT_ARCHIVED).bind(jobs).bind(now);
    marks.execute(&mut *conn).await?;
    let copies = sqlx::query(sql::archive::LIST_COPIES).bind(jobs).fetch_all(&mut *conn).await?;
    let copies: Vec<i64> = copies.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let counts = sqlx::query(sql::archive::COUNT_JOBS).bind(json(&copies)?).bind(1_i64);
    counts.execute(conn).await?;
    Ok(())
}

/// Deletes jobs (a list of seq of the archive).
pub(super) async fn forget(conn: &mut SqliteConnection, jobs: &[i64]) -> Result<(), sqlx::Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    let jobs = json(&jobs)?;
    let counts = sqlx::query(sql::archive::COUNT_JOBS).bind(jobs.as_str()).bind(-1_i64);
    counts.execute(&mut *conn).await?;
    for statement in [
        sql::purge::DELETE_ATTEMPTS,
        sql::purge::DELETE_LOG_LINES,
        sql::archive::DELETE_ARCHIVED,
        sql::purge::DELETE_JOBS,
    ] {
        sqlx::query(statement).bind(jobs.as_str()).execute(&mut *conn).await?;
    }
    Ok(())
}

/// Runs statements in a transaction that locks a file only when it is written: `BEGIN IMMEDIATE` would also lock the file of
/// the jobs.
pub(super) async fn in_transaction<T>(
    conn: &mut SqliteConnection,
    run: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    sqlx::query("BEGIN").execute(&mut *conn).await?;
    let done = match run(conn).await {
        Ok(done) => sqlx::query("COMMIT").execute(&mut *conn).await.map(|_| done),
        Err(error) => Err(error),
    };
    if done.is_err() {
        // The first error is reported. If SQLite has already rolled back, this statement fails.
        let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
    }
    done
}

impl Session<'_> {
    /// Deletes jobs whose copies are in the archive. A job that has changed since it was copied stays.
    pub(crate) async fn remove_archived(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
        copied: &[Copied],
    ) -> Result<u64, sqlx::Error> {
        let Ok(until) = self.now.checked_sub(age) else { return Ok(0) };
        let old = sqlx::query(sql::purge::LIST_FINISHED)
            .bind(state.code())
            .bind(until.as_microsecond())
            .bind(i64::from(limit))
            .fetch_all(&mut *self.conn)
            .await?;
        let copied: std::collections::HashSet<_> = copied.iter().copied().collect();
        let mut jobs = Vec::<i64>::with_capacity(old.len());
        for row in &old {
            let seq = row.try_get("seq")?;
            if copied.contains(&(seq, row.try_get("fence")?)) {
                jobs.push(seq);
                self.effects.count(row.try_get("template")?, state, -1);
            }
        }
        if !jobs.is_empty() {
            self.delete_jobs(&jobs).await?;
        }
        self.purge_groups(until, limit).await?;
        crash_point(CrashPoint::ArchiveMoved);
        Ok(jobs.len() as u64)
    }
}
