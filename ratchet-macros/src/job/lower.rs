//! Builds the model from the signature and the options. Each rule has its own `check_…` function.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{
    FnArg, GenericParam, Path, Receiver, ReceiverKind, ReturnType, Safety, Signature, Type,
    parse_quote_spanned,
};

use super::attributes::{allowed, check_shared_attributes, docs, inherited, moved};
use super::declaration;
use super::model::{JobModel, Owner};
use super::options::Options;
use super::params;
use super::signature::{JobFn, is};
use super::types::{self, Erase, FindUnowned, Unowned};
use crate::breaker::Breaker;
use crate::diag::Errors;
use crate::idents;
use crate::values::StructName;

/// Returns the model, or only the function if generating a struct would cause follow-up errors.
pub(crate) fn lower(
    mut function: JobFn,
    mut options: Options,
    breaker: Option<Breaker>,
    owner: Option<&Path>,
    errors: &mut Errors,
) -> Result<JobModel, Box<JobFn>> {
    let moved = moved(&mut function.attrs, errors);
    let clash = check_shared_attributes(&mut function, errors);
    let fatal = check_body(&function, &options, owner, errors)
        | check_free_function(&function.sig, owner, errors)
        | has_duplicate_arguments(&function.sig);
    let receiver = match owner {
        Some(_) => check_receiver(&function.sig, errors),
        None => None,
    };
    // `#[tokio::test]` above `#[job]` has removed the `async` already.
    if !clash {
        check_async(&function.sig, &options, errors);
    }
    check_qualifiers(&function.sig, errors);
    check_generics(&function.sig, errors);
    let owner = owner.map(|path| Owner { path: path.clone(), receiver });
    let params = params::lower(&function.sig, owner.as_ref(), errors);
    let returns = returns(&function.sig, owner.as_ref(), errors);
    function.strip_arguments();
    if !errors.is_empty() {
        types::complete_lifetimes(&mut function.sig);
    }
    if fatal {
        return Err(Box::new(function));
    }
    let inherited = inherited(&function.attrs);
    function.attrs.extend(allowed(&function, &params));
    declaration::check(&function, &options, &params, breaker.is_some(), errors);
    let struct_name = struct_name(&function.sig, &mut options, owner.as_ref(), errors);
    let struct_name = check_taken(struct_name, &function.sig, errors);
    let stored_name = stored_name(&function.sig, &options, owner.as_ref(), errors);
    Ok(JobModel {
        struct_name,
        stored_name,
        vis: function.vis.clone(),
        docs: docs(&function.attrs),
        inherited,
        moved,
        deprecated: function.attrs.iter().any(|attr| is(attr, "deprecated")),
        params,
        returns,
        options,
        breaker,
        owner,
        function,
    })
}

/// Rejects a missing body where it cannot be a declaration.
fn check_body(
    function: &JobFn,
    options: &Options,
    owner: Option<&Path>,
    errors: &mut Errors,
) -> bool {
    if function.body.is_some() {
        return false;
    }
    let problem = if options.implements.is_some() {
        "the implementation of a job needs a body"
    } else if owner.is_some() {
        "a method needs a body; a job is declared without one by a free function"
    } else {
        return false;
    };
    errors.push(&function.sig.ident, problem);
    true
}

/// Rejects a function with a receiver or `Self`: it is inside an `impl` block, which cannot contain a struct.
fn check_free_function(sig: &Signature, owner: Option<&Path>, errors: &mut Errors) -> bool {
    if owner.is_some() {
        return false;
    }
    let remedy = "put `#[jobs]` on the `impl` block to make its methods jobs";
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        let mut bare = receiver.clone();
        bare.attrs.clear();
        errors.push(bare, format_args!("a job outside of `#[jobs]` cannot take `self`; {remedy}"));
        return true;
    }
    let mut found = types::FindSelf::default();
    found.visit_signature(sig);
    if let Some(at) = &found.0 {
        errors.push(at, format_args!("`Self` has no meaning in a free function; {remedy}"));
    }
    found.0.is_some()
}

