//! Generates the invocation struct, with the stored arguments as fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Path, Type};

use super::super::model::{Arg, Default, JobModel};
use crate::idents;

/// ```text
/// /// Arguments of the [`send_email()`] job.
/// #[must_use = "a job does nothing until it is enqueued"]
/// pub struct SendEmail { pub to: String }
/// ```
pub(super) fn structure(job: &JobModel) -> TokenStream {
    let JobModel { vis, struct_name, inherited, moved, .. } = job;
    let moved = &moved.others;
    let docs = docs(job);
    let derives = derives(job);
    let derive = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    let fields = job.args().map(|arg| {
        let Arg { ident, ty, docs, .. } = arg;
        quote!(#(#[doc = #docs])* #vis #ident: #ty)
    });
    // A job without stored arguments gets a unit struct, which allows `enqueue(Tick)`.
    let body = if job.args().next().is_some() { quote!({ #(#fields),* }) } else { quote!(;) };
    // Without the empty list, rustc would suggest a type parameter for an unknown type, and report it twice.
    let generics = quote!(<>);
    quote! {
        #(#[doc = #docs])*
        #(#inherited)*
        #derive
        #(#moved)*
        #[must_use = "a job does nothing until it is enqueued"]
        #[allow(missing_docs)]
        #vis struct #struct_name #generics #body
    }
}

/// Returns the derives of the struct. A job with secret arguments gets its own `Debug`, see [`debug`].
fn derives(job: &JobModel) -> Vec<&Path> {
    let generated = |path: &&Path| {
        (is(path, "Debug") && has_secrets(job)) || (is(path, "Default") && has_values(job))
    };
    all_derives(job).filter(|path| !generated(path)).collect()
}

/// The derives in the options and those that were written below `#[job]`.
fn all_derives(job: &JobModel) -> impl Iterator<Item = &Path> {
    job.options.derive.0.iter().chain(&job.moved.derives)
}

fn is(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == name)
}

/// Returns whether an argument has a `#[job(default = value)]`, which a derived `Default` would not use.
fn has_values(job: &JobModel) -> bool {
    job.args().any(|arg| matches!(arg.default, Some(Default::Value(_))))
}

fn has_secrets(job: &JobModel) -> bool {
    job.args().any(|arg| arg.secret)
}

/// Generates `Debug` for a struct that derives it and has secret arguments: they are shown as `***`.
pub(super) fn debug(job: &JobModel) -> Option<TokenStream> {
    all_derives(job).find(|path| is(path, "Debug") && has_secrets(job))?;
    let name = &job.struct_name;
    let text = idents::plain(name);
    let fields = job.args().map(|Arg { ident, secret, .. }| {
        let field = idents::plain(ident);
        if *secret {
            quote!(.field(#field, &__ratchet::format_args!("***")))
        } else {
            quote!(.field(#field, &self.#ident))
        }
    });
    Some(quote! {
        #[automatically_derived]
        impl __ratchet::fmt::Debug for #name {
            fn fmt(&self, f: &mut __ratchet::fmt::Formatter<'_>) -> __ratchet::fmt::Result {
                f.debug_struct(#text) #(#fields)* .finish()
            }
        }
    })
}

/// Generates `Default` for a struct that derives it and has arguments with a `#[job(default = value)]`.
pub(super) fn default(job: &JobModel) -> Option<TokenStream> {
    all_derives(job).find(|path| is(path, "Default") && has_values(job))?;
    let name = &job.struct_name;
    let fields = job.args().map(|Arg { ident, default, .. }| match default {
        Some(Default::Value(value)) => quote!(#ident: #value),
        _ => quote!(#ident: __ratchet::Default::default()),
    });
    Some(quote! {
        #[automatically_derived]
        impl __ratchet::Default for #name {
            fn default() -> Self {
                Self { #(#fields),* }
            }
        }
    })
}

/// Generates `SendEmail::new(to, subject)`, with `impl Into<String>` for text. A derive named `new` replaces it.
pub(super) fn constructor(job: &JobModel) -> Option<TokenStream> {
    job.args().next()?;
    if all_derives(job).any(|path| is(path, "new") || is(path, "Constructor")) {
        return None;
    }
    let JobModel { vis, struct_name, .. } = job;
    let params = job.args().map(|Arg { ident, ty, .. }| {
        if is_string(ty) { quote!(#ident: impl __ratchet::Into<#ty>) } else { quote!(#ident: #ty) }
    });
    let fields = job.args().map(|Arg { ident, ty, .. }| {
        if is_string(ty) { quote!(#ident: __ratchet::Into::into(#ident)) } else { quote!(#ident) }
    });
    Some(quote! {
        __ratchet::constructor! { #vis #struct_name(#(#params),*) { #(#fields),* } }
    })
}

/// Returns whether the type is spelled `String`.
fn is_string(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if is(&path.path, "String") && path.qself.is_none())
}

fn docs(job: &JobModel) -> Vec<String> {
    let name = idents::plain(&job.function.sig.ident);
    let of = match &job.owner {
        Some(owner) => {
            format!("{}::{name}", idents::text(ToTokens::to_token_stream(&owner.path)))
        }
        None => name,
    };
    let mut docs = vec![format!(" Arguments of the [`{of}()`] job.")];
    if !job.docs.is_empty() {
        docs.push(String::new());
        docs.extend(job.docs.iter().cloned());
    }
    docs
}
