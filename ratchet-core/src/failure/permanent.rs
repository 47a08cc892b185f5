//! Errors that retrying cannot mend: what `#[do_not_retry]` registers.

use std::error::Error;

/// Recognises one annotated error type in a source chain.
///
/// A link of a chain is a `dyn Error`; only a downcast to the concrete type can tell what it is. So each annotated type
/// registers its own downcast.
#[derive(Debug, Clone, Copy)]
pub struct PermanentError {
    check: fn(&(dyn Error + 'static)) -> Option<&'static str>,
}

impl PermanentError {
    /// A check that answers with the reason if the link is of the annotated type and permanent.
    pub const fn new(check: fn(&(dyn Error + 'static)) -> Option<&'static str>) -> Self {
        Self { check }
    }
}

/// A type that `#[do_not_retry]` can mark.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is marked `#[do_not_retry]` but is not an error",
    label = "this type can never be found in the source chain of a failure",
    note = "implement `std::error::Error` for it, for example with `#[derive(Debug, thiserror::Error)]`"
)]
pub trait Permanent: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Permanent for E {}

/// The link of a chain as the annotated type; the one place that asks for `Permanent`.
pub fn permanent<'a, E: Permanent>(link: &'a (dyn Error + 'static)) -> Option<&'a E> {
    link.downcast_ref()
}

inventory::collect!(PermanentError);

/// The reason of the first permanent error in a chain, if there is one.
pub fn permanent_reason<'a>(
    chain: impl IntoIterator<Item = &'a (dyn Error + 'static)>,
) -> Option<&'static str> {
    chain
        .into_iter()
        .find_map(|link| inventory::iter::<PermanentError>().find_map(|known| (known.check)(link)))
}
