//! Rules for jobs that are declared in one crate and implemented in another.

use proc_macro2::Ident;
use syn::ext::IdentExt;

use super::model::{From, Param};
use super::options::Options;
use super::signature::JobFn;
use crate::diag::Errors;

/// The options of an implementation. All others belong to the declaration.
const OF_IMPLEMENTATIONS: [&str; 4] = ["implements", "blocking", "struct_name", "crate"];

/// Reports what a declaration or an implementation cannot have.
pub(super) fn check(
    function: &JobFn,
    options: &Options,
    params: &[Param],
    breaker: bool,
    errors: &mut Errors,
) {
    if options.implements.is_some() {
        check_implementation(function, options, params, breaker, errors);
    } else if function.body.is_none() {
        check_declaration(options, params, errors);
    }
}

fn check_declaration(options: &Options, params: &[Param], errors: &mut Errors) {
    let belongs = "belongs to the implementation";
    for key in options.keys.iter().filter(|key| key.unraw() == "blocking") {
        errors.push(key, format_args!("`blocking` {belongs}, `#[job(implements = …, blocking)]`"));
    }
    for param in params {
        if let Param::Injected(injected) = param
            && let From::Runtime = injected.from
        {
            errors.push(
                &injected.ty,
                format_args!(
                    "an `#[inject]` argument {belongs} of the job; remove it from the declaration"
                ),
            );
        }
    }
}

fn check_implementation(
    function: &JobFn,
    options: &Options,
    params: &[Param],
    breaker: bool,
    errors: &mut Errors,
) {
    let of_declaration = |key: &&Ident| {
        let key = key.unraw();
        !OF_IMPLEMENTATIONS.iter().any(|allowed| key == allowed)
    };
    for key in options.keys.iter().filter(of_declaration) {
        errors.push(
            key,
            format_args!("`{}` belongs to the declaration of the job; an implementation takes `blocking`, `struct_name` and `crate`", key.unraw()),
        );
    }
    if breaker {
        errors.push(
            &function.sig.ident,
            "`#[circuit_breaker]` belongs to the declaration of the job",
        );
    }
    for param in params {
        if let Param::Stored(arg) = param {
            let given = [
                (arg.marked_secret, "secret"),
                (arg.default.is_some(), "default"),
                (!arg.aliases.is_empty(), "alias"),
                (arg.with.is_some(), "serde(with)"),
            ];
            for (_, what) in given.into_iter().filter(|(given, _)| *given) {
                errors.push(
                    &arg.ident,
                    format_args!("`{what}` belongs to the declaration of the job; an implementation only names its arguments"),
                );
            }
        }
    }
}
