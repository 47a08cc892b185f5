//! Restores a store that version 0.1.0 has written, with jobs that have not started (`tests/older`).

use std::path::Path;

use sqlx::{Connection as _, PgConnection};

use crate::Problem;
use crate::address::Kind;
use crate::submit::sqlite;

const SQLITE: &str = include_str!("../../older/sqlite-waiting.sql");
const SQLITE_SUBMITS: &str = include_str!("../../older/sqlite-waiting.ids");
const PG: &str = include_str!("../../older/pg-waiting.sql");
const PG_SUBMITS: &str = include_str!("../../older/pg-waiting.ids");

/// Restores the store at an empty address, and writes its submits to the diary.
pub async fn restore(address: &str, diary: &Path) -> Result<(), Problem> {
    let submits = match Kind::of(address) {
        Kind::Sqlite => {
            let mut db = sqlite(address).await?;
            sqlx::raw_sql(SQLITE).execute(&mut db).await?;
            db.close().await?;
            SQLITE_SUBMITS
        }
        Kind::Pg => {
            let mut db = PgConnection::connect(address).await?;
            sqlx::raw_sql(PG).execute(&mut db).await?;
            db.close().await?;
            PG_SUBMITS
        }
    };
    Ok(std::fs::write(diary, submits)?)
}