fn check_receiver(sig: &Signature, errors: &mut Errors) -> Option<Receiver> {
    let Some(FnArg::Receiver(receiver)) = sig.inputs.first() else { return None };
    let mut bare = receiver.clone();
    bare.attrs.clear();
    let shared = "a job shares its service with every other run; take `&self`";
    match &receiver.kind {
        ReceiverKind::Reference(_, None, None) => {}
        ReceiverKind::Reference(_, Some(lifetime), None) => {
            errors.push(lifetime, "a job cannot take lifetimes; take `&self`");
        }
        _ => errors.push(&bare, shared),
    }
    for attr in &receiver.attrs {
        errors.push(attr, "`&self` is injected by itself; remove the attribute");
    }
    Some(bare)
}

/// Returns whether two arguments share a name. rustc reports this itself (E0415); a struct would report it again.
fn has_duplicate_arguments(sig: &Signature) -> bool {
    let names: Vec<_> = sig.inputs.iter().filter_map(params::name).collect();
    names.iter().enumerate().any(|(i, name)| names[..i].contains(name))
}

fn check_async(sig: &Signature, options: &Options, errors: &mut Errors) {
    let name = idents::plain(&sig.ident);
    match (&sig.asyncness, options.blocking.is_present()) {
        (Some(_), true) => errors.push_at(
            options.blocking.span(),
            format_args!("`blocking` is for a plain `fn`, and job `{name}` is async: remove one of the two"),
        ),
        // A `blocking` with a value was reported already.
        (None, false) if !options.written("blocking") => errors.push(
            sig.fn_token,
            format_args!("job `{name}` must be an `async fn`; if it blocks its thread write `#[job(blocking)]`"),
        ),
        _ => {}
    }
}

fn check_qualifiers(sig: &Signature, errors: &mut Errors) {
    if let Some(constness) = &sig.constness {
        errors.push(constness, "a job cannot be a `const fn`: it runs on a worker");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.push(
            token,
            "a job cannot be an `unsafe fn`: the worker calls it and cannot uphold a safety contract",
        );
    }
    if let Some(abi) = &sig.abi {
        errors.push(abi, "a job cannot have an `extern` ABI");
    }
    if let Some(variadic) = &sig.variadic {
        errors.push(variadic.dots, "a job cannot take `...`");
    }
}

fn check_generics(sig: &Signature, errors: &mut Errors) {
    let name = idents::plain(&sig.ident);
    let generics = &sig.generics;
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if generics.params.iter().any(|param| !is_lifetime(param)) {
        errors.push(
            generics,
            format_args!("job `{name}` cannot be generic: the worker finds it by name alone, so every argument needs one concrete type"),
        );
    } else if !generics.params.is_empty() {
        errors.push(
            generics,
            format_args!("job `{name}` cannot take lifetimes: its arguments are stored, so they must own their data"),
        );
    } else if let Some(clause) = &generics.where_clause {
        errors.push(clause, "a job cannot have a where clause");
    }
}

fn returns(sig: &Signature, owner: Option<&Owner>, errors: &mut Errors) -> Type {
    let nothing = |span| parse_quote_spanned!(span=> ());
    let ReturnType::Type(_, written) = &sig.output else { return nothing(sig.ident.span()) };
    let mut found = types::FindImpl::default();
    found.visit_type(written);
    if let Some(found) = &found.0 {
        errors.push(found, "a job cannot return `impl Trait`; name the type");
        return nothing(written.span());
    }
    if let Type::Never(never) = &**written {
        errors.push(never, "a job cannot return `!`: it has to end");
        return nothing(written.span());
    }
    if let Some((error, remedy)) = types::unsuitable_error(written) {
        let text = types::text(error);
        errors.push(error, format_args!("`{text}` cannot be the error of a job; {remedy}"));
        return nothing(written.span());
    }
    let unowned = types::borrowed_result(written)
        .is_none()
        .then(|| FindUnowned::look(&sig.generics, written));
    match unowned.flatten() {
        // rustc reports `_` in the function.
        Some(Unowned::Inferred) => {
            errors.silent();
            return nothing(written.span());
        }
        Some(Unowned::Lifetime(lifetime)) => {
            errors.push(lifetime, "a job cannot return a borrow: its result is stored and read back; return a type that owns its data");
            return nothing(written.span());
        }
        Some(Unowned::Elided(path)) => {
            let text = idents::text(path.to_token_stream()).replacen('<', "<'static, ", 1);
            errors.push(path, format_args!("a job cannot return a borrow: its result is stored and read back; return `String`, or `{text}`"));
            return nothing(written.span());
        }
        _ => {}
    }
    if let Some(borrow) = types::borrowed_result(written) {
        let (job, instead) = (idents::plain(&sig.ident), types::text(&types::owned(borrow)));
        errors.push(
            borrow,
            format_args!("job `{job}` cannot return a borrow: its result is stored and read back; return `{instead}` instead"),
        );
        return nothing(written.span());
    }
    let mut returns = (**written).clone();
    types::resolve_self(&mut returns, owner.map(|owner| &owner.path));
    Erase::new(&sig.generics).in_return(&mut returns);
    returns
}

