//! The texts that can be encrypted, as they are stored.

use ratchet_store::model::{ContentKey, ContentPage, ContentPlace, ContentRow, JobId, Rewrite};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::db;
use crate::fault::Fault;
use crate::spec::extra;
use crate::sql::Statement;
use crate::store::Inner;
use crate::unreadable::readable;

impl Inner {
    pub(crate) async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, Fault> {
        let Some((list, _)) = self.of_place(place) else { return Ok(ContentPage::default()) };
        let job = after.and_then(|after| after.job).map_or(Uuid::nil(), JobId::uuid);
        let list = db::query(list).bind(job).bind(after.map_or(-1, |after| after.number));
        let rows = list.bind(i64::from(limit)).fetch_all(&self.pool).await?;
        let keys = rows.iter().map(content_key).collect::<Result<Vec<_>, _>>()?;
        Ok(ContentPage::new(&keys, readable("protected text", &rows, content_row)?))
    }

    /// Applies the replacements whose content is as expected. Returns which ones.
    pub(crate) async fn rewrite_within(
        &self,
        db: &mut PgConnection,
        rewrites: &[Rewrite],
    ) -> Result<Vec<bool>, Fault> {
        let mut applied = Vec::with_capacity(rewrites.len());
        for rewrite in rewrites {
            let done = match rewrite {
                Rewrite::Arguments { job, expected, spec } => {
                    // In one row, so that a claim sees either all of the old form or all of the new one.
                    let update = db::query(self.sql.update_content_job())
                        .bind(job.uuid())
                        .bind(expected)
                        .bind(&spec.payload)
                        .bind(extra(spec));
                    let done = update.execute(&mut *db).await?;
                    let carried = db::query(self.sql.update_content_carried())
                        .bind(job.uuid())
                        .bind(expected)
                        .bind(&spec.payload);
                    carried.execute(&mut *db).await?;
                    done
                }
                Rewrite::Texts { place, key, expected, texts } => {
                    let Some((_, update)) = self.of_place(*place) else {
                        applied.push(false);
                        continue;
                    };
                    let update = db::query(update)
                        .bind(key.job.map(JobId::uuid))
                        .bind(key.number)
                        .bind(expected)
                        .bind(texts);
                    update.execute(&mut *db).await?
                }
            };
            applied.push(done.rows_affected() > 0);
        }
        Ok(applied)
    }

    /// Returns the statements that list and update the rows of a place.
    fn of_place(&self, place: ContentPlace) -> Option<(Statement, Statement)> {
        let sql = &self.sql;
        Some(match place {
            ContentPlace::Outcome => (sql.list_content_outcome(), sql.update_content_outcome()),
            ContentPlace::Notes => (sql.list_content_notes(), sql.update_content_notes()),
            ContentPlace::Attempt => (sql.list_content_attempt(), sql.update_content_attempt()),
            ContentPlace::Log => (sql.list_content_log(), sql.update_content_log()),
            ContentPlace::Reject => (sql.list_content_reject(), sql.update_content_reject()),
            ContentPlace::HandOff => (sql.list_content_hand_off(), sql.update_content_hand_off()),
            ContentPlace::Delivery => (sql.list_content_delivery(), sql.update_content_delivery()),
            ContentPlace::Alert => (sql.list_content_alert(), sql.update_content_alert()),
            // `ContentPlace` is not exhaustive.
            _ => return None,
        })
    }
}

fn content_key(row: &PgRow) -> Result<ContentKey, sqlx::Error> {
    let job = row.try_get::<Option<Uuid>, _>("key")?.map(JobId::from_uuid);
    Ok(ContentKey { job, number: row.try_get("number")? })
}

fn content_row(row: &PgRow) -> Result<ContentRow, sqlx::Error> {
    let key = content_key(row)?;
    let texts: Vec<Option<String>> = row.try_get("texts")?;
    let job = match row.try_get::<Option<Uuid>, _>("job")?.map(JobId::from_uuid) {
        Some(job) => job,
        None => ContentRow::owner(&texts).map_err(|error| sqlx::Error::Decode(error.into()))?,
    };
    let mut found = ContentRow::new(key, job, texts);
    let handed: (Option<String>, Option<String>) = (row.try_get("pipeline")?, row.try_get("name")?);
    found.handed = handed.0.zip(handed.1);
    Ok(found)
}
