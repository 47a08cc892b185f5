//! The attribute macros of Ratchet. They are documented at their re-exports in the `ratchet` crate.
//!
//! Generated code only refers to the `__private` module of the runtime. An expansion always contains the user's item,
//! even if there are errors.

mod breaker;
mod classify;
mod completion;
mod condition;
mod diag;
mod do_not_retry;
mod entries;
mod idents;
mod job;
mod jobs;
mod krate;
mod table;
#[cfg(test)]
mod tests;
mod values;

use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;

/// Turns an async function into a job.
#[proc_macro_attribute]
pub fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, job::expand)
}

/// Turns the methods of an `impl` block that are marked `#[job]` into jobs.
#[proc_macro_attribute]
pub fn jobs(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| jobs::expand(args, &item))
}

/// Marks an error as permanent: a job that fails with it goes to the dead-letter queue without a retry.
#[proc_macro_attribute]
pub fn do_not_retry(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, do_not_retry::expand)
}

/// Marks an error as permanent by a derive, with `#[do_not_retry]` as its helper attribute.
#[proc_macro_derive(DoNotRetry, attributes(do_not_retry))]
pub fn derive_do_not_retry(item: TokenStream) -> TokenStream {
    guarded(TokenStream::new(), item, |_, item| do_not_retry::derive(item))
}

/// Makes every variant of an error enum say what a failure with it means.
#[proc_macro_attribute]
pub fn classify(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| classify::expand(args, &item))
}

/// Turns a function over a step's output into a condition for the edges of a workflow.
#[proc_macro_attribute]
pub fn condition(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| condition::expand(args, &item))
}

/// Guards the service that a job calls with a circuit breaker.
#[proc_macro_attribute]
pub fn circuit_breaker(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| breaker::expand(&args, item))
}

/// Runs an expansion and catches panics, because a panic would break the whole file in the editor.
fn guarded(
    args: TokenStream,
    item: TokenStream,
    expand: fn(Tokens, Tokens) -> Tokens,
) -> TokenStream {
    let unchanged = item.clone();
    catch_unwind(AssertUnwindSafe(|| expand(args.into(), item.into()))).map_or_else(
        |_| {
            let bug = "this is a bug in ratchet, please report it: the macro panicked on this item";
            let error = syn::Error::new(proc_macro2::Span::call_site(), bug).to_compile_error();
            [unchanged, error.into()].into_iter().collect()
        },
        Into::into,
    )
}
