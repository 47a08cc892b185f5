//! What a store can fail with.

use std::error::Error;
use std::fmt;

use crate::model::limits::LimitError;

/// A failure of the store itself, never of a job.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    message: String,
    source: Option<Box<dyn Error + Send + Sync>>,
    recoverable: bool,
}

/// What kind of failure it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The database cannot be reached or is too busy. Worth trying again.
    Unavailable,
    /// The database refuses writes: read-only, standby.
    ReadOnly,
    /// There is no space left.
    Full,
    /// The file or its contents are damaged.
    Corrupt,
    /// The schema is newer than this program, or missing.
    Schema,
    /// The database refused the data itself. Trying again gives the same answer.
    Data,
    /// Another program holds the database.
    Locked,
    /// Settings that cannot work.
    Config,
}

impl StoreError {
    /// A failure of this kind.
    pub fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None, recoverable: false }
    }

    /// The error beneath it.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Marks a failure that can pass although others of its kind do not, such as a file that was moved and may be moved back.
    /// [`Self::is_transient`] then answers `true`.
    ///
    /// ```
    /// use ratchet_core::{StoreError, StoreErrorKind};
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

    /// What kind of failure it was.
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether the store works and refused what it was given: the same without the offending part may be taken.
    pub fn is_about_data(&self) -> bool {
        self.kind == StoreErrorKind::Data
    }

    /// Whether trying again later may help.
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
            | StoreErrorKind::Config => false,
        }
    }
}

/// A name that is beyond its limit: refused before the store is asked.
impl From<LimitError> for StoreError {
    fn from(error: LimitError) -> Self {
        Self::new(StoreErrorKind::Data, error.to_string()).with_source(error)
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
