//! The arguments of a job: which are stored, which are injected, and which are rejected.

use darling::util::SpannedValue;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Generics, Pat, PatIdent, PatType, Path, PathArguments, Signature, Type,
};

use super::attributes::docs;
use super::marks::{self, FormerName, Marks};
use super::model::{Arg, From, Injected, Owner, Param};
use super::types::{self, Erase, FindUnowned, Unowned};
use crate::diag::Errors;
use crate::idents;
use crate::krate;

pub(crate) fn lower(sig: &Signature, owner: Option<&Owner>, errors: &mut Errors) -> Vec<Param> {
    let mut params = Vec::new();
    let mut taken = Vec::new();
    if let Some(owner) = owner
        && let Some(receiver) = &owner.receiver
    {
        let span = receiver.self_token.span();
        let state = krate::item("State", span);
        let path = respanned(owner.path.to_token_stream(), span);
        let constant = Ident::new("__SELF", span);
        taken.push(constant.clone());
        params.push(Param::Injected(Injected {
            name: "self".to_owned(),
            ty: quote_spanned!(span=> #state<#path>),
            constant,
            from: From::Runtime,
        }));
    }
    for input in &sig.inputs {
        let FnArg::Typed(argument) = input else { continue };
        if let Some(param) = param(argument, &sig.generics, owner, &taken, errors) {
            taken.push(match &param {
                Param::Stored(arg) => arg.constant.clone(),
                Param::Injected(injected) => injected.constant.clone(),
            });
            params.push(param);
        }
    }
    check_injected_once(sig, &params, errors);
    params
}

/// Returns the same tokens located at `span`. Their hygiene is unchanged.
fn respanned(tokens: TokenStream, span: Span) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span.resolved_at(token.span()));
            token
        })
        .collect()
}

/// Returns the name of an argument, or `None` for a receiver or a pattern.
pub(crate) fn name(input: &FnArg) -> Option<&Ident> {
    match input {
        FnArg::Typed(PatType { pat, .. }) => match &**pat {
            Pat::Ident(pat) => Some(&pat.ident),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    }
}

fn param(
    argument: &PatType,
    generics: &Generics,
    owner: Option<&Owner>,
    taken: &[Ident],
    errors: &mut Errors,
) -> Option<Param> {
    let marks = marks::read(&argument.attrs, errors);
    if let Some(inject) = &marks.inject {
        if let Some((input, _)) = &marks.input {
            errors.push(input, "an argument comes from the runtime or from a step, not from both");
        }
        return injected(argument, &marks, inject, From::Runtime, owner, taken, errors);
    }
    if let Some((input, source)) = &marks.input {
        let from = From::Step(source.clone());
        return injected(argument, &marks, input, from, owner, taken, errors);
    }
    let options = marks.options.unwrap_or_default();
    let pat = match &*argument.pat {
        pat @ Pat::TupleStruct(_) if comes_from_runtime(&argument.ty) => {
            let (pat, ty) = (idents::text(pat.to_token_stream()), types::text(&argument.ty));
            errors.push(
                &argument.pat,
                format_args!(
                    "`{ty}` comes from the runtime: add `#[inject]`, `#[inject] {pat}: {ty}`"
                ),
            );
            return None;
        }
        pat => stored_name(pat, errors)?,
    };
    let ident = pat.ident.clone();
    let mut ty = (*argument.ty).clone();
    if !check_forgotten_inject(&ident, &ty, errors) {
        check_owned(&ident, &ty, marks.with.as_ref(), generics, errors);
    }
    let default = options.default.map(|default| default.into_inner().for_type(&ty));
    Erase::new(generics).in_argument(&mut ty);
    types::resolve_self(&mut ty, owner.map(|owner| &owner.path));
    Some(Param::Stored(Box::new(Arg {
        constant: idents::constant(&ident, taken),
        ident,
        ty,
        docs: docs(&argument.attrs),
        secret: options.secret.is_present() || types::has_secret(&argument.ty),
        marked_secret: options.secret.is_present(),
        aliases: options.aliases.into_iter().map(|FormerName(name)| name).collect(),
        default,
        with: marks.with,
    })))
}

fn injected(
    argument: &PatType,
    marks: &Marks,
    inject: &Attribute,
    from: From,
    owner: Option<&Owner>,
    taken: &[Ident],
    errors: &mut Errors,
) -> Option<Param> {
    let options = marks.options.as_ref();
    let secret = options.filter(|options| options.secret.is_present());
    let default = options.and_then(|options| options.default.as_ref());
    let written = [
        (secret.map(|options| options.secret.span()), "secret"),
        (default.map(SpannedValue::span), "default"),
        (options.and_then(|options| options.aliases.first()).map(|alias| alias.0.span()), "alias"),
    ];
    if let Some(with) = &marks.with {
        errors.push(with, "an argument that is not stored cannot have a `#[serde(with)]`");
    }
    for (at, what) in written {
        let Some(at) = at else { continue };
        errors.push_at(
            at,
            match from {
                From::Runtime => {
                    format!("an injected argument is not stored, so it cannot be `{what}`")
                }
                From::Step(_) => format!(
                    "an argument from a step is not stored with the job, so it cannot be `{what}`"
                ),
            },
        );
    }
    // A pattern is allowed here because an injected argument is not stored under its name.
    let name = match &*argument.pat {
        Pat::Ident(pat) => idents::plain(&pat.ident),
        pat => idents::text(pat.to_token_stream()),
    };
    if let (Type::Reference(borrow), From::Step(_)) = (&*argument.ty, &from) {
        let owned = types::text(&types::owned(borrow));
        errors.push(
            borrow,
            format_args!("an output is read back from the store; take `{owned}` instead"),
        );
        return None;
    }
    if let Type::Reference(borrow) = &*argument.ty {
        let handle = idents::text(borrow.elem.to_token_stream());
        errors.push(borrow, format_args!("take `{handle}` by value; it is a cheap handle"));
        return None;
    }
    let mut ty = (*argument.ty).clone();
    types::resolve_self(&mut ty, owner.map(|owner| &owner.path));
    let ident = match &*argument.pat {
        Pat::Ident(pat) => pat.ident.clone(),
        _ => Ident::new("injected", inject.span()),
    };
    let constant = idents::constant(&ident, taken);
    Some(Param::Injected(Injected { name, ty: ty.to_token_stream(), constant, from }))
}

/// Returns the name of a stored argument. It becomes a field, so it must be a plain identifier.
fn stored_name<'a>(pat: &'a Pat, errors: &mut Errors) -> Option<&'a PatIdent> {
    let unnamed = "a job argument needs a name: it becomes a field of the stored job; destructure inside the body";
    match pat {
        Pat::Ident(named) if named.subpat.is_some() => errors.push(pat, unnamed),
        Pat::Ident(named) => {
            if let Some(by_ref) = &named.by_ref {
                errors.push(by_ref, "a job argument cannot be bound by `ref`");
            }
            return Some(named);
        }
        pat => errors.push(pat, unnamed),
    }
    None
}

