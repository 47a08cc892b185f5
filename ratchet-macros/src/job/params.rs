//! The arguments of a job: which are stored, which are injected, and which are rejected.

use darling::util::{Flag, SpannedValue};
use darling::{Error, FromMeta};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, ExprLit, FnArg, Generics, Lit, LitStr, Meta, MetaNameValue, Pat, PatIdent,
    PatType, Path, PathArguments, Signature, Type, parse_quote_spanned,
};

use super::lower::docs;
use super::model::{Arg, Default, From, Injected, Owner, Param};
use super::signature::{arguments, is, is_lint};
use super::types::{self, Erase, FindUnowned, Unowned};
use crate::diag::{Errors, did_you_mean};
use crate::entries;
use crate::idents;
use crate::krate;
use crate::table::{Opt, Table, Takes};
use crate::values::Value;

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "job",
    options: &[
        Opt { key: "default", takes: Takes::OptionalValue, example: "default", help: "Rows written before the argument existed get this value." },
        Opt { key: "alias", takes: Takes::Text, example: r#"alias = "recipient""#, help: "A former name, under which older rows stored the argument; repeat it for several." },
        Opt { key: "secret", takes: Takes::Flag, example: "secret", help: "Never shown: `***` in `Debug`, and left out of errors." },
    ],
    foreign: &[("rename", "alias"), ("redact", "secret"), ("sensitive", "secret"), ("hidden", "secret"), ("skip", "default"), ("optional", "default")],
    elsewhere: &[],
    positional: "an argument takes `#[job(default)]`, `#[job(default = value)]`, `#[job(alias = \"...\")]` and `#[job(secret)]`",
    repeatable: &["alias"],
};

/// The options of `#[job(…)]` on an argument.
#[derive(std::default::Default, FromMeta)]
#[darling(default)]
struct ArgOptions {
    secret: Flag,
    #[darling(multiple, rename = "alias")]
    aliases: Vec<FormerName>,
    default: Option<SpannedValue<Default>>,
}

/// A former name of an argument.
struct FormerName(LitStr);

impl FromMeta for FormerName {
    fn from_meta(item: &Meta) -> darling::Result<Self> {
        let expected = "expected the former name of the argument, `alias = \"recipient\"`";
        match item {
            Meta::NameValue(MetaNameValue {
                value: Expr::Lit(ExprLit { lit: Lit::Str(name), .. }),
                ..
            }) => match syn::parse_str::<Ident>(name.value().trim_start_matches("r#")) {
                Ok(_) => Ok(Self(name.clone())),
                Err(_) => Err(Error::custom(expected).with_span(name)),
            },
            Meta::NameValue(pair) => Err(Error::custom(expected).with_span(&pair.value)),
            item => Err(Error::custom(expected).with_span(item)),
        }
    }
}

/// The options of `#[input(…)]`.
#[derive(std::default::Default, FromMeta)]
#[darling(default)]
struct InputOptions {
    step: Option<StepName>,
}

/// The name of a step: a literal that is not empty.
struct StepName(LitStr);

impl FromMeta for StepName {
    fn from_meta(item: &Meta) -> darling::Result<Self> {
        match Value::<String>::from_meta(item)? {
            Value::Literal(name, Lit::Str(lit)) if !name.is_empty() => Ok(Self(lit)),
            Value::Constant(constant) => {
                Err(Error::custom("`step` must be a string literal").with_span(&constant))
            }
            Value::Literal(_, lit) => {
                Err(Error::custom("`step` must not be empty").with_span(&lit))
            }
        }
    }
}

impl Default {
    /// Converts a string literal for an argument that is spelled `String`: `#[job(default = "CHF")]`.
    fn for_type(self, ty: &Type) -> Self {
        let is_string = matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "String"));
        match self {
            Self::Value(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) if is_string => {
                let string = krate::item("String", text.span());
                Self::Value(parse_quote_spanned!(text.span()=> #string::from(#text)))
            }
            other => other,
        }
    }
}

impl FromMeta for Default {
    fn from_meta(item: &Meta) -> darling::Result<Self> {
        Ok(match item {
            Meta::NameValue(pair) => Self::Value(pair.value.clone()),
            Meta::Path(_) | Meta::List(_) => Self::OfType,
        })
    }
}

