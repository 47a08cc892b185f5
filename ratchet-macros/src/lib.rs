//! The attributes of Ratchet. Their manual stands on the re-exports of the facade, `ratchet`.
//!
//! Nothing here knows the runtime beyond the names in its `__private` module. A macro never fails: it returns the
//! user's item, what it made of it, and the errors.

mod breaker;
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

/// Makes an async function a job.
#[proc_macro_attribute]
pub fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, job::expand)
}

/// Makes the marked methods of an `impl` block jobs.
#[proc_macro_attribute]
pub fn jobs(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| jobs::expand(args, &item))
}

/// Sends jobs that fail with this error to the dead-letter queue at once.
#[proc_macro_attribute]
pub fn do_not_retry(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, do_not_retry::expand)
}

/// Makes a function over a step's output a condition for the edges of workflows.
#[proc_macro_attribute]
pub fn condition(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| condition::expand(args, &item))
}

/// Guards the service a job calls.
#[proc_macro_attribute]
pub fn circuit_breaker(args: TokenStream, item: TokenStream) -> TokenStream {
    guarded(args, item, |args, item| breaker::expand(&args, item))
}

/// A panic would take the editor's view of the whole file with it.
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