fn check_owned(
    name: &Ident,
    ty: &Type,
    with: Option<&Path>,
    generics: &Generics,
    errors: &mut Errors,
) {
    let name = idents::plain(name);
    match FindUnowned::look(generics, ty) {
        Some(Unowned::Borrow(borrow)) => {
            let owned = types::text(&types::owned(&borrow));
            errors.push(
                borrow,
                format_args!("job argument `{name}` cannot borrow: it is stored and read back later by another process; take `{owned}` instead"),
            );
        }
        Some(Unowned::Lifetime(lifetime)) => errors.push(
            lifetime,
            format_args!("job argument `{name}` cannot name a lifetime: it must own its data"),
        ),
        // rustc reports `_` in the function.
        Some(Unowned::Inferred) => errors.silent(),
        Some(Unowned::Elided(path)) => {
            let text = idents::text(path.to_token_stream());
            errors.push(
                path,
                format_args!(
                    "job argument `{name}` must own its data: take `String`, or `{}`",
                    text.replacen('<', "<'static, ", 1)
                ),
            );
        }
        Some(Unowned::Shared(path)) => {
            let text = idents::text(path.to_token_stream());
            let arc = text.replacen("Rc", "Arc", 1).replace("rc::", "sync::");
            errors.push(
                path,
                format_args!("job argument `{name}` must be `Send`: a worker may run the job on another thread; take `{arc}`, or the value itself"),
            );
        }
        Some(Unowned::Long(array)) if with.is_none() => {
            let elem = types::text(&array.elem);
            errors.push(
                &array,
                format_args!("job argument `{name}` must have at most 32 elements, the limit of serde for arrays; take `Vec<{elem}>`, or add `#[serde(with = \"module\")]`"),
            );
        }
        Some(Unowned::Opaque(opaque)) => errors.push(
            opaque,
            format_args!(
                "job argument `{name}` needs a concrete type: it becomes a field of the stored job"
            ),
        ),
        Some(Unowned::Long(_)) | None => {}
    }
}

/// Suggests `#[inject]` for a type spelled like an injected one. Such a type would be rejected later, with a less
/// helpful message.
fn check_forgotten_inject(name: &Ident, ty: &Type, errors: &mut Errors) -> bool {
    let runtime = comes_from_runtime(ty);
    if runtime {
        let text = types::text(without_reference(ty));
        errors.push(
            ty,
            format_args!("argument `{name}` comes from the runtime: add `#[inject]`, `#[inject] {name}: {text}`"),
        );
    }
    runtime
}

/// Returns whether an argument of this type can only be injected.
fn comes_from_runtime(ty: &Type) -> bool {
    let Type::Path(path) = without_reference(ty) else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let generic = matches!(last.arguments, PathArguments::AngleBracketed(_));
    match last.ident.to_string().as_str() {
        "JobContext" => true,
        "State" | "Finished" => generic,
        _ => false,
    }
}

fn without_reference(ty: &Type) -> &Type {
    match ty {
        Type::Reference(borrow) => &borrow.elem,
        ty => ty,
    }
}

fn check_injected_once(sig: &Signature, params: &[Param], errors: &mut Errors) {
    let mut seen = Vec::new();
    for param in params {
        let Param::Injected(injected @ Injected { from: From::Runtime, .. }) = param else {
            continue;
        };
        let text = idents::text(injected.ty.clone());
        if seen.contains(&text) {
            let job = idents::plain(&sig.ident);
            errors.push(&injected.ty, format_args!("job `{job}` injects `{text}` twice"));
        }
        seen.push(text);
    }
}