/// The parsed attributes of one argument.
#[derive(std::default::Default)]
struct Marks {
    inject: Option<Attribute>,
    input: Option<(Attribute, Option<LitStr>)>,
    options: Option<ArgOptions>,
    with: Option<Path>,
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
    let options = marks.options.unwrap_or_default();
    let pat = stored_name(&argument.pat, errors)?;
    let ident = pat.ident.clone();
    let mut ty = (*argument.ty).clone();
    if !check_forgotten_inject(&ident, &ty, errors) {
        check_owned(&ident, &ty, generics, errors);
    }
    let default = options.default.map(|default| default.into_inner().for_type(&ty));
    Erase::new(generics).in_argument(&mut ty);
    types::resolve_self(&mut ty, owner.map(|owner| &owner.path));
    Some(Param::Stored(Box::new(Arg {
        constant: idents::constant(&ident, taken),
        ident,
        ty,
        docs: docs(&argument.attrs),
        secret: options.secret.is_present(),
        aliases: options.aliases.into_iter().map(|FormerName(name)| name).collect(),
        default,
        with: marks.with,
    })))
}

fn marks(attrs: &[Attribute], errors: &mut Errors) -> Marks {
    let mut marks = Marks::default();
    for attr in attrs {
        if attr.path().is_ident("doc") || is_lint(attr) {
            continue;
        }
        let twice = match () {
            () if is(attr, "inject") => {
                if !matches!(attr.meta, Meta::Path(_)) {
                    errors.push(attr, "`#[inject]` takes no options");
                }
                marks.inject.replace(attr.clone()).is_some()
            }
            () if is(attr, "input") => {
                let read = entries::read(&INPUT, arguments(attr), errors);
                let InputOptions { step } = read.options(errors);
                marks.input.replace((attr.clone(), step.map(|step| step.0))).is_some()
            }
            () if is(attr, "job") => {
                let read = entries::read(&OPTIONS, arguments(attr), errors);
                marks.options.replace(read.options(errors)).is_some()
            }
            () if attr.path().is_ident("serde") => {
                let with = serde_with(attr, errors);
                with.is_some_and(|with| marks.with.replace(with).is_some())
            }
            () => {
                // A misspelled attribute counts as what was meant, so that there is one error.
                match foreign(attr, errors) {
                    Some("inject") => marks.inject = Some(attr.clone()),
                    Some("input") => marks.input = Some((attr.clone(), None)),
                    _ => {}
                }
                false
            }
        };
        if twice {
            let name = idents::text(attr.path().to_token_stream());
            errors.push(attr, format_args!("`#[{name}]` is applied twice to one argument"));
        }
    }
    marks
}

/// Parses `#[serde(with = "module")]`. Other options of serde would have no effect, because the arguments are stored one
/// by one.
fn serde_with(attr: &Attribute, errors: &mut Errors) -> Option<Path> {
    let path = match &attr.meta {
        Meta::List(list) => list.parse_args::<MetaNameValue>().ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    match path {
        Some(MetaNameValue {
            path,
            value: Expr::Lit(ExprLit { lit: Lit::Str(module), .. }),
            ..
        }) if path.is_ident("with") => {
            let path = module.parse();
            if path.is_err() {
                errors.push(
                    module,
                    "`with` must be the path of a module with `serialize` and `deserialize`",
                );
            }
            path.ok()
        }
        _ => {
            errors.push(
                attr,
                "a job argument takes only `#[serde(with = \"module\")]`; for other options of serde wrap the value in a type of your own",
            );
            None
        }
    }
}

/// Reports an attribute that has no meaning on an argument. Returns the attribute that was probably meant.
fn foreign(attr: &Attribute, errors: &mut Errors) -> Option<&'static str> {
    if is(attr, "cfg") || is(attr, "cfg_attr") {
        errors.push(
            attr,
            "`#[cfg]` on a job argument would make the stored JSON depend on build flags; put the `#[cfg]` on the whole job instead",
        );
        return None;
    }
    let name = idents::text(attr.path().to_token_stream());
    let meant = did_you_mean(&name, ["inject", "input", "job"]);
    let message = match meant {
        Some(meant) => format!("unknown attribute `#[{name}]`; did you mean `#[{meant}]`?"),
        None => format!(
            "`#[{name}]` means nothing on a job argument; it takes `#[inject]`, `#[input]`, `#[job(default)]` and `#[job(secret)]`"
        ),
    };
    errors.push(attr, message);
    meant
}

#[rustfmt::skip]
pub(crate) const INPUT: Table = Table {
    attribute: "input",
    options: &[
        Opt { key: "step", takes: Takes::Text, example: r#"step = "charge""#, help: "The step of the workflow whose output it is." },
    ],
    foreign: &[("from", "step"), ("parent", "step"), ("name", "step")],
    elsewhere: &[],
    positional: "expected `step = \"...\"`",
    repeatable: &[],
};

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
