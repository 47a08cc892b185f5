//! Migrates the schema when a store is opened.

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::{StoreError, StoreErrorKind};

use crate::db;
use crate::error::store_error;
use crate::pool::Pool;
use crate::sql::{Sql, Statement};
use sqlx::PgConnection;

/// All migrations in order. A released migration must never change.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001_schema.sql"),
    include_str!("../migrations/0002_partitions.sql"),
    include_str!("../migrations/0003_enqueue.sql"),
    include_str!("../migrations/0004_composition.sql"),
    include_str!("../migrations/0005_outcomes.sql"),
    include_str!("../migrations/0006_carried.sql"),
    include_str!("../migrations/0007_company.sql"),
    include_str!("../migrations/0008_races.sql"),
    include_str!("../migrations/0009_unreadable.sql"),
    include_str!("../migrations/0010_declarations.sql"),
    include_str!("../migrations/0011_canonical_digest.sql"),
    include_str!("../migrations/0012_key_lifetime.sql"),
    include_str!("../migrations/0013_expiry.sql"),
    include_str!("../migrations/0014_stats.sql"),
    include_str!("../migrations/0015_audit.sql"),
    include_str!("../migrations/0016_operations.sql"),
    include_str!("../migrations/0017_catalog.sql"),
    include_str!("../migrations/0018_roles.sql"),
    include_str!("../migrations/0019_views.sql"),
    include_str!("../migrations/0020_node_requests.sql"),
    include_str!("../migrations/0021_failure_marks.sql"),
    include_str!("../migrations/0022_trace.sql"),
    include_str!("../migrations/0023_sequences.sql"),
    include_str!("../migrations/0024_enqueue_from_catalog.sql"),
    include_str!("../migrations/0025_audit_signatures.sql"),
    include_str!("../migrations/0026_successors.sql"),
    include_str!("../migrations/0027_fair_queues.sql"),
    include_str!("../migrations/0028_archive.sql"),
    include_str!("../migrations/0029_pipelines.sql"),
    include_str!("../migrations/0030_declared_nodes.sql"),
    include_str!("../migrations/0031_archive_locks.sql"),
    include_str!("../migrations/0032_key_rates.sql"),
    include_str!("../migrations/0033_erasures.sql"),
    include_str!("../migrations/0034_lingering_queue.sql"),
    include_str!("../migrations/0035_compatibility.sql"),
];

/// The oldest version of the schema whose programs can use the newest one.
///
/// A migration that only adds what the programs of earlier versions ignore must leave this number unchanged: they go on, and a
/// rollback to them is possible. Every other migration must set it to its own number, so that they refuse to open the schema.
const OLDEST: i32 = 35;

/// Returns the newest version of the schema that this program knows.
fn newest() -> i32 {
    i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX)
}

/// Migrates the schema to the newest version. If several nodes do this at once, one migrates and the rest wait for it.
/// A schema of a later version is left as it is if this program can use it.
pub(crate) async fn migrate(pool: &Pool, sql: &Sql, may: bool) -> Result<(), StoreError> {
    let newest = newest();
    let have = usable_version(pool, sql).await?;
    if have >= newest {
        return Ok(());
    }
    if !may {
        return Err(older(sql.schema(), have, newest));
    }
    let mut tx = pool.begin().await.map_err(store_error)?;
    apply(&mut tx, sql, newest).await?;
    tx.commit().await.map_err(store_error)?;
    crash_point(CrashPoint::MigrationCommitted);
    Ok(())
}

