//! The texts that can be encrypted, as they are stored.

use ratchet_store::model::{ContentKey, ContentPage, ContentPlace, ContentRow, Rewrite};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::error::unreadable;
use crate::query::Look;
use crate::session::Session;
use crate::sql::content as statements;
use crate::template::PerJobFields;
use crate::unreadable::readable;
use crate::value::{bytes, job_id};

/// How many columns of texts a row can have.
const COLUMNS: usize = 3;

impl Look<'_> {
    pub(crate) async fn content(
        &mut self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, sqlx::Error> {
        let Some((list, _)) = of_place(place) else { return Ok(ContentPage::default()) };
        let job = after.and_then(|after| after.job).map_or(Vec::new(), |job| bytes(job.uuid()));
        let list = sqlx::query(list).bind(job).bind(after.map_or(-1, |after| after.number));
        let rows = list.bind(i64::from(limit)).fetch_all(&mut *self.conn).await?;
        let keys = rows.iter().map(content_key).collect::<Result<Vec<_>, _>>()?;
        let rows = readable("protected text", &rows, |row| content_row(place, row))?;
        Ok(ContentPage::new(&keys, rows))
    }
}

impl Session<'_> {
    /// Applies the replacements whose content is as expected. Returns which ones.
    pub(crate) async fn rewrite(&mut self, rewrites: &[Rewrite]) -> Result<Vec<bool>, sqlx::Error> {
        let mut applied = Vec::with_capacity(rewrites.len());
        for rewrite in rewrites {
            let done = match rewrite {
                Rewrite::Arguments { job, expected, spec } => {
                    let update = sqlx::query(statements::UPDATE_JOB)
                        .bind(bytes(job.uuid()))
                        .bind(expected)
                        .bind(&spec.payload)
                        .bind(PerJobFields::of(spec)?);
                    update.execute(&mut *self.conn).await?
                }
                Rewrite::Texts { place, key, expected, texts } => {
                    let Some((_, update)) = of_place(*place) else {
                        applied.push(false);
                        continue;
                    };
                    let mut update = sqlx::query(update)
                        .bind(key.job.map(|job| bytes(job.uuid())))
                        .bind(key.number);
                    for texts in [expected, texts] {
                        for column in 0..COLUMNS {
                            update = update.bind(texts.get(column).cloned().flatten());
                        }
                    }
                    update.execute(&mut *self.conn).await?
                }
            };
            applied.push(done.rows_affected() > 0);
        }
        Ok(applied)
    }
}

/// Returns the statements that list and update the rows of a place.
fn of_place(place: ContentPlace) -> Option<(&'static str, &'static str)> {
    Some(match place {
        ContentPlace::Outcome => (statements::LIST_OUTCOME, statements::UPDATE_OUTCOME),
        ContentPlace::Notes => (statements::LIST_NOTES, statements::UPDATE_NOTES),
        ContentPlace::Attempt => (statements::LIST_ATTEMPT, statements::UPDATE_ATTEMPT),
        ContentPlace::Log => (statements::LIST_LOG, statements::UPDATE_LOG),
        ContentPlace::Reject => (statements::LIST_REJECT, statements::UPDATE_REJECT),
        ContentPlace::HandOff => (statements::LIST_HAND_OFF, statements::UPDATE_HAND_OFF),
        ContentPlace::Delivery => (statements::LIST_DELIVERY, statements::UPDATE_DELIVERY),
        ContentPlace::Alert => (statements::LIST_ALERT, statements::UPDATE_ALERT),
        // `ContentPlace` is not exhaustive.
        _ => return None,
    })
}

fn content_key(row: &SqliteRow) -> Result<ContentKey, sqlx::Error> {
    let job = row.try_get::<Option<&[u8]>, _>(0)?.map(job_id).transpose()?;
    Ok(ContentKey { job, number: row.try_get(1)? })
}

fn content_row(place: ContentPlace, row: &SqliteRow) -> Result<ContentRow, sqlx::Error> {
    let key = content_key(row)?;
    let columns = (0..COLUMNS).map(|column| row.try_get(5 + column));
    let texts = columns.collect::<Result<Vec<Option<String>>, _>>()?;
    let job = match row.try_get::<Option<&[u8]>, _>(2)? {
        // The job of a delivery is stored only if its order matters.
        Some(job) if place != ContentPlace::Delivery => job_id(job)?,
        _ => ContentRow::owner(&texts).map_err(unreadable)?,
    };
    let mut found = ContentRow::new(key, job, texts);
    let handed: (Option<String>, Option<String>) = (row.try_get(3)?, row.try_get(4)?);
    found.handed = handed.0.zip(handed.1);
    Ok(found)
}
