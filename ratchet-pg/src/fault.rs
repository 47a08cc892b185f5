//! The error of a transaction, and the macro that runs transactions and retries them.

use ratchet_store::StoreError;
use ratchet_store::StoreErrorKind;
use ratchet_store::model::{ChangeError, CommandError, InsertError};

use crate::error::{is_lock_timeout, store_error};
use crate::lost_connection::is_lost;

/// The reason why a transaction was rolled back.
#[derive(Debug)]
pub(crate) enum Fault {
    Database(sqlx::Error),
    Insert(InsertError),
    Command(CommandError),
    Store(StoreError),
    /// A row that was read has changed before it could be written. The transaction can be retried.
    Conflict,
    /// The connection was lost during the commit.
    Uncertain(sqlx::Error),
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
            Fault::Uncertain(error) => {
                let why = format!(
                    "the connection was lost during a commit, and it is not known whether it was applied: {error}"
                );
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

impl From<Fault> for ChangeError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Command(error) => Self::Command(error),
            Fault::Insert(error) => Self::Insert(error),
            other => Self::Store(other.into()),
        }
    }
}

/// How often a transaction is retried after a conflict.
pub(crate) const TRIES: u32 = 8;

/// Runs a transaction. Retries it after a conflict with another one, and on a new connection if its connection is lost.
/// The body may return early with `?`.
///
/// If the connection is lost during the commit, the transaction fails with [`Fault::Uncertain`], unless it is marked as
/// `repeatable`: then it is retried as well, and its body must recognize what an earlier try has committed.
macro_rules! transact {
    (repeatable $inner:expr, |$db:ident| $body:expr) => {
        $crate::fault::transact!(@ $inner, $crate::fault::Fault::Database, |$db| $body)
    };
    ($inner:expr, |$db:ident| $body:expr) => {
        $crate::fault::transact!(@ $inner, $crate::fault::uncertain, |$db| $body)
    };
    (@ $inner:expr, $commit_failed:expr, |$db:ident| $body:expr) => {{
        let mut retries = $crate::lost_connection::Retries::new(&$inner.pool);
        loop {
            let attempt = async {
                let mut tx = $inner.pool.begin().await?;
                let $db: &mut sqlx::PgConnection = &mut tx;
                let answer = $body;
                ratchet_store::env::crash::crash_point(
                    ratchet_store::env::crash::CrashPoint::CommitBefore,
                );
                tx.commit().await.map_err($commit_failed)?;
                ratchet_store::env::crash::crash_point(
                    ratchet_store::env::crash::CrashPoint::CommitAfter,
                );
                Ok::<_, $crate::fault::Fault>(answer)
            };
            match attempt.await {
                Err(fault) if retries.transaction(&fault).await => {}
                answer => break answer,
            }
        }
    }};
}
pub(crate) use transact;

/// The fault of a failed commit. If its connection was lost, the server may have committed.
pub(crate) fn uncertain(error: sqlx::Error) -> Fault {
    match is_lost(&error) {
        true => Fault::Uncertain(error),
        false => Fault::Database(error),
    }
}

/// Returns whether a lock timeout expired because another transaction holds the lock.
pub(crate) fn is_blocked(fault: &Fault) -> bool {
    matches!(fault, Fault::Database(error) if is_lock_timeout(error))
}

/// Checks that a statement changed exactly this many rows.
pub(crate) fn exactly(rows: usize, done: &sqlx::postgres::PgQueryResult) -> Result<(), Fault> {
    let changed = usize::try_from(done.rows_affected()).unwrap_or(usize::MAX);
    if changed == rows { Ok(()) } else { Err(Fault::Conflict) }
}
