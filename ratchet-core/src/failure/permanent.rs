//! Errors that must not be retried, as registered by `#[do_not_retry]`.

use std::error::Error;

/// Matches one annotated error type in a source chain.
///
/// An error in a chain is a `dyn Error`, and only a downcast can identify its type. Therefore, each annotated type
/// registers its own downcast.
#[derive(Debug, Clone, Copy)]
pub struct PermanentError {
    check: fn(&(dyn Error + 'static)) -> Option<&'static str>,
}

impl PermanentError {
    /// Creates a matcher. `check` returns the reason if the error is of the annotated type and permanent.
    pub const fn new(check: fn(&(dyn Error + 'static)) -> Option<&'static str>) -> Self {
        Self { check }
    }
}

/// A type that can be marked with `#[do_not_retry]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is marked `#[do_not_retry]` but is not an error",
    label = "this type can never be found in the source chain of a failure",
    note = "implement `std::error::Error` for it, for example with `#[derive(Debug, thiserror::Error)]`"
)]
pub trait Permanent: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Permanent for E {}

/// Downcasts an error of a chain to the annotated type. Only this function requires `Permanent`.
pub fn permanent<'a, E: Permanent>(link: &'a (dyn Error + 'static)) -> Option<&'a E> {
    link.downcast_ref()
}

inventory::collect!(PermanentError);

/// Returns the reason of the first permanent error in a chain, if there is one.
pub fn permanent_reason<'a>(
    chain: impl IntoIterator<Item = &'a (dyn Error + 'static)>,
) -> Option<&'static str> {
    chain
        .into_iter()
        .find_map(|link| inventory::iter::<PermanentError>().find_map(|known| (known.check)(link)))
}
