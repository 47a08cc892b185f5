//! The errors of a store.

use std::error::Error;
use std::fmt;

use super::limits::LimitError;

/// A failure of the store itself, never of a job.
///
/// ```
/// # mod ratchet { pub use ratchet_store::{StoreError, self as store}; }
/// use ratchet::StoreError;
/// use ratchet::store::StoreErrorKind;
///
/// fn report(error: &StoreError) -> String {
///     match error.kind() {
///         _ if error.is_transient() => format!("try again later: {error}"),
///         StoreErrorKind::Data => format!("the request was refused: {error}"),
///         _ => format!("an operator must act: {error}"),
///     }
/// }
/// let error = StoreError::new(StoreErrorKind::Full, "no disk space is left");
/// assert_eq!(report(&error), "try again later: no disk space is left");
/// ```
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    recoverable: bool,
}

/// The kind of a store failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The database cannot be reached or is too busy. A retry may succeed.
    Unavailable,
    /// The database refuses writes: it is read-only or a standby.
    ReadOnly,
    /// No disk space is left.
    Full,
    /// The database file or its contents are damaged.
    Corrupt,
    /// The schema is missing, or newer than this program.
    Schema,
    /// The database refused the data itself. A retry fails in the same way.
    Data,
    /// Another program holds the database.
    Locked,
    /// The configuration is invalid.
    Config,
    /// The user of the database lacks a right; see `ratchet migrate grants`.
    Denied,
}

impl StoreError {
    /// Creates an error of this kind.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, recoverable: false }
    }

    /// Sets the underlying error. The message must not repeat it.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Marks the error as transient even if its kind is not, such as for a file that was moved and may be moved back.
    /// [`Self::is_transient`] then returns `true`.
    ///
    /// ```
    /// use ratchet_store::{StoreError, StoreErrorKind};
    ///
    /// let error = StoreError::new(StoreErrorKind::Config, "the file was moved or deleted");
    /// assert!(!error.is_transient());
    /// assert!(error.recoverable().is_transient());
    /// ```
    #[must_use]
    pub fn recoverable(mut self) -> Self {
        self.recoverable = true;
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Returns `true` if the store works but refused the data. The same call without the offending part may succeed.
    pub fn is_about_data(&self) -> bool {
        self.kind == StoreErrorKind::Data
    }

    /// Returns `true` if a later retry may succeed.
    pub fn is_transient(&self) -> bool {
        if self.recoverable {
            return true;
        }
        match self.kind {
            StoreErrorKind::Unavailable
            | StoreErrorKind::Locked
            | StoreErrorKind::Full
            | StoreErrorKind::ReadOnly => true,
            StoreErrorKind::Corrupt
            | StoreErrorKind::Schema
            | StoreErrorKind::Data
            | StoreErrorKind::Config
            | StoreErrorKind::Denied => false,
        }
    }
}

/// A text that exceeds its limit is refused before it reaches the store.
impl From<LimitError> for StoreError {
    fn from(error: LimitError) -> Self {
        Self::new(StoreErrorKind::Data, error.to_string())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
