//! Converts errors of SQLite to store errors that name a remedy.

use std::path::Path;

use ratchet_store::{StoreError, StoreErrorKind};

/// A failure that can be cloned for several callers. Errors of the driver cannot.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: StoreErrorKind,
    message: String,
    /// The message of SQLite, or `None` if the failure was found by the store itself.
    source: Option<String>,
    /// Whether the failure may be temporary, regardless of its kind.
    recoverable: bool,
}

impl Fault {
    pub(crate) fn new(path: &Path, error: &sqlx::Error) -> Self {
        let kind = kind(error);
        let file = path.display();
        let message = match kind {
            StoreErrorKind::Locked => format!(
                "the job database {file} is locked: another program or another connection of this one holds a write \
                 transaction; inside your own transaction enqueue with `.in_tx(&mut tx)`, and keep transactions short"
            ),
            StoreErrorKind::ReadOnly => format!(
                "the job database {file} cannot be written; check the rights of the file and its folder"
            ),
            StoreErrorKind::Full => {
                format!(
                    "there is no space left for the job database {file}; free some space to continue"
                )
            }
            StoreErrorKind::Corrupt => format!(
                "the job database {file} is damaged or not an SQLite database; restore a backup, or look at it with \
                 `PRAGMA integrity_check`"
            ),
            StoreErrorKind::Schema => format!(
                "the job database {file} lacks tables of this store; open it once with `SqliteStore::open`"
            ),
            StoreErrorKind::Config => format!(
                "the job database {file} cannot be opened: its folder does not exist; create it first"
            ),
            StoreErrorKind::Data if is_unreadable(error) => format!(
                "a row of the job database {file} cannot be read: it is damaged, or was written by a newer version"
            ),
            StoreErrorKind::Data => format!("the job database {file} refuses the data"),
            _ => format!("the job database {file} cannot be used now"),
        };
        Self { kind, message, source: Some(error.to_string()), recoverable: false }
    }

    /// Creates a failure that was not reported by SQLite and may be temporary, regardless of its kind.
    pub(crate) fn recoverable(kind: StoreErrorKind, message: String) -> Self {
        Self { kind, message, source: None, recoverable: true }
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn opening(path: &Path, error: &sqlx::Error) -> Self {
        let mut fault = Self::new(path, error);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if primary_code(error) == Some(14) {
            if folder.is_some_and(|folder| !folder.exists()) {
                fault.kind = StoreErrorKind::Config;
                fault.message = format!(
                    "the job database {} cannot be opened: its folder does not exist; create it first",
                    path.display()
                );
            } else {
                fault.message = format!(
                    "the job database {} cannot be opened; check that it is a file and may be read and written",
                    path.display()
                );
            }
        }
        fault
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        let error = match fault.source {
            Some(source) => Self::new(fault.kind, format!("{} ({source})", fault.message)),
            None => Self::new(fault.kind, fault.message),
        };
        if fault.recoverable { error.recoverable() } else { error }
    }
}

/// Converts an error in a transaction of the caller, where the path of the file is not known.
pub(crate) fn in_transaction(error: &sqlx::Error) -> StoreError {
    let mut fault = Fault::new(Path::new("of this transaction"), error);
    if fault.kind == StoreErrorKind::Locked {
        fault.message += "; a transaction that `SqliteStore::begin` begins waits for the lock";
    }
    fault.into()
}

fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

fn kind(error: &sqlx::Error) -> StoreErrorKind {
    match (primary_code(error), error) {
        (Some(5 | 6), _) => StoreErrorKind::Locked,
        (Some(8), _) => StoreErrorKind::ReadOnly,
        (Some(13), _) => StoreErrorKind::Full,
        (Some(11 | 26), _) => StoreErrorKind::Corrupt,
        (Some(1), error) if error.to_string().contains("no such table") => StoreErrorKind::Schema,
        (Some(18..=20), _) | (None, sqlx::Error::Encode(_)) => StoreErrorKind::Data,
        // A problem with one row, not with the file. Only SQLite can detect a damaged file.
        (None, error) if is_unreadable(error) => StoreErrorKind::Data,
        _ => StoreErrorKind::Unavailable,
    }
}

/// Returns whether a stored value could not be decoded, as opposed to a failed statement.
pub(crate) fn is_unreadable(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. })
}

/// Creates an error for a stored value that could not be decoded.
pub(crate) fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(error))
}
