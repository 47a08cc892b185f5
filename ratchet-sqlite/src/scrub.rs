//! Overwrites what was deleted from a database file.
//!
//! SQLite does not overwrite deleted rows: they remain in free pages, in the free space of pages and in the log.

use sqlx::{Row as _, SqliteConnection};

/// Rebuilds the database file without free space, moves its log into it, and truncates the log. Writes of other
/// connections wait in the meantime.
///
/// The new content is first written to a temporary file of the size of the database, which is deleted immediately. In
/// memory, it could be too large.
pub(crate) async fn scrub(conn: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("PRAGMA temp_store = FILE").execute(&mut *conn).await?;
    let vacuumed = sqlx::query("VACUUM main").execute(&mut *conn).await;
    let restored = sqlx::query("PRAGMA temp_store = MEMORY").execute(&mut *conn).await;
    vacuumed.and(restored)?;
    let emptied = sqlx::query("PRAGMA main.wal_checkpoint(TRUNCATE)").fetch_one(conn).await?;
    match emptied.try_get::<i64, _>(0)? {
        0 => Ok(()),
        _ => Err(sqlx::Error::Protocol(
            "the write-ahead log could not be emptied, because another connection reads it; the erasure tries again"
                .to_owned(),
        )),
    }
}
