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

inventory::collect!(PermanentError);

/// The reason of the first permanent error in a chain, if there is one.
pub fn permanent_reason<'a>(
    chain: impl IntoIterator<Item = &'a (dyn Error + 'static)>,
) -> Option<&'static str> {
    chain
        .into_iter()
        .find_map(|link| inventory::iter::<PermanentError>().find_map(|known| (known.check)(link)))
}