/// Returns the name of the struct: the function's name in `PascalCase`, prefixed with the service's for a method.
fn struct_name(
    sig: &Signature,
    options: &mut Options,
    owner: Option<&Owner>,
    errors: &mut Errors,
) -> Ident {
    if let Some(StructName(name)) = options.struct_name.take() {
        if !idents::shadows_prelude(&idents::plain(&name)) {
            return name;
        }
        errors.push(
            &name,
            format_args!(
                "`{name}` would shadow `{name}` of the prelude; choose another `struct_name`"
            ),
        );
    }
    let name = idents::plain(&sig.ident);
    let service = owner.and_then(|owner| owner.path.segments.last()).map(|segment| &segment.ident);
    let suffix = if options.implements.is_some() { "Handler" } else { "" };
    let service = service.map(idents::plain).unwrap_or_default();
    let pascal = format!("{service}{}{suffix}", idents::pascal_case(&name));
    let hint = "give the struct another name with `struct_name = …`";
    if idents::shadows_prelude(&pascal) {
        let message = match pascal.as_str() {
            "Self" => format!("the struct of job `{name}` cannot be named `Self`; {hint}"),
            _ => format!(
                "the struct generated for job `{name}` would shadow `{pascal}` of the prelude; {hint}"
            ),
        };
        errors.push(&sig.ident, message);
        return ident(&format!("{pascal}Job"), sig.ident.span());
    }
    if pascal == name && owner.is_none() {
        errors.push(
            &sig.ident,
            format_args!(
                "job `{name}` and its struct would share one name; write the function in snake_case"
            ),
        );
        return ident(&format!("{pascal}Job"), sig.ident.span());
    }
    if syn::parse_str::<Ident>(&pascal).is_err() {
        errors.push(&sig.ident, format_args!("no struct can be named after job `{name}`; {hint}"));
        return ident("UnnamedJob", sig.ident.span());
    }
    ident(&pascal, sig.ident.span())
}

/// Rejects a struct that would have the name of a type in the signature: rustc would mix them up.
fn check_taken(name: Ident, sig: &Signature, errors: &mut Errors) -> Ident {
    let mut found = types::FindNamed { name: &name, found: None };
    found.visit_signature(sig);
    let Some(at) = found.found else { return name };
    let job = idents::plain(&sig.ident);
    errors.push(
        at,
        format_args!("the struct generated for job `{job}` would have the name of this type, `{name}`; give it another one with `struct_name = {name}Job`"),
    );
    ident(&format!("{name}Job"), name.span())
}

fn ident(name: &str, span: Span) -> Ident {
    Ident::new(name, span)
}

/// Returns the stored name: `send_email`, or `service.charge` for a method.
fn stored_name(
    sig: &Signature,
    options: &Options,
    owner: Option<&Owner>,
    errors: &mut Errors,
) -> String {
    let name = idents::plain(&sig.ident);
    if !name.is_ascii() && options.name.is_none() {
        errors.push(
            &sig.ident,
            format_args!("the stored name of a job is ASCII; add `name = \"…\"` to job `{name}`"),
        );
        return "unnamed".to_owned();
    }
    match owner.and_then(|owner| owner.path.segments.last()) {
        Some(service) => format!("{}.{name}", idents::snake_case(&idents::plain(&service.ident))),
        None => name,
    }
}
