//! Error types annotated with `#[do_not_retry]`: which of their values must not be retried, and which wrap another error.

use std::error::Error;
use std::time::Duration;

use super::{HandlerError, Layer};

/// Finds an annotated error type in what a handler returned.
///
/// An error in a chain is a `dyn Error`, and only a downcast can identify its type. Therefore, each annotated type
/// registers its own search.
///
/// ```
/// # mod ratchet { pub use ratchet_core as failure; pub use ratchet_macros::do_not_retry; }
/// use ratchet::do_not_retry;
/// use ratchet::failure::HandlerError;
///
/// // The attribute registers a `PermanentError` for the type.
/// #[do_not_retry(reason = "the issuer has refused", crate = ::ratchet_core)]
/// #[derive(Debug, thiserror::Error)]
/// #[error("the card was declined")]
/// struct Declined;
///
/// # fn main() {
/// let error = HandlerError::typed(Declined);
/// assert_eq!(error.permanent_reason(), Some("the issuer has refused"));
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PermanentError {
    check: fn(Layer<'_>) -> Option<&'static str>,
}

impl PermanentError {
    /// Creates a matcher. `check` returns the reason if a permanent error of the annotated type is in this place.
    pub const fn new(check: fn(Layer<'_>) -> Option<&'static str>) -> Self {
        Self { check }
    }
}

/// Returns the error inside an error of one type.
type Inner = for<'a> fn(&'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)>;

/// Looks through the `#[error(transparent)]` variants of an annotated error type.
///
/// `source()` of such a variant returns the source of its field, so the field itself is not part of the chain.
#[derive(Debug, Clone, Copy)]
pub struct TransparentError {
    inner: Inner,
}

impl TransparentError {
    /// Creates the entry of a type. `inner` returns the field if the error is of the type and the variant transparent.
    pub const fn new(inner: Inner) -> Self {
        Self { inner }
    }

    /// Returns the error inside a transparent variant.
    pub(super) fn inner<'a>(link: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
        inventory::iter::<Self>().find_map(|known| (known.inner)(link))
    }
}

/// Converts the field of a transparent variant to the error that it is or contains.
pub trait AsDynError {
    /// Returns the error.
    fn as_dyn_error(&self) -> &(dyn Error + 'static);
}

impl<E: Error + 'static> AsDynError for E {
    fn as_dyn_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl AsDynError for dyn Error + Send + Sync + 'static {
    fn as_dyn_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl AsDynError for dyn Error + 'static {
    fn as_dyn_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

/// A type that can be marked with `#[do_not_retry]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is marked `#[do_not_retry]` but is not an error",
    label = "this type can never be found in the source chain of a failure",
    note = "implement `std::error::Error` for it, for example with `#[derive(Debug, thiserror::Error)]`"
)]
pub trait Permanent: Error + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> Permanent for E {}

/// Returns the error of the annotated type in a place. Only this function requires `Permanent`.
pub fn permanent<E: Permanent>(layer: Layer<'_>) -> Option<&E> {
    layer.downcast()
}

/// What a failure with a classified error means, if it is neither an ordinary failure nor a permanent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// A failed attempt with this delay before the next one.
    RetryAfter(Duration),
    /// Run again after this delay, without using an attempt.
    Snooze(Duration),
    /// The work cannot be accepted at this time. The job returns to the queue without using an attempt.
    Reject,
    /// The job is invalid and fails permanently.
    Invalid,
}

/// Finds an error type annotated with `#[classify]` in what a handler returned.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedError {
    class: fn(Layer<'_>) -> Option<ErrorClass>,
}

impl ClassifiedError {
    /// Creates a matcher. `class` returns the class if an error of the annotated type is in this place.
    pub const fn new(class: fn(Layer<'_>) -> Option<ErrorClass>) -> Self {
        Self { class }
    }
}

inventory::collect!(ClassifiedError);
inventory::collect!(PermanentError);
inventory::collect!(TransparentError);

impl HandlerError {
    /// Returns the reason if the error must not be retried: it is or wraps an error marked `#[do_not_retry]`.
    pub fn permanent_reason(&self) -> Option<&'static str> {
        let check =
            |layer| inventory::iter::<PermanentError>().find_map(|known| (known.check)(layer));
        self.layers().find_map(check)
    }

    /// Returns the class of the outermost error that is annotated with `#[classify]` and has one.
    pub(super) fn class(&self) -> Option<ErrorClass> {
        let class =
            |layer| inventory::iter::<ClassifiedError>().find_map(|known| (known.class)(layer));
        self.layers().find_map(class)
    }
}
