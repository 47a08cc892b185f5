//! What one job expands to: a struct, its `impl Job`, its registration. `expand` never reports an error.

mod definition;
mod implementation;
mod structure;

use proc_macro2::TokenStream;
use quote::quote;

use super::model::JobModel;

/// The items that follow the function.
///
/// ```text
/// pub struct SendEmail { pub to: String }
/// const _: () = {
///     use ::ratchet::__private as __ratchet;
///     const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String");
///     impl __ratchet::Job for SendEmail { … }
///     __ratchet::submit! { __ratchet::Registration::of::<SendEmail>() }
/// };
/// ```
///
/// After an error the struct stands, with an implementation that is never run: call sites stay quiet.
pub(crate) fn expand(job: &JobModel, sound: bool) -> TokenStream {
    let structure = structure::structure(job);
    let import = job.options.krate.import();
    // Paths that carry the user's spans look as if the user had written them.
    let deprecated = job.deprecated.then(|| quote!(, deprecated));
    let allow = quote!(#[allow(unused_qualifications #deprecated)]);
    let inside = if sound {
        let constants = definition::constants(job);
        let implementation = implementation::implementation(job);
        let registration = registration(job);
        quote!(#constants #implementation #registration)
    } else {
        implementation::broken(job)
    };
    quote! {
        #structure

        #allow
        const _: () = {
            #import
            #inside
        };
    }
}

fn registration(job: &JobModel) -> TokenStream {
    let name = &job.struct_name;
    quote! {
        __ratchet::submit! { __ratchet::Registration::of::<#name>() }
    }
}
