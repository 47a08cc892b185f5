//! Migrates the schema when a store is opened.

use std::path::Path;

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::{Row as _, SqliteConnection};

use crate::error::Fault;
use crate::sql;

/// All migrations in order, numbered from one. New ones are appended, and released ones must never change.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_initial.sql"),
    include_str!("../migrations/0002_composition.sql"),
    include_str!("../migrations/0003_outcomes.sql"),
    include_str!("../migrations/0004_unreadable.sql"),
    include_str!("../migrations/0005_declarations.sql"),
    include_str!("../migrations/0006_key_lifetime.sql"),
    include_str!("../migrations/0007_waiting_steps.sql"),
    include_str!("../migrations/0008_expiry.sql"),
    include_str!("../migrations/0009_stats.sql"),
    include_str!("../migrations/0010_audit.sql"),
    include_str!("../migrations/0011_operations.sql"),
    include_str!("../migrations/0012_catalog.sql"),
    include_str!("../migrations/0013_views.sql"),
    include_str!("../migrations/0014_node_requests.sql"),
    include_str!("../migrations/0015_failure_marks.sql"),
    include_str!("../migrations/0016_sequences.sql"),
    include_str!("../migrations/0017_audit_signatures.sql"),
    include_str!("../migrations/0018_successors.sql"),
    include_str!("../migrations/0019_fair_queues.sql"),
    include_str!("../migrations/0020_lanes_by_name.sql"),
    include_str!("../migrations/0021_archive.sql"),
    include_str!("../migrations/0022_pipelines.sql"),
    include_str!("../migrations/0023_declared_nodes.sql"),
    include_str!("../migrations/0024_archived_keys.sql"),
    include_str!("../migrations/0025_key_rates.sql"),
    include_str!("../migrations/0026_erasures.sql"),
    include_str!("../migrations/0027_lists.sql"),
    include_str!("../migrations/0028_compatibility.sql"),
];

/// The oldest version of the schema whose programs can use the newest one.
///
/// A migration that only adds what the programs of earlier versions ignore must leave this number unchanged: they go on, and a
/// rollback to them is possible. Every other migration must set it to its own number, so that they refuse to open the schema.
const OLDEST: i64 = 28;

/// Returns the newest version of the schema that this crate knows.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Migrates the schema to the newest version in one transaction. If several processes do this at once, the first one
/// migrates and the rest find it done. A schema of a later version is left as it is if this program can use it. Returns
/// whether the schema changed.
pub(crate) async fn migrate(
    conn: &mut SqliteConnection,
    path: &Path,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let failed = |error| StoreError::from(Fault::new(path, &error));
    // This also detects at once whether the file can be written.
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *conn).await.map_err(failed)?;
    let done = async {
        let found = apply(conn, now).await.map_err(failed)?;
        can_use(conn, path, found).await?;
        sqlx::query("COMMIT").execute(&mut *conn).await.map_err(failed)?;
        Ok(found < newest())
    };
    let done = done.await;
    if done.is_err() {
        // The first error is reported. If SQLite has already rolled back, this statement fails.
        let _ = sqlx::query("ROLLBACK").execute(&mut *conn).await;
    }
    crash_point(CrashPoint::MigrationCommitted);
    done
}

/// Checks that the schema is at the newest version, for a program that must not migrate.
pub(crate) async fn check(conn: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let found = version(conn).await.map_err(|error| StoreError::from(Fault::new(path, &error)))?;
    let (file, newest) = (path.display(), newest());
    let why = match found {
        Some(found) if found >= newest => return can_use(conn, path, found).await,
        Some(found) => format!("the job database {file} has schema version {found}"),
        None => format!("the job database {file} has no tables of Ratchet"),
    };
    let why = format!(
        "{why}, this program needs version {newest}, and migrations are disabled: migrate with `SqliteOptions::migrate`"
    );
    Err(StoreError::new(StoreErrorKind::Schema, why))
}

