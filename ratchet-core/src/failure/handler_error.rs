//! The error that a handler returned, kept until it has been classified.

use std::any::type_name;
use std::error::Error;
use std::fmt;

use super::{PanicReport, catch_panic, drop_catching_panics};

/// An error that a handler returned. Gives access to its source chain regardless of its type.
pub struct HandlerError {
    /// `None` only while the value is dropped.
    error: Option<Box<dyn Chain>>,
    type_name: Option<&'static str>,
    code: Option<String>,
}

/// Access to the first error of a source chain. `anyhow::Error` and similar types are not errors themselves but contain
/// one.
trait Chain: Send + Sync + 'static {
    fn first(&self) -> &(dyn Error + 'static);
}

struct Typed<E>(E);

impl<E: Error + Send + Sync + 'static> Chain for Typed<E> {
    fn first(&self) -> &(dyn Error + 'static) {
        &self.0
    }
}

impl Chain for Box<dyn Error + Send + Sync> {
    fn first(&self) -> &(dyn Error + 'static) {
        &**self
    }
}

#[cfg(feature = "anyhow")]
impl Chain for anyhow::Error {
    fn first(&self) -> &(dyn Error + 'static) {
        let error: &(dyn Error + Send + Sync + 'static) = self.as_ref();
        error
    }
}

#[cfg(feature = "eyre")]
impl Chain for eyre::Report {
    fn first(&self) -> &(dyn Error + 'static) {
        let error: &(dyn Error + Send + Sync + 'static) = self.as_ref();
        error
    }
}

impl HandlerError {
    /// Wraps an error of a known type.
    pub fn typed<E: Error + Send + Sync + 'static>(error: E) -> Self {
        Self { error: Some(Box::new(Typed(error))), type_name: Some(type_name::<E>()), code: None }
    }

    /// Wraps an error whose type was erased.
    pub fn boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        Self { error: Some(Box::new(error)), type_name: None, code: None }
    }

    /// Wraps an `anyhow::Error`.
    #[cfg(feature = "anyhow")]
    pub fn anyhow(error: anyhow::Error) -> Self {
        Self { error: Some(Box::new(error)), type_name: None, code: None }
    }

    /// Wraps an `eyre::Report`.
    #[cfg(feature = "eyre")]
    pub fn eyre(error: eyre::Report) -> Self {
        Self { error: Some(Box::new(error)), type_name: None, code: None }
    }

    /// Returns the outermost error.
    pub fn error(&self) -> &(dyn Error + 'static) {
        self.error.as_deref().map_or(&Gone, Chain::first)
    }

    /// Returns the error and its sources, outermost first. Stops after 64 errors, so that a cyclic chain ends, and at
    /// an error whose `source` panics.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        std::iter::successors(Some(self.error()), |&error| source(error).ok().flatten())
            .take(Self::MAX_CHAIN)
    }

    /// Returns the full type name of the outermost error, if it was not erased.
    pub fn type_name(&self) -> Option<&'static str> {
        self.type_name
    }

    /// Returns the code that the application assigned to the error.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    pub(super) const MAX_CHAIN: usize = 64;
}

/// Returns the source of an error. Catches panics, because this is user code.
pub(super) fn source<'a>(
    error: &'a (dyn Error + 'static),
) -> Result<Option<&'a (dyn Error + 'static)>, PanicReport> {
    catch_panic(|| error.source())
}

/// Catches panics of the error's destructor, because this is user code.
impl Drop for HandlerError {
    fn drop(&mut self) {
        if let Some(panic) = self.error.take().and_then(drop_catching_panics) {
            tracing::warn!(panic = %panic.message, "the error of a job panicked while it was dropped");
        }
    }
}

/// A placeholder for an error that is being dropped.
#[derive(Debug, thiserror::Error)]
#[error("the error is gone")]
struct Gone;

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.error(), f)
    }
}

/// A general error type for handlers. It supports `?` on any error, and carries directives.
///
/// Any standard error converts into it, including [`snooze`](super::snooze), [`reject`](super::reject),
/// [`fatal`](super::fatal), [`invalid`](super::invalid) and [`retry_after`](super::retry_after). Like `anyhow::Error`,
/// it does not implement [`Error`] itself, because the blanket conversion would not be possible otherwise.
///
/// ```
/// use std::time::Duration;
/// use ratchet_core::{JobError, snooze};
///
/// fn poll(ready: bool, number: &str) -> Result<i32, JobError> {
///     if !ready {
///         return Err(snooze(Duration::from_secs(5)).into());
///     }
///     Ok(number.parse()?)
/// }
/// # assert!(poll(false, "1").is_err());
/// ```
pub struct JobError(HandlerError);

impl JobError {
    /// Creates an error from a message.
    pub fn msg(message: impl Into<String>) -> Self {
        Self(HandlerError::typed(Message(message.into())))
    }

    /// Sets a code that operators can search for.
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    pub(crate) fn into_handler_error(self) -> HandlerError {
        self.0
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for JobError {
    fn from(error: E) -> Self {
        Self(HandlerError::typed(error))
    }
}

impl fmt::Debug for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0.error(), f)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Message(String);
