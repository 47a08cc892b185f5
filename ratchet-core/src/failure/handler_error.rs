//! The error that a handler returned, kept until it has been classified.

use std::any::type_name;
use std::error::Error;
use std::sync::Arc;
use std::{fmt, io};

use super::{PanicReport, TransparentError, catch_panic, drop_catching_panics};

/// An error that a handler returned. Gives access to its source chain regardless of its type.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; }
/// use ratchet::failure::HandlerError;
/// use std::io;
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("cannot reach the gateway")]
/// struct GatewayError(#[source] io::Error);
///
/// let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
/// let error = HandlerError::typed(GatewayError(refused));
/// assert_eq!(error.find::<io::Error>().map(io::Error::kind), Some(io::ErrorKind::ConnectionRefused));
/// assert_eq!(error.chain().count(), 2);
/// ```
pub struct HandlerError {
    /// `None` only while the value is dropped.
    error: Option<Held>,
    type_name: Option<&'static str>,
    code: Option<String>,
}

/// The error itself. `anyhow::Error` and `eyre::Report` are not errors but contain one, and only they can find a value
/// that was attached as context.
enum Held {
    Error(Box<dyn Error + Send + Sync>),
    #[cfg(feature = "anyhow")]
    Anyhow(anyhow::Error),
    #[cfg(feature = "eyre")]
    Eyre(eyre::Report),
}

impl HandlerError {
    /// Wraps an error of a known type.
    pub fn typed<E: Error + Send + Sync + 'static>(error: E) -> Self {
        let error = Some(Held::Error(Box::new(error)));
        Self { error, type_name: Some(type_name::<E>()), code: None }
    }

    /// Wraps an error whose type was erased.
    pub fn boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        Self { error: Some(Held::Error(error)), type_name: None, code: None }
    }

    /// Wraps an `anyhow::Error`.
    #[cfg(feature = "anyhow")]
    pub fn anyhow(error: anyhow::Error) -> Self {
        Self { error: Some(Held::Anyhow(error)), type_name: None, code: None }
    }

    /// Wraps an `eyre::Report`.
    #[cfg(feature = "eyre")]
    pub fn eyre(error: eyre::Report) -> Self {
        Self { error: Some(Held::Eyre(error)), type_name: None, code: None }
    }

    /// Returns the outermost error.
    pub fn error(&self) -> &(dyn Error + 'static) {
        match &self.error {
            Some(Held::Error(error)) => &**error,
            #[cfg(feature = "anyhow")]
            Some(Held::Anyhow(error)) => {
                let error: &(dyn Error + Send + Sync + 'static) = error.as_ref();
                error
            }
            #[cfg(feature = "eyre")]
            Some(Held::Eyre(error)) => {
                let error: &(dyn Error + Send + Sync + 'static) = error.as_ref();
                error
            }
            None => &Gone,
        }
    }

    /// Returns the error and everything that it wraps, outermost first.
    ///
    /// Includes errors that `source()` skips: the payload of an `io::Error`, the error in an `Arc<dyn Error>`, and the
    /// field of an `#[error(transparent)]` variant if the enum is marked with `#[do_not_retry]`. Stops after 64 errors,
    /// so that a cyclic chain ends, and at an error whose `source` panics.
    pub fn chain(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        std::iter::successors(Some(self.error()), |link| next(*link)).take(Self::MAX_CHAIN)
    }

    /// Returns every error of type `E` that the error is or wraps, outermost first.
    ///
    /// Finds an `E` in the [chain](Self::chain), also as `Box<E>` or `Arc<E>`, and one that was attached with
    /// `anyhow`'s `context` or `eyre`'s `wrap_err`.
    pub fn find_all<E: Error + Send + Sync + 'static>(&self) -> impl Iterator<Item = &E> {
        self.layers().filter_map(Layer::downcast)
    }

    /// Returns the places where an error can be: the attached context, then each error of the chain.
    pub(super) fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        let context = self.error.iter().map(|held| Layer(Place::Context(held)));
        context.chain(self.chain().map(|link| Layer(Place::Link(link))))
    }

    /// Returns the outermost error of type `E`; see [`Self::find_all`].
    pub fn find<E: Error + Send + Sync + 'static>(&self) -> Option<&E> {
        self.find_all().next()
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

/// One place of a handler's error where an error of some type can be.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; }
/// use ratchet::failure::{Layer, PermanentError};
///
/// // `#[do_not_retry]` generates such a function for each type that it marks.
/// fn is_utf8(layer: Layer<'_>) -> Option<&'static str> {
///     layer.downcast::<std::str::Utf8Error>().map(|_| "the file is not text")
/// }
/// let matcher = PermanentError::new(is_utf8);
/// # drop(matcher);
/// ```
#[derive(Clone, Copy)]
pub struct Layer<'a>(Place<'a>);

#[derive(Clone, Copy)]
enum Place<'a> {
    Context(&'a Held),
    Link(&'a (dyn Error + 'static)),
}

impl<'a> Layer<'a> {
    /// Returns the error of type `E` in this place, also if it is in a `Box` or an `Arc`.
    pub fn downcast<E: Error + Send + Sync + 'static>(self) -> Option<&'a E> {
        match self.0 {
            Place::Context(Held::Error(_)) => None,
            #[cfg(feature = "anyhow")]
            Place::Context(Held::Anyhow(error)) => error.downcast_ref(),
            #[cfg(feature = "eyre")]
            Place::Context(Held::Eyre(error)) => error.downcast_ref(),
            Place::Link(link) => link
                .downcast_ref::<E>()
                .or_else(|| link.downcast_ref::<Box<E>>().map(|inner| &**inner))
                .or_else(|| link.downcast_ref::<Arc<E>>().map(|inner| &**inner)),
        }
    }
}

impl fmt::Debug for Layer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Context(_) => f.write_str("Context"),
            Place::Link(link) => f.debug_tuple("Link").field(&link).finish(),
        }
    }
}

/// Returns the error behind a link of a chain.
fn next<'a>(link: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    hidden(link).or_else(|| source(link).ok().flatten())
}

/// Returns the error in a link of a chain that the `source` of the link skips.
fn hidden<'a>(link: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(error) = link.downcast_ref::<io::Error>() {
        return error.get_ref().map(|inner| inner as _);
    }
    if let Some(error) = link.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Some(&**error);
    }
    TransparentError::inner(link)
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
            // The message is not sanitized, and the secrets of the run are not known here.
            let location = panic.location.as_deref().unwrap_or("an unknown place");
            tracing::warn!(location, "the error of a job panicked while it was dropped");
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
/// # mod ratchet { pub use ratchet_core as failure; pub use ratchet_core::JobError; }
/// use std::time::Duration;
/// use ratchet::JobError;
/// use ratchet::failure::snooze;
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

impl From<JobError> for HandlerError {
    fn from(error: JobError) -> Self {
        error.0
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
