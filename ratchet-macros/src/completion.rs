//! Completion of option names in editors: under rust-analyzer, each key becomes a path into a documented module of the
//! runtime.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::krate::Krate;

/// Generates `use ::ratchet::__private::options::job::{queue as _};`, which only editors see.
///
/// This must come first in the expansion: an editor uses the first token that carries the span under the cursor.
pub(crate) fn triggers(krate: &Krate, keys: &[Ident]) -> TokenStream {
    // `crate` cannot be the last part of a path.
    let keys: Vec<_> = keys.iter().filter(|key| *key != "crate").collect();
    if keys.is_empty() {
        return TokenStream::new();
    }
    let private = krate.private();
    quote! {
        #[allow(unexpected_cfgs)]
        const _: () = {
            #[cfg(rust_analyzer)]
            use #private::options::job::{#(#keys as _),*};
        };
    }
}
