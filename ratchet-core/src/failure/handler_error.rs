//! The error a handler returned, kept whole until it has been classified.

use std::any::type_name;
use std::error::Error;
use std::fmt;

use super::{PanicReport, drop_catching_panics, catch_panic};

/// An error that a handler returned: whatever its type, its source chain can be walked.
pub struct HandlerError {
    /// `None` only while it is dropped.
    error: Option<Box<dyn Chain>>,
    type_name: Option<&'static str>,
    code: Option<String>,
}

/// The first link of a source chain. `anyhow::Error` and friends are not errors themselves but hold one.
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
    /// An error whose type is known.
    pub fn typed<E: Error + Send + Sync + 'static>(error: E) -> Self {
        Self { error: Some(Box::new(Typed(error))), type_name: Some(type_name::<E>()), code: None }
    }

    /// An error whose type was erased.
    pub fn boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        Self { error: Some(Box::new(error)), type_name: None, code: None }
    }

    /// An `anyhow::Error`.
    #[cfg(feature = "anyhow")]
    pub fn anyhow(error: anyhow::Error) -> Self {
        Self { error: Some(Box::new(error)), type_name: None, code: None }
    }

    /// An `eyre::Report`.
    #[cfg(feature = "eyre")]
    pub fn eyre(error: eyre::Report) -> Self {
        Self { error: Some(Box::new(error)), type_name: None, code: None }
    }

    /// The outermost error.
    pub fn error(&self) -> &(dyn Error + 'static) {
        self.error.as_deref().map_or(&Gone, Chain::first)
    }

    /// The error and everything beneath it, outermost first. Bounded, so that a cyclic chain ends; it also ends at an error
    /// whose `source` panics.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        std::iter::successors(Some(self.error()), |&error| source(error).ok().flatten())
            .take(Self::MAX_CHAIN)
    }

    /// The full name of the outermost error's type, if it was not erased.
    pub fn type_name(&self) -> Option<&'static str> {
        self.type_name
    }

    /// The code the application gave the error.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    pub(super) const MAX_CHAIN: usize = 64;
}

/// The error beneath an error. This is user code, and may panic.
pub(super) fn source<'a>(
    error: &'a (dyn Error + 'static),
) -> Result<Option<&'a (dyn Error + 'static)>, PanicReport> {
    catch_panic(|| error.source())
}

/// The destructor of an error is user code: if it panics, only the error is affected and not whoever holds it.
impl Drop for HandlerError {
    fn drop(&mut self) {
        if let Some(panic) = self.error.take().and_then(drop_catching_panics) {
            tracing::warn!(panic = %panic.message, "the error of a job panicked while it was dropped");
        }
    }
}

/// What stands for an error that is being dropped.
#[derive(Debug, thiserror::Error)]
#[error("the error is gone")]
struct Gone;

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.error(), f)
    }
}

/// The library's own error for handlers that want `?` on everything and the last word on what happens next.
///
/// Any standard error converts into it; so do [`snooze`](super::snooze), [`reject`](super::reject),
/// [`fatal`](super::fatal), [`invalid`](super::invalid) and [`retry_after`](super::retry_after). Like
/// `anyhow::Error` it is not an error itself, because that conversion could not exist otherwise.
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
    /// An error that is only a message.
    pub fn msg(message: impl Into<String>) -> Self {
        Self(HandlerError::typed(Message(message.into())))
    }

    /// Gives the error a code that operators can search for.
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
