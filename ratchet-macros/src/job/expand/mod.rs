//! The expansion of one job: a struct, its `impl Job` and its registration. This stage reports no errors.

mod composition;
mod definition;
mod handler;
mod implementation;
mod structure;

use proc_macro2::TokenStream;
use quote::quote;

use super::model::JobModel;
use crate::completion;

/// Generates the items that follow the function.
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
/// If `sound` is false, the struct gets an implementation that never runs, so that call sites still compile.
pub(crate) fn expand(job: &JobModel, sound: bool) -> TokenStream {
    let import = job.options.krate.import();
    // Generated paths with the user's spans are linted as if the user had written them.
    let deprecated = job.deprecated.then(|| quote!(, deprecated));
    let triggers = completion::triggers(&job.options.keys);
    let cfgs = (!triggers.is_empty()).then(|| quote!(, unexpected_cfgs));
    let allow = quote!(#[allow(unused_qualifications #cfgs #deprecated)]);
    if let Some(declared) = &job.options.implements {
        // A rejected implementation leaves only its function.
        let structure = handler::structure(job, declared);
        let inside = sound.then(|| handler::handler(job, declared));
        return quote! {
            #structure

            #allow
            const _: () = {
                #import
                #triggers
                #inside
            };
        };
    }
    let inside = if sound {
        let constants = definition::constants(job);
        let implementation = implementation::implementation(job);
        let registration = registration(job);
        quote!(#constants #implementation #registration)
    } else {
        implementation::broken(job)
    };
    let structure = structure::structure(job);
    let debug = structure::debug(job);
    let default = structure::default(job);
    let constructor = structure::constructor(job);
    quote! {
        #structure

        #allow
        const _: () = {
            #import
            #triggers
            #inside
            #debug
            #default
            #constructor
        };
    }
}

fn registration(job: &JobModel) -> TokenStream {
    let name = &job.struct_name;
    let of = match job.function.body {
        Some(_) => quote!(of),
        None => quote!(declared),
    };
    quote! {
        __ratchet::submit! { __ratchet::Registration::#of::<#name>() }
    }
}
