//! The error of a transaction, and the macro that retries transactions after a conflict.

use ratchet_store::StoreError;
use ratchet_store::StoreErrorKind;
use ratchet_store::model::{CommandError, InsertError};

use crate::error::{is_conflict, is_lock_timeout, is_unique_violation, store_error};

/// The reason why a transaction was rolled back.
#[derive(Debug)]
pub(crate) enum Fault {
    Database(sqlx::Error),
    Insert(InsertError),
    Command(CommandError),
    Store(StoreError),
    /// A row that was read has changed before it could be written. The transaction can be retried.
    Conflict,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        let data_error = |error: String| Self::new(StoreErrorKind::Data, error);
        match fault {
            Fault::Database(error) => store_error(error),
            Fault::Insert(InsertError::Store(error))
            | Fault::Command(CommandError::Store(error))
            | Fault::Store(error) => error,
            Fault::Conflict => {
                let why = "gave up after repeated conflicts with concurrent updates; try again";
                Self::new(StoreErrorKind::Unavailable, why)
            }
            Fault::Insert(error) => data_error(error.to_string()),
            Fault::Command(error) => data_error(error.to_string()),
        }
    }
}

impl From<Fault> for InsertError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Insert(error) => error,
            other => Self::Store(other.into()),
        }
    }
}

impl From<Fault> for CommandError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Command(error) => error,
            other => Self::Store(other.into()),
        }
    }
}

/// How often a transaction is retried after a conflict.
pub(crate) const TRIES: u32 = 8;

/// Runs a transaction, and retries it after a conflict with another one. The body may return early with `?`.
macro_rules! transact {
    ($inner:expr, |$db:ident| $body:expr) => {{
        let mut tries = 0;
        loop {
            let attempt = async {
                let mut tx = $inner.pool.begin().await?;
                let $db: &mut sqlx::PgConnection = &mut tx;
                let answer = $body;
                ratchet_store::env::crash::crash_point(
                    ratchet_store::env::crash::CrashPoint::CommitBefore,
                );
                tx.commit().await?;
                ratchet_store::env::crash::crash_point(
                    ratchet_store::env::crash::CrashPoint::CommitAfter,
                );
                Ok::<_, $crate::fault::Fault>(answer)
            };
            match attempt.await {
                Err(fault)
                    if tries < $crate::fault::TRIES && $crate::fault::is_retryable(&fault) =>
                {
                    tries += 1;
                }
                answer => break answer,
            }
        }
    }};
}
pub(crate) use transact;

/// Returns whether a lock timeout expired because another transaction holds the lock.
pub(crate) fn is_blocked(fault: &Fault) -> bool {
    matches!(fault, Fault::Database(error) if is_lock_timeout(error))
}

/// Checks that a statement changed exactly this many rows.
pub(crate) fn exactly(rows: usize, done: &sqlx::postgres::PgQueryResult) -> Result<(), Fault> {
    let changed = usize::try_from(done.rows_affected()).unwrap_or(usize::MAX);
    if changed == rows { Ok(()) } else { Err(Fault::Conflict) }
}

/// Returns whether a transaction failed only because of a conflict with another one.
pub(crate) fn is_retryable(fault: &Fault) -> bool {
    match fault {
        Fault::Conflict => true,
        Fault::Database(error) => is_conflict(error) || is_unique_violation(error),
        _ => false,
    }
}
