//! Purges old jobs.

use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::JobState;
use sqlx::Row as _;

use crate::session::Session;
use crate::sql;
use crate::value::json;

impl Session<'_> {
    pub(crate) async fn purge(
        &mut self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, sqlx::Error> {
        let Ok(until) = self.now.checked_sub(age) else { return Ok(0) };
        if !state.is_terminal() {
            return Ok(0);
        }
        let old = sqlx::query(sql::purge::LIST_FINISHED)
            .bind(state.code())
            .bind(until.as_microsecond())
            .bind(i64::from(limit))
            .fetch_all(&mut *self.conn)
            .await?;
        if old.is_empty() {
            self.purge_groups(until, limit).await?;
            return Ok(0);
        }
        let mut jobs = Vec::<i64>::with_capacity(old.len());
        for row in &old {
            jobs.push(row.try_get(0)?);
            self.effects.count(row.try_get(2)?, state, -1);
        }
        self.delete_jobs(&jobs).await?;
        self.purge_groups(until, limit).await?;
        crash_point(CrashPoint::PurgeRemoved);
        Ok(old.len() as u64)
    }

    /// Deletes jobs with their attempts, log lines, edges and rejects.
    pub(crate) async fn delete_jobs(&mut self, jobs: &[i64]) -> Result<(), sqlx::Error> {
        let jobs = json(&jobs)?;
        for statement in [
            sql::purge::DELETE_ATTEMPTS,
            sql::purge::DELETE_LOG_LINES,
            sql::graph::DELETE_EDGES,
            sql::graph::FORGET_SEQUENCES,
            sql::items::DELETE_REJECTS,
            sql::successor::FORGET_ORIGINALS,
            sql::unreadable::FORGET,
            sql::purge::DELETE_JOBS,
        ] {
            sqlx::query(statement).bind(jobs.as_str()).execute(&mut *self.conn).await?;
        }
        Ok(())
    }
}
