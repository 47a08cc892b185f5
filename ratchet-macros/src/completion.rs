//! Completion of option names in editors: under rust-analyzer, each key becomes a path into a documented module of the
//! runtime.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::krate::Krate;

/// Generates `use __ratchet::options::job::{queue as _};`, which only editors see.
///
/// This must come before other tokens with the spans of the keys: an editor uses the first token under the cursor.
pub(crate) fn triggers(keys: &[Ident]) -> TokenStream {
    // `crate` cannot be the last part of a path.
    let keys: Vec<_> = keys.iter().filter(|key| *key != "crate").collect();
    if keys.is_empty() {
        return TokenStream::new();
    }
    quote! {
        #[cfg(rust_analyzer)]
        use __ratchet::options::job::{#(#keys as _),*};
    }
}

/// Generates the triggers alone, for a job that has no block of its own.
pub(crate) fn alone(krate: &Krate, keys: &[Ident]) -> TokenStream {
    let triggers = triggers(keys);
    let import = krate.import();
    if triggers.is_empty() {
        return triggers;
    }
    quote! {
        #[allow(unexpected_cfgs, unused_imports)]
        const _: () = {
            #import
            #triggers
        };
    }
}
