//! From a database error to what the engine can act on.

use ratchet_core::store::{StoreError, StoreErrorKind};
use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

/// What a database error means.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    use StoreErrorKind::{Config, Corrupt, Data, Full, ReadOnly, Schema, Unavailable};
    let kind = match &error {
        sqlx::Error::Database(_) if is_notify_full(&error) => Unavailable,
        sqlx::Error::Database(database) => match code(database.as_ref()).as_str() {
            "25006" => ReadOnly,
            "53100" => Full,
            "42P01" | "42703" | "42883" | "3F000" => Schema,
            "28000" | "28P01" | "3D000" | "42501" => Config,
            // A statement is there that should not be, or is not: somebody changes the server under us.
            POOLED_TWICE | POOLED_AWAY => return pooled(error),
            "XX001" | "XX002" => Corrupt,
            // Connection and transaction failures, exhausted resources, shutdown, timeouts, lock conflicts: all pass.
            code if ["08", "40", "53", "55", "57", "58"].iter().any(|c| code.starts_with(c)) => {
                Unavailable
            }
            _ => Data,
        },
        sqlx::Error::Configuration(_) => Config,
        // The content of one row, not the database.
        sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Encode(_) => Data,
        _ => Unavailable,
    };
    StoreError::new(kind, format!("PostgreSQL: {error}")).with_source(error)
}

/// What a pooler does to statements that a connection keeps: the next one finds them, or this one does not.
const POOLED_TWICE: &str = "42P05";
const POOLED_AWAY: &str = "26000";

fn pooled(error: sqlx::Error) -> StoreError {
    let why = format!(
        "PostgreSQL: {error}. Behind a pooler that hands out connections by the transaction, a store is opened with \
         `PgOptions::poll_only`"
    );
    StoreError::new(StoreErrorKind::Config, why).with_source(error)
}

/// Whether the whole transaction can simply be tried again at once: two of them met.
pub(crate) fn is_conflict(error: &sqlx::Error) -> bool {
    is(error, &["40001", "40P01"])
}

pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    is(error, &["23505"])
}

/// Whether a lock was not to be had within `lock_timeout`.
pub(crate) fn is_lock_timeout(error: &sqlx::Error) -> bool {
    is(error, &["55P03"])
}

/// Whether the server's queue of notifications is full: a session listens and does not read. The data itself is in order.
pub(crate) fn is_notify_full(error: &sqlx::Error) -> bool {
    let Some(database) = error.as_database_error() else { return false };
    let routine = database.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::routine);
    // The code is also that of an index entry that is too large.
    code(database) == "54000"
        && (routine == Some("PreCommit_Notify") || database.message().contains("NOTIFY queue"))
}

/// Whether the server could not work with a value: one that is out of range, no JSON, or too long for an index.
pub(crate) fn is_about_data(error: &sqlx::Error) -> bool {
    let Some(database) = error.as_database_error() else { return false };
    let code = code(database);
    (code.starts_with("22") || code == "54000") && !is_notify_full(error)
}

fn is(error: &sqlx::Error, codes: &[&str]) -> bool {
    error.as_database_error().is_some_and(|database| codes.contains(&code(database).as_str()))
}

fn code(database: &dyn DatabaseError) -> String {
    database.code().unwrap_or_default().into_owned()
}
