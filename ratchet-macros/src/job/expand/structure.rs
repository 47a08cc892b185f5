//! Generates the invocation struct, with the stored arguments as fields.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Path, Token};

use super::super::model::{Arg, JobModel};
use crate::idents;

/// ```text
/// /// Arguments of the [`send_email`] job.
/// #[must_use = "a job does nothing until it is enqueued"]
/// pub struct SendEmail { pub to: String }
/// ```
pub(super) fn structure(job: &JobModel) -> TokenStream {
    let JobModel { vis, struct_name, inherited, .. } = job;
    let docs = docs(job);
    let derives = derives(job);
    let derive = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    let fields = job.args().map(|arg| {
        let Arg { ident, ty, docs, .. } = arg;
        quote!(#(#[doc = #docs])* #vis #ident: #ty)
    });
    // A job without stored arguments gets a unit struct, which allows `enqueue(Tick)`.
    let body = if job.args().next().is_some() { quote!({ #(#fields),* }) } else { quote!(;) };
    quote! {
        #(#[doc = #docs])*
        #(#inherited)*
        #derive
        #[must_use = "a job does nothing until it is enqueued"]
        #[allow(missing_docs)]
        #vis struct #struct_name #body
    }
}

/// Returns the derives of the struct. A job with secret arguments gets its own `Debug`, see [`debug`].
fn derives(job: &JobModel) -> Vec<TokenStream> {
    let Some(list) = &job.options.derive else { return Vec::new() };
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(list.clone());
    let Ok(paths) = paths else { return vec![list.clone()] };
    let ours = |path: &&Path| !(is_debug(path) && has_secrets(job));
    paths.iter().filter(ours).map(ToTokens::to_token_stream).collect()
}

fn is_debug(path: &Path) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == "Debug")
}

fn has_secrets(job: &JobModel) -> bool {
    job.args().any(|arg| arg.secret)
}

/// Generates `Debug` for a struct that derives it and has secret arguments: they are shown as `***`.
pub(super) fn debug(job: &JobModel) -> Option<TokenStream> {
    let list = job.options.derive.as_ref().filter(|_| has_secrets(job))?;
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(list.clone()).ok()?;
    paths.iter().find(|path| is_debug(path))?;
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

fn docs(job: &JobModel) -> Vec<String> {
    let name = idents::plain(&job.function.sig.ident);
    let of = match &job.owner {
        Some(owner) => {
            format!("{}::{name}", idents::text(ToTokens::to_token_stream(&owner.path)))
        }
        None => name,
    };
    let mut docs = vec![format!(" Arguments of the [`{of}`] job.")];
    if !job.docs.is_empty() {
        docs.push(String::new());
        docs.extend(job.docs.iter().cloned());
    }
    docs
}
