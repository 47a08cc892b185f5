//! The arguments of a job: which are stored, which are injected, and which are rejected.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Generics, LitStr, Pat, PatIdent, PatType, PathArguments, Signature, Type,
};

use super::lower::docs;
use super::model::{Arg, Default, From, Injected, Owner, Param};
use super::signature::{arguments, is, is_lint};
use super::types::{self, Erase, FindUnowned, Unowned};
use crate::diag::Errors;
use crate::entries::{self, Given};
use crate::idents;
use crate::krate;
use crate::table::{Opt, Table, Takes};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "job",
    options: &[
        Opt { key: "default", takes: Takes::OptionalValue, example: "default", help: "Rows written before the argument existed get this value." },
        Opt { key: "secret", takes: Takes::Flag, example: "secret", help: "Never shown: `***` in `Debug`, and left out of errors." },
    ],
    foreign: &[("redact", "secret"), ("sensitive", "secret"), ("hidden", "secret"), ("skip", "default"), ("optional", "default")],
    positional: "an argument takes `#[job(default)]`, `#[job(default = value)]` and `#[job(secret)]`",
    repeatable: &[],
};

/// The parsed attributes of one argument.
#[derive(std::default::Default)]
struct Marks {
    inject: Option<Attribute>,
    input: Option<(Attribute, Option<LitStr>)>,
    secret: Option<Ident>,
    default: Option<(Ident, Default)>,
}

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
    check_one_unnamed_input(&params, errors);
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
    let marks = marks(&argument.attrs, errors);
    if let Some(inject) = &marks.inject {
        if let Some((input, _)) = &marks.input {
            errors.push(input, "an argument comes from the runtime or from a step, not from both");
        }
        return injected(argument, &marks, inject, From::Runtime, owner, taken, errors);
    }
    if let Some((input, step)) = &marks.input {
        let from = From::Step(step.clone());
        return injected(argument, &marks, input, from, owner, taken, errors);
    }
    let pat = stored_name(&argument.pat, errors)?;
    let ident = pat.ident.clone();
    let mut ty = (*argument.ty).clone();
    if !check_forgotten_inject(&ident, &ty, errors) {
        check_owned(&ident, &ty, generics, errors);
    }
    Erase::new(generics).in_argument(&mut ty);
    types::resolve_self(&mut ty, owner.map(|owner| &owner.path));
    Some(Param::Stored(Box::new(Arg {
        constant: idents::constant(&ident, taken),
        ident,
        ty,
        docs: docs(&argument.attrs),
        secret: marks.secret.is_some(),
        default: marks.default.map(|(_, default)| default),
    })))
}

fn marks(attrs: &[Attribute], errors: &mut Errors) -> Marks {
    let mut marks = Marks::default();
    for attr in attrs {
        if attr.path().is_ident("doc") || is_lint(attr) {
            continue;
        }
        if is(attr, "inject") {
            if !matches!(attr.meta, syn::Meta::Path(_)) {
                errors.push(attr, "`#[inject]` takes no options");
            }
            marks.inject = Some(attr.clone());
        } else if is(attr, "input") {
            marks.input = Some((attr.clone(), input_step(attr, errors)));
        } else if is(attr, "job") {
            for entry in entries::read(&OPTIONS, arguments(attr), errors).entries {
                match (entry.option.key, entry.given) {
                    ("default", Given::Value(value)) => {
                        marks.default = Some((entry.key, Default::Value(value)));
                    }
                    ("default", _) => marks.default = Some((entry.key, Default::OfType)),
                    _ => marks.secret = Some(entry.key),
                }
            }
        } else if is(attr, "cfg") || is(attr, "cfg_attr") {
            errors.push(
                attr,
                "`#[cfg]` on a job argument would make the stored JSON depend on build flags; put the `#[cfg]` on the whole job instead",
            );
        } else {
            let name = idents::text(attr.path().to_token_stream());
            errors.push(
                attr,
                format_args!("`#[{name}]` means nothing on a job argument; it takes `#[inject]`, `#[input]`, `#[job(default)]` and `#[job(secret)]`"),
            );
        }
    }
    marks
}

#[rustfmt::skip]
pub(crate) const INPUT: Table = Table {
    attribute: "input",
    options: &[
        Opt { key: "step", takes: Takes::Text, example: r#"step = "charge""#, help: "The step of the workflow whose output it is." },
    ],
    foreign: &[("from", "step"), ("parent", "step"), ("name", "step")],
    positional: "expected `step = \"...\"`",
    repeatable: &[],
};

/// Returns the step named by `#[input(step = "charge")]`.
fn input_step(attr: &Attribute, errors: &mut Errors) -> Option<LitStr> {
    if matches!(attr.meta, syn::Meta::Path(_)) {
        return None;
    }
    let entries = entries::read(&INPUT, arguments(attr), errors).entries;
    match crate::values::text(entries.first()?, errors)? {
        crate::values::Value::Literal(name, _) if name.is_empty() => {
            errors.push(attr, "the name of a step must not be empty");
            None
        }
        crate::values::Value::Literal(name, lit) => Some(LitStr::new(&name, lit.span())),
        crate::values::Value::Constant(constant) => {
            errors.push(constant, "the name of a step must be a string literal here");
            None
        }
    }
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
    for (key, what) in [
        (&marks.secret, "secret"),
        (&marks.default.as_ref().map(|(key, _)| key.clone()), "default"),
    ] {
        if let Some(key) = key {
            errors.push(
                key,
                match from {
                    From::Runtime => format!("an injected argument is not stored, so it cannot be `{what}`"),
                    From::Step(_) => format!("an argument from a step is not stored with the job, so it cannot be `{what}`"),
                },
            );
        }
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

fn check_owned(name: &Ident, ty: &Type, generics: &Generics, errors: &mut Errors) {
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
        Some(Unowned::Opaque(opaque)) => errors.push(
            opaque,
            format_args!(
                "job argument `{name}` needs a concrete type: it becomes a field of the stored job"
            ),
        ),
        None => {}
    }
}

/// Suggests `#[inject]` for a type spelled like an injected one. Such a type would be rejected later, with a less
/// helpful message.
fn check_forgotten_inject(name: &Ident, ty: &Type, errors: &mut Errors) -> bool {
    let bare = match ty {
        Type::Reference(borrow) => &borrow.elem,
        ty => ty,
    };
    let Type::Path(path) = bare else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let generic = matches!(last.arguments, PathArguments::AngleBracketed(_));
    let runtime = match last.ident.to_string().as_str() {
        "JobContext" => true,
        "State" | "Finished" => generic,
        _ => false,
    };
    if runtime {
        let text = types::text(bare);
        errors.push(
            ty,
            format_args!("argument `{name}` comes from the runtime: add `#[inject]`, `#[inject] {name}: {text}`"),
        );
    }
    runtime
}

/// Rejects a second `#[input]` without a step name: its step would be ambiguous.
fn check_one_unnamed_input(params: &[Param], errors: &mut Errors) {
    let unnamed = params.iter().filter_map(|param| match param {
        Param::Injected(injected @ Injected { from: From::Step(None), .. }) => Some(injected),
        _ => None,
    });
    for second in unnamed.skip(1) {
        errors.push(
            &second.ty,
            "there is one step before; name the others: `#[input(step = \"...\")]`",
        );
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