async fn apply(db: &mut PgConnection, sql: &Sql, newest: i32) -> Result<(), StoreError> {
    // The lock is held until the commit, so it also works behind a pooler.
    db::query(sql.lock_migrations()).execute(&mut *db).await.map_err(store_error)?;
    sqlx::raw_sql(sql.create_schema().text).execute(&mut *db).await.map_err(store_error)?;
    // Another process may have migrated first.
    let have = version(db, sql).await?;
    can_use(db, sql, have, newest).await?;
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > have) {
        sqlx::raw_sql(sql.migration(migration)).execute(&mut *db).await.map_err(store_error)?;
        crash_point(CrashPoint::MigrationApplied);
        let recorded = db::query(sql.insert_migration()).bind(number);
        recorded.execute(&mut *db).await.map_err(store_error)?;
        crash_point(CrashPoint::MigrationRecorded);
    }
    if have < newest {
        let recorded = db::query(sql.record_oldest()).bind(newest).bind(OLDEST);
        recorded.execute(db).await.map_err(store_error)?;
    }
    Ok(())
}

/// Returns the statements that migrate the schema, in one transaction, or `None` if nothing is missing.
pub(crate) async fn script(pool: &Pool, sql: &Sql) -> Result<Option<String>, StoreError> {
    let newest = newest();
    let have = usable_version(pool, sql).await?;
    if have >= newest {
        return Ok(None);
    }
    let text = |statement: Statement| statement.text.as_str().trim_end().to_owned();
    let mut statements = vec!["BEGIN".to_owned(), text(sql.lock_migrations())];
    if have == 0 {
        statements.push(text(sql.create_schema()));
    }
    for (number, migration) in (1..).zip(MIGRATIONS).filter(|(number, _)| *number > have) {
        let migration = sql.migration(migration);
        statements.push(migration.as_str().trim_end().trim_end_matches(';').to_owned());
        statements.push(text(sql.insert_migration()).replace("$1", &number.to_string()));
    }
    let oldest = text(sql.record_oldest()).replace("$2", &OLDEST.to_string());
    statements.push(oldest.replace("$1", &newest.to_string()));
    statements.push("COMMIT".to_owned());
    Ok(Some(statements.join(";\n") + ";\n"))
}

/// Returns the version of the schema, or 0 if it does not exist. Fails if this program cannot use the schema.
async fn usable_version(pool: &Pool, sql: &Sql) -> Result<i32, StoreError> {
    let mut db = pool.acquire().await.map_err(store_error)?;
    let have = version(&mut db, sql).await?;
    let usable = can_use(&mut db, sql, have, newest()).await;
    db.done().await.map_err(store_error)?;
    usable?;
    Ok(have)
}

/// Returns an error if the schema is of a later version that this program cannot use.
async fn can_use(
    db: &mut PgConnection,
    sql: &Sql,
    have: i32,
    newest: i32,
) -> Result<(), StoreError> {
    if have <= newest {
        return Ok(());
    }
    let oldest = db::query_scalar(sql.select_oldest()).bind(have).fetch_one(db).await;
    let oldest: Option<i32> = oldest.map_err(store_error)?;
    if oldest.is_none_or(|oldest| oldest > newest) {
        return Err(newer(have, newest));
    }
    tracing::info!(
        "the schema is at version {have}, which later programs use; this program knows version {newest} and can use it"
    );
    Ok(())
}

/// Returns the version of the schema, or 0 if it does not exist.
async fn version(db: &mut PgConnection, sql: &Sql) -> Result<i32, StoreError> {
    let there: bool = db::query_scalar(sql.has_migrations())
        .bind(sql.schema())
        .fetch_one(&mut *db)
        .await
        .map_err(store_error)?;
    if !there {
        return Ok(0);
    }
    db::query_scalar(sql.select_migration()).fetch_one(db).await.map_err(store_error)
}

fn older(schema: &str, have: i32, newest: i32) -> StoreError {
    let there = match have {
        0 => format!("the schema `{schema}` has no tables of Ratchet"),
        have => format!("the schema `{schema}` is at version {have}"),
    };
    let why = format!(
        "{there}, this program needs version {newest}, and migrations are disabled: migrate with `PgOptions::migrate`"
    );
    StoreError::new(StoreErrorKind::Schema, why)
}

fn newer(have: i32, newest: i32) -> StoreError {
    let why = format!(
        "the schema is at version {have}, and this program knows version {newest}, which cannot use it: run the newer program"
    );
    StoreError::new(StoreErrorKind::Schema, why)
}
