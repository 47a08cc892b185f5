//! The attributes of an argument: `#[inject]`, `#[input]`, `#[job(…)]` and `#[serde(with = "…")]`.

use darling::util::{Flag, SpannedValue};
use darling::{Error, FromMeta};
use quote::ToTokens;
use syn::{
    Attribute, Expr, ExprLit, Lit, LitStr, Meta, MetaNameValue, Path, Type, parse_quote_spanned,
};

use super::model::{Default, Source};
use super::signature::{arguments, is, is_lint};
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
        Opt { key: "secret", takes: Takes::Flag, example: "secret", help: "Never shown: `***` in `Debug`, and left out of errors. Implied by the type `Secret<T>`." },
    ],
    foreign: &[("rename", "alias"), ("redact", "secret"), ("sensitive", "secret"), ("hidden", "secret"), ("skip", "default"), ("optional", "default")],
    elsewhere: &[],
    positional: "an argument takes `#[job(default)]`, `#[job(default = value)]`, `#[job(alias = \"...\")]` and `#[job(secret)]`",
    repeatable: &["alias"],
};

/// The options of `#[job(…)]` on an argument.
#[derive(std::default::Default, FromMeta)]
#[darling(default)]
pub(super) struct ArgOptions {
    pub(super) secret: Flag,
    #[darling(multiple, rename = "alias")]
    pub(super) aliases: Vec<FormerName>,
    pub(super) default: Option<SpannedValue<Default>>,
}

/// A former name of an argument.
pub(super) struct FormerName(pub(super) LitStr);

impl FromMeta for FormerName {
    fn from_meta(item: &Meta) -> darling::Result<Self> {
        let expected = "expected the former name of the argument, `alias = \"recipient\"`";
        match Value::<String>::from_meta(item)? {
            Value::Literal(name, Lit::Str(lit))
                if syn::parse_str::<syn::Ident>(name.trim_start_matches("r#")).is_ok() =>
            {
                Ok(Self(lit))
            }
            Value::Literal(_, lit) => Err(Error::custom(expected).with_span(&lit)),
            Value::Constant(constant) => Err(Error::custom(expected).with_span(&constant)),
        }
    }
}

/// The options of `#[input(…)]`.
#[derive(std::default::Default, FromMeta)]
#[darling(default)]
struct InputOptions {
    step: Option<StepName>,
    all: Flag,
}

impl InputOptions {
    fn source(self, errors: &mut Errors) -> Source {
        let (step, all) = (self.step.map(|step| step.0), self.all.is_present());
        if let (Some(step), true) = (&step, all) {
            errors.push(
                step,
                "`all` takes the outputs of all steps before, so it cannot name one of them",
            );
        }
        Source { step, all }
    }
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
    pub(super) fn for_type(self, ty: &Type) -> Self {
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
pub(super) struct Marks {
    pub(super) inject: Option<Attribute>,
    pub(super) input: Option<(Attribute, Source)>,
    pub(super) options: Option<ArgOptions>,
    pub(super) with: Option<Path>,
}

/// Parses the attributes of one argument.
pub(super) fn read(attrs: &[Attribute], errors: &mut Errors) -> Marks {
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
                let source = read.options::<InputOptions>(errors).source(errors);
                marks.input.replace((attr.clone(), source)).is_some()
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
                    Some("input") => marks.input = Some((attr.clone(), Source::default())),
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
        Opt { key: "all", takes: Takes::Flag, example: "all", help: "A `Vec` with the outputs of all steps before, in the order of the workflow." },
    ],
    foreign: &[("from", "step"), ("parent", "step"), ("name", "step"), ("every", "all"), ("list", "all"), ("many", "all")],
    elsewhere: &[],
    positional: "expected `step = \"...\"` or `all`",
    repeatable: &[],
};
