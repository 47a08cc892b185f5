//! Generates the implementation of a job that another crate declares: a unit struct and its `impl Handler`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use super::super::model::JobModel;
use super::{definition, implementation};
use crate::idents::local;
use crate::krate::item;
use crate::values::JobPath;

/// Generates the items that follow the function of an implementation.
///
/// ```text
/// pub struct SendEmailHandler;
/// const _: () = {
///     use ::ratchet::__private as __ratchet;
///     impl __ratchet::Handler for SendEmailHandler {
///         type Job = shop_api::SendEmail;
///         const DEF: __ratchet::JobDef = __ratchet::implemented(<shop_api::SendEmail as __ratchet::Job>::DEF, …);
///         fn run(job: shop_api::SendEmail, ctx: __ratchet::JobContext) -> __ratchet::Run {
///             let to = __ratchet::declared_argument::<_, String>(job.to);
///             …
///         }
///     }
///     __ratchet::submit! { __ratchet::Registration::implementing::<SendEmailHandler>() }
/// };
/// ```
pub(super) fn handler(job: &JobModel, JobPath(declared): &JobPath) -> TokenStream {
    let name = &job.struct_name;
    let constants = definition::constants(job);
    let (injections, inputs) = (definition::injections(job), definition::inputs(job));
    let blocking = job.options.blocking.is_present();
    let fallible = implementation::fallible(job);
    let ctx = implementation::context(job);
    let call = implementation::call(job, &ctx);
    let names = job.args().map(|arg| crate::idents::plain(&arg.ident));
    let this = if job.args().next().is_some() { local("job") } else { local("_job") };
    let fields = job.args().map(|arg| {
        let (ident, ty) = (&arg.ident, &arg.ty);
        let same = item("declared_argument", ty.span());
        quote_spanned!(ty.span()=> let #ident = #same::<_, #ty>(#this.#ident);)
    });
    let returns = &job.returns;
    let output = item("same_output", returns.span());
    // The types that are projected from the declaration are located at its path, where a type that is none is reported.
    let declared_trait = item("Declared", declared.span());
    let declared_job = quote_spanned!(declared.span()=> <#declared as #declared_trait>::Job);
    let job_trait = item("Job", declared.span());
    let declared_def = quote_spanned!(declared.span()=> <#declared_job as #job_trait>::DEF);
    let declared_output = quote_spanned!(declared.span()=> <#declared_job as #job_trait>::Output);
    let output = quote_spanned! {returns.span()=>
        #output::<#declared_output, __ratchet::Output<#returns, __FALLIBLE>>();
    };
    let span = job.function.sig.ident.span();
    let (here, implemented) = (item("here", span), item("implemented", span));
    let here = quote_spanned!(span=> #here!());
    quote! {
        #constants
        #fallible

        #[automatically_derived]
        impl __ratchet::Handler for #name {
            type Job = #declared_job;
            const DEF: __ratchet::JobDef =
                #implemented(#declared_def, &[#(#names),*], #injections, #inputs, #blocking, #here);

            fn run(#this: #declared_job, #ctx: __ratchet::JobContext) -> __ratchet::Run {
                #(#fields)*
                #output
                #call
            }
        }

        __ratchet::submit! { __ratchet::Registration::implementing::<#name>() }
    }
}

/// Generates the struct that stands for the implementation, for `.jobs([SendEmailHandler::JOB])`.
pub(super) fn structure(job: &JobModel, JobPath(declared): &JobPath) -> TokenStream {
    let (name, vis) = (&job.struct_name, &job.vis);
    let docs =
        format!("The implementation of `{}`.", crate::idents::text(declared.to_token_stream()));
    quote! {
        #[doc = #docs]
        #[derive(Debug, Clone, Copy)]
        #[allow(dead_code)]
        #vis struct #name;
    }
}
