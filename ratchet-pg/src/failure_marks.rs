//! What operators say about groups of failed jobs.

use ratchet_store::model::{FailureMark, MarkFailure};
use ratchet_store::rules;
use sqlx::PgConnection;

use crate::db;
use crate::fault::Fault;
use crate::record::{parsed, text};
use crate::spec::{clean, instant, micros};
use crate::store::Inner;
use crate::unreadable::or_report;

impl Inner {
    pub(crate) async fn failure_marks(&self) -> Result<Vec<FailureMark>, Fault> {
        let rows = db::query(self.sql.list_marks()).fetch_all(&self.pool).await?;
        let mut marks = Vec::with_capacity(rows.len());
        for row in &rows {
            marks.extend(or_report("mark of failures", parsed(row, "mark"))?.flatten());
        }
        Ok(marks)
    }

    /// Returns the mark of a group, which is locked until the commit.
    pub(crate) async fn failure_mark(
        &self,
        db: &mut PgConnection,
        job_name: &str,
        fingerprint: &str,
    ) -> Result<Option<FailureMark>, Fault> {
        let found = db::query(self.sql.lock_mark()).bind(clean(job_name)).bind(clean(fingerprint));
        let Some(row) = found.fetch_optional(db).await? else { return Ok(None) };
        Ok(or_report("mark of failures", parsed(&row, "mark"))?.flatten())
    }

    /// Changes the mark of a group. Returns whether there was anything to change.
    pub(crate) async fn mark_failure_within(
        &self,
        db: &mut PgConnection,
        change: &MarkFailure,
    ) -> Result<bool, Fault> {
        let (name, fingerprint) = (clean(&change.job_name), clean(&change.fingerprint));
        let before = self.failure_mark(db, &name, &fingerprint).await?;
        let now = self.now(&mut *db).await?;
        let Some(mark) = rules::failure::marked(change, instant(now)) else {
            let delete = db::query(self.sql.delete_mark()).bind(name).bind(fingerprint);
            delete.execute(db).await?;
            return Ok(before.is_some());
        };
        let save = db::query(self.sql.upsert_mark()).bind(name).bind(fingerprint).bind(now);
        save.bind(text(&mark).unwrap_or_default()).execute(&mut *db).await?;
        let old = db::query(self.sql.delete_old_marks()).bind(micros(rules::failure::KEPT));
        old.execute(db).await?;
        Ok(true)
    }
}
