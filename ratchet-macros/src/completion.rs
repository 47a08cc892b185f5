//! Option names for editors: under rust-analyzer each key is a path into a documented module of the runtime.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::krate::Krate;

/// `use ::ratchet::__private::options::job::{queue as _};`, seen by editors only.
///
/// Stands before everything else: an editor takes the first token that carries the span under the cursor.
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