/// Returns the statements that migrate the schema of a file, in one transaction, or `None` if nothing is missing. Without a
/// connection, there is no file yet.
pub(crate) async fn script(
    conn: Option<&mut SqliteConnection>,
    path: &Path,
) -> Result<Option<String>, StoreError> {
    let mut found = None;
    if let Some(conn) = conn {
        found = version(conn).await.map_err(|error| StoreError::from(Fault::new(path, &error)))?;
        can_use(conn, path, found.unwrap_or_default()).await?;
    }
    if found.is_some_and(|found| found >= newest()) {
        return Ok(None);
    }
    let text = |statement: &str| statement.trim_end().trim_end_matches(';').to_owned();
    let mut statements = vec!["BEGIN IMMEDIATE".to_owned()];
    if found.is_none() {
        statements.push(text(sql::schema::CREATE_SCHEMA));
    }
    let found = found.unwrap_or_default();
    for (version, migration) in (1_i64..).zip(MIGRATIONS).filter(|(version, _)| *version > found) {
        statements.push(text(migration));
        let recorded = text(sql::schema::INSERT_VERSION).replace("?1", &version.to_string());
        statements.push(recorded.replace("?2", "strftime('%s', 'now') * 1000000"));
    }
    let oldest = text(sql::schema::RECORD_OLDEST).replace("?2", &OLDEST.to_string());
    statements.push(oldest.replace("?1", &newest().to_string()));
    statements.push("COMMIT".to_owned());
    Ok(Some(statements.join(";\n") + ";\n"))
}

fn newer(path: &Path, found: i64) -> StoreError {
    let why = format!(
        "the job database {} has schema version {found}, and this program knows version {}, which cannot use it; \
         update the program, or give it a database of its own",
        path.display(),
        newest()
    );
    StoreError::new(StoreErrorKind::Schema, why)
}

/// Returns an error if the schema is of a later version that this program cannot use.
async fn can_use(conn: &mut SqliteConnection, path: &Path, found: i64) -> Result<(), StoreError> {
    if found <= newest() {
        return Ok(());
    }
    let oldest = sqlx::query_scalar(sql::schema::GET_OLDEST).bind(found).fetch_one(conn).await;
    let oldest: Option<i64> = oldest.map_err(|error| StoreError::from(Fault::new(path, &error)))?;
    if oldest.is_none_or(|oldest| oldest > newest()) {
        return Err(newer(path, found));
    }
    tracing::info!(
        "the job database {} has schema version {found}, which later programs use; this program knows version {} and can use it",
        path.display(),
        newest()
    );
    Ok(())
}

/// Returns the version of the schema, or `None` if there is none.
async fn version(conn: &mut SqliteConnection) -> Result<Option<i64>, sqlx::Error> {
    let there = sqlx::query(sql::schema::FIND_SCHEMA).fetch_optional(&mut *conn).await?.is_some();
    match there {
        true => sqlx::query(sql::schema::GET_VERSION).fetch_one(conn).await?.try_get(0),
        false => Ok(None),
    }
}

/// Applies the missing migrations. Returns the version that was found.
async fn apply(conn: &mut SqliteConnection, now: Timestamp) -> Result<i64, sqlx::Error> {
    let found = match version(conn).await? {
        Some(found) => found,
        None => {
            sqlx::raw_sql(sql::schema::CREATE_SCHEMA).execute(&mut *conn).await?;
            0
        }
    };
    for (version, migration) in (1_i64..).zip(MIGRATIONS) {
        if version > found {
            sqlx::raw_sql(*migration).execute(&mut *conn).await?;
            crash_point(CrashPoint::MigrationApplied);
            sqlx::query(sql::schema::INSERT_VERSION)
                .bind(version)
                .bind(now.as_microsecond())
                .execute(&mut *conn)
                .await?;
            crash_point(CrashPoint::MigrationRecorded);
        }
    }
    if found < newest() {
        let recorded = sqlx::query(sql::schema::RECORD_OLDEST).bind(newest()).bind(OLDEST);
        recorded.execute(conn).await?;
    }
    Ok(found)
}
