//! Generates what a job needs as a step: the jobs that it can follow, and the constants of its inputs.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Type;

use super::super::model::{Injected, JobModel};
use super::super::types;

/// Generates the `StepAfter` implementation. A job with one unnamed `#[input]` can only follow jobs with that output. A
/// job with several follows none by its type alone. Any other job can follow every job.
pub(super) fn follows(job: &JobModel) -> TokenStream {
    let name = &job.struct_name;
    let mut unnamed = job.inputs().filter(|(_, source)| source.step.is_none());
    match (unnamed.next(), unnamed.next()) {
        (Some((input, source)), None) => {
            let ty = &input.ty;
            let spelled: Option<Type> = syn::parse2(ty.clone()).ok();
            match (source.all, spelled.as_ref().and_then(types::list_of)) {
                (false, _) => quote!(impl __ratchet::StepAfter<#ty> for #name {}),
                (true, Some(elem)) => quote!(impl __ratchet::StepAfter<#elem> for #name {}),
                // An alias of a `Vec`. The bound is on a parameter, so a type that is no list is reported once.
                (true, None) => quote! {
                    impl<__Parent> __ratchet::StepAfter<__Parent> for #name
                    where
                        #ty: __ratchet::ListOf<__Parent>,
                    {
                    }
                },
            }
        }
        // The types of the arguments may be the same, so the workflow binds them.
        (Some(_), Some(_)) => TokenStream::new(),
        (None, _) => follows_all(name),
    }
}

/// Generates the constants with which a workflow binds the inputs: `SendEmail::INPUT_RECEIPT`.
pub(super) fn input_refs(job: &JobModel) -> Option<TokenStream> {
    job.inputs().next()?;
    let JobModel { vis, struct_name, .. } = job;
    let input_refs = job.inputs().map(|(input, source)| {
        let Injected { name, ty, constant, .. } = input;
        let input_ref = input_constant(constant);
        let docs = format!(
            " The argument `{name}`, for the `{}` of a workflow.",
            if source.all { "input_all" } else { "input" }
        );
        let (ref_type, new) = if source.all {
            (quote!(InputListRef), quote!(list_reference))
        } else {
            (quote!(InputRef), quote!(reference))
        };
        quote! {
            #[doc = #docs]
            #vis const #input_ref: __ratchet::#ref_type<Self, #ty> = #constant.#new();
        }
    });
    Some(quote! {
        #[allow(dead_code, private_interfaces)]
        impl #struct_name {
            #(#input_refs)*
        }
    })
}

/// Returns `INPUT_RECEIPT` for the constant `__RECEIPT`.
fn input_constant(constant: &Ident) -> Ident {
    let name = constant.to_string();
    let name = name.strip_prefix("__").unwrap_or(&name);
    Ident::new(&format!("INPUT_{name}"), constant.span().resolved_at(Span::call_site()))
}

pub(super) fn follows_all(name: &Ident) -> TokenStream {
    quote!(impl<__Parent> __ratchet::StepAfter<__Parent> for #name {})
}
