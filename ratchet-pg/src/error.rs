//! Converts database errors to store errors, and classifies them.

use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

use crate::unreachable::{Cause, Unreachable};

/// Converts a database error to a store error of the matching kind.
#[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    use StoreErrorKind::{Config, Corrupt, Data, Denied, Full, ReadOnly, Schema, Unavailable};
    let kind = match &error {
        sqlx::Error::Database(_) if is_notify_full(&error) => Unavailable,
        sqlx::Error::Database(database) => match code(database.as_ref()).as_str() {
            "25006" => ReadOnly,
            "53100" => Full,
            "42P01" | "42703" | "42883" | "3F000" => Schema,
            "28000" | "28P01" | "3D000" => Config,
            "42501" => Denied,
            // A prepared statement exists that should not, or is missing: a pooler switches the server connection.
            POOLED_TWICE | POOLED_AWAY => return pooled(&error),
            "XX001" | "XX002" => Corrupt,
            // Connection and transaction failures, exhausted resources, shutdown, timeouts, lock conflicts: all are
            // temporary.
            code if ["08", "40", "53", "55", "57", "58"].iter().any(|c| code.starts_with(c)) => {
                Unavailable
            }
            _ => Data,
        },
        sqlx::Error::Configuration(_) | sqlx::Error::Tls(_) => Config,
        // A problem with the content of one row, not with the database.
        sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } | sqlx::Error::Encode(_) => Data,
        _ => Unavailable,
    };
    match Unreachable::of(&error) {
        Some(why) if why.cause == Cause::Tls => {
            StoreError::new(Config, format!("PostgreSQL: {why}"))
        }
        Some(why) => StoreError::new(kind, format!("PostgreSQL: {why}")),
        None => StoreError::new(kind, format!("PostgreSQL: {error}")),
    }
}

/// Error codes of prepared statements behind a pooler: the statement already exists on this server connection, or does
/// not exist on it.
const POOLED_TWICE: &str = "42P05";
const POOLED_AWAY: &str = "26000";

fn pooled(error: &sqlx::Error) -> StoreError {
    let why = format!(
        "PostgreSQL: {error}. Behind a pooler that hands out connections by the transaction, a store is opened with \
         `PgOptions::poll_only`"
    );
    StoreError::new(StoreErrorKind::Config, why)
}

/// Returns whether a transaction conflicted with another one and can be retried at once.
pub(crate) fn is_conflict(error: &sqlx::Error) -> bool {
    is(error, &["40001", "40P01"])
}

pub(crate) fn is_unique_violation(error: &sqlx::Error) -> bool {
    is(error, &["23505"])
}

/// Returns whether a lock was not available within `lock_timeout`.
pub(crate) fn is_lock_timeout(error: &sqlx::Error) -> bool {
    is(error, &["55P03"])
}

/// Returns whether the server's notification queue is full, because a session listens and does not read. The data is
/// not affected.
pub(crate) fn is_notify_full(error: &sqlx::Error) -> bool {
    let Some(database) = error.as_database_error() else { return false };
    let routine = database.try_downcast_ref::<PgDatabaseError>().and_then(PgDatabaseError::routine);
    // An index entry that is too large has the same code.
    code(database) == "54000"
        && (routine == Some("PreCommit_Notify") || database.message().contains("NOTIFY queue"))
}

/// Returns whether the server rejected a value: out of range, invalid JSON, or too long for an index.
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
