//! The attributes of the function: which clash with `#[job]`, which belong to the struct, and which it inherits.

use proc_macro2::Span;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Path, Token, parse_quote_spanned};

use super::model::{Moved, Param};
use super::signature::{JobFn, is, is_lint};
use super::types;
use crate::diag::Errors;
use crate::idents;

/// Rejects a second `#[job]`, and `#[tokio::main]` and `#[test]`, which cannot share a function with `#[job]`.
///
/// Returns whether there is one of the latter.
pub(super) fn check_shared_attributes(function: &mut JobFn, errors: &mut Errors) -> bool {
    let mut clashes = false;
    if function.sig.ident == "main" {
        clashes = true;
        errors.push(
            &function.sig.ident,
            "the `main` function cannot be a job: give the job a function of its own, and enqueue it here",
        );
    }
    function.attrs.retain(|attr| {
        let again = is(attr, "job");
        let clash = is(attr, "main") || is(attr, "test");
        if again {
            errors.push(attr, "`#[job]` is applied twice");
        }
        if clash && !clashes {
            let name = idents::text(attr.path().to_token_stream());
            // What `#[tokio::test]` leaves behind if it is above `#[job]`.
            let name = if name.contains("prelude") { "test" } else { &name };
            let instead = if is(attr, "test") {
                "a test can call the job's function"
            } else {
                "enqueue the job in `main`"
            };
            errors.push(
                attr,
                format_args!("`#[job]` and `#[{name}]` cannot share a function; {instead}"),
            );
        }
        clashes |= clash;
        !again && !clash
    });
    clashes
}

/// Allows the lints that fire only because of what a job demands: `async`, owned arguments, and injected ones.
pub(super) fn allowed(JobFn { sig, body, .. }: &JobFn, params: &[Param]) -> Option<Attribute> {
    let awaits = body.as_ref().is_some_and(|body| types::mentions(body.stream(), "await"));
    let lints = [
        (sig.asyncness.is_some() && !awaits, quote!(clippy::unused_async)),
        (!params.is_empty(), quote!(clippy::needless_pass_by_value)),
        (sig.inputs.len() > 7, quote!(clippy::too_many_arguments)),
    ];
    let lints: Vec<_> =
        lints.into_iter().filter_map(|(needed, lint)| needed.then_some(lint)).collect();
    (!lints.is_empty()).then(|| parse_quote_spanned!(Span::call_site()=> #[allow(#(#lints),*)]))
}

/// Removes the attributes that belong to the struct: derives and their helpers.
pub(super) fn moved(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Moved {
    let mut moved = Moved::default();
    attrs.retain(|attr| {
        let derive = attr.path().is_ident("derive");
        let other = ["non_exhaustive", "serde", "schemars", "builder"];
        let other = other.iter().any(|name| attr.path().is_ident(name));
        if derive {
            let paths = attr.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
            match paths {
                Ok(paths) => moved.derives.extend(paths),
                Err(error) => errors.syntax(error),
            }
        }
        if other {
            moved.others.push(attr.clone());
        }
        !derive && !other
    });
    moved
}

/// Returns the lines of a doc comment.
pub(super) fn docs(attrs: &[Attribute]) -> Vec<String> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("doc"))
        .filter_map(|attr| match &attr.meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Returns the attributes that the struct inherits from the function: allowed lints, `#[deprecated]`, other docs.
pub(super) fn inherited(attrs: &[Attribute]) -> Vec<Attribute> {
    let allow = |attr: &Attribute| -> Option<Attribute> {
        let Meta::List(list) = &attr.meta else { return None };
        let lints = Punctuated::<Meta, Token![,]>::parse_terminated;
        let lints = syn::parse::Parser::parse2(lints, list.tokens.clone()).ok()?;
        // `expect` would require the struct to trigger the lint too.
        let lints = lints.iter().filter(|lint| matches!(lint, Meta::Path(_)));
        Some(parse_quote_spanned!(attr.span()=> #[allow(#(#lints),*)]))
    };
    attrs
        .iter()
        .filter_map(|attr| match () {
            () if is(attr, "deprecated") => Some(attr.clone()),
            // `#[doc(hidden)]` and `#[doc = include_str!(…)]`; plain text is copied by `docs`.
            () if attr.path().is_ident("doc") && docs(std::slice::from_ref(attr)).is_empty() => {
                Some(attr.clone())
            }
            () if is_lint(attr) && (is(attr, "allow") || is(attr, "expect")) => allow(attr),
            () => None,
        })
        .collect()
}
