//! What operators say about groups of failed jobs.

use jiff::Timestamp;
use ratchet_store::model::{FailureMark, MarkFailure};
use ratchet_store::rules;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::{or_report, readable};
use crate::value::{json, parse};

fn mark(row: &SqliteRow) -> Result<FailureMark, sqlx::Error> {
    parse(row.try_get("mark")?)
}

impl Session<'_> {
    /// Returns the mark of a group.
    pub(crate) async fn failure_mark(
        &mut self,
        job_name: &str,
        fingerprint: &str,
    ) -> Result<Option<FailureMark>, sqlx::Error> {
        let found = sqlx::query(sql::failure::GET_MARK).bind(job_name).bind(fingerprint);
        let Some(row) = found.fetch_optional(&mut *self.conn).await? else { return Ok(None) };
        or_report("mark of failures", mark(&row))
    }

    /// Changes the mark of a group. Returns whether there was anything to change.
    pub(crate) async fn mark_failure(&mut self, change: &MarkFailure) -> Result<bool, sqlx::Error> {
        let (name, fingerprint) = (change.job_name.as_str(), change.fingerprint.as_str());
        let Some(mark) = rules::failure::marked(change, self.now) else {
            let before = self.failure_mark(name, fingerprint).await?;
            let delete = sqlx::query(sql::failure::DELETE_MARK).bind(name).bind(fingerprint);
            delete.execute(&mut *self.conn).await?;
            return Ok(before.is_some());
        };
        let save = sqlx::query(sql::failure::SAVE_MARK).bind(name).bind(fingerprint);
        let save = save.bind(mark.at.as_microsecond()).bind(json(&mark)?);
        save.execute(&mut *self.conn).await?;
        let old = self.now.checked_sub(rules::failure::KEPT).unwrap_or(Timestamp::MIN);
        let delete = sqlx::query(sql::failure::DELETE_OLD).bind(old.as_microsecond());
        delete.execute(&mut *self.conn).await?;
        Ok(true)
    }
}

impl Look<'_> {
    pub(crate) async fn failure_marks(&mut self) -> Result<Vec<FailureMark>, sqlx::Error> {
        let rows = sqlx::query(sql::failure::LIST_MARKS).fetch_all(&mut *self.conn).await?;
        readable("mark of failures", &rows, mark)
    }
}
