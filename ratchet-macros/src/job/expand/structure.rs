//! Generates the invocation struct, with the stored arguments as fields.

use proc_macro2::TokenStream;
use quote::quote;

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
    let derive = job.options.derive.as_ref().map(|list| quote!(#[derive(#list)]));
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

fn docs(job: &JobModel) -> Vec<String> {
    let name = idents::plain(&job.function.sig.ident);
    let of = match &job.owner {
        Some(owner) => {
            format!("{}::{name}", idents::text(quote::ToTokens::to_token_stream(&owner.path)))
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
