//! The values of options. Literals are checked here, at their token; constants are checked by the const builder.
//!
//! Each type implements [`FromMeta`], so that the derived option structs read it. Its errors carry the span to report.

mod backoff;
mod cron;
mod duration;
mod lists;
mod name;
mod number;
mod paths;
mod template;
mod upgrades;
mod word;
mod zone;

pub(crate) use backoff::{Backoff, Curve};
pub(crate) use cron::Cron;
pub(crate) use duration::duration_tokens;
pub(crate) use lists::{Derives, ErrorList, Tags};
pub(crate) use name::{Name, Reason};
pub(crate) use number::{Percent, Within};
pub(crate) use paths::{FnPath, JobPath, StructName};
pub(crate) use template::{Piece, Template};
pub(crate) use upgrades::Upgrades;
pub(crate) use word::{AfterFailure, OnConflict, OnFull, OnPanic, Overlap, Priority, Trace, Word};
pub(crate) use zone::Zone;

use darling::{Error, FromMeta, Result};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Lit, Meta};

/// A literal known to the macro, or a constant that only the compiler can evaluate.
#[derive(Clone)]
pub(crate) enum Value<T> {
    /// The value and the literal it was parsed from. Later errors are reported at the literal.
    Literal(T, Lit),
    Constant(Expr),
}

/// A literal that was read: `None` for a literal of another kind, an error for one that breaks a rule of the option.
type Checked<T> = Option<std::result::Result<T, String>>;

/// A type of option that is written as one literal.
pub(crate) trait Literal: Sized {
    fn read(key: &str, lit: &Lit) -> Checked<Self>;
}

impl<T> Value<T> {
    pub(crate) fn literal(&self) -> Option<&T> {
        match self {
            Self::Literal(value, _) => Some(value),
            Self::Constant(_) => None,
        }
    }

    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Literal(_, lit) => lit.span(),
            Self::Constant(expr) => expr.span(),
        }
    }
}

impl<T> ToTokens for Value<T> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Literal(_, lit) => lit.to_tokens(tokens),
            Self::Constant(expr) => expr.to_tokens(tokens),
        }
    }
}

impl<T: Literal> Value<T> {
    pub(crate) fn read(key: &str, value: &Expr) -> Result<Self> {
        match kind(value) {
            Kind::Literal(lit) => match T::read(key, &lit) {
                Some(Ok(read)) => Ok(Self::Literal(read, lit)),
                Some(Err(message)) => Err(Error::custom(message).with_span(&lit)),
                None => Err(unexpected(value)),
            },
            Kind::Constant => Ok(Self::Constant(ungrouped(value).clone())),
            Kind::BareWord(_) | Kind::Other => Err(unexpected(value)),
        }
    }
}

impl<T: Literal> FromMeta for Value<T> {
    fn from_meta(item: &Meta) -> Result<Self> {
        let (key, value) = pair(item)?;
        Self::read(&key, value)
    }
}

/// Any text.
impl Literal for String {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        match lit {
            Lit::Str(text) => Some(Ok(text.value())),
            _ => None,
        }
    }
}

/// Returns the key and the value of `key = value`.
pub(crate) fn pair(item: &Meta) -> Result<(String, &Expr)> {
    let key = item.path().segments.first().map(|key| crate::idents::plain(&key.ident));
    match item {
        Meta::NameValue(pair) => Ok((key.unwrap_or_default(), &pair.value)),
        Meta::Path(_) | Meta::List(_) => Err(unexpected(item)),
    }
}

/// The message of [`unexpected`]. The reader of the entries replaces it, because it knows the option's example.
pub(crate) const UNEXPECTED: &str = "unexpected form";

/// Creates the error for a value of the wrong form: `` expected a string, `queue = "mail"` ``.
pub(crate) fn unexpected(value: &impl Spanned) -> Error {
    Error::custom(UNEXPECTED).with_span(value)
}

/// The kind of expression used as a value.
pub(crate) enum Kind {
    Literal(Lit),
    /// A bare word such as `mail`. The quotes were probably forgotten.
    BareWord(String),
    Constant,
    /// An expression that no option accepts: `-5`, `[1]`, a closure.
    Other,
}

pub(crate) fn kind(value: &Expr) -> Kind {
    match ungrouped(value) {
        Expr::Lit(literal) => Kind::Literal(literal.lit.clone()),
        Expr::Path(path) => match path.path.get_ident() {
            Some(word) if !is_screaming(&word.to_string()) => Kind::BareWord(word.to_string()),
            _ => Kind::Constant,
        },
        Expr::Call(_)
        | Expr::MethodCall(_)
        | Expr::Binary(_)
        | Expr::Paren(_)
        | Expr::Block(_)
        | Expr::Const(_)
        | Expr::Cast(_)
        | Expr::Field(_)
        | Expr::Index(_)
        | Expr::Macro(_) => Kind::Constant,
        _ => Kind::Other,
    }
}

/// Unwraps the invisible group around a `$value` passed from a `macro_rules!` macro.
pub(crate) fn ungrouped(value: &Expr) -> &Expr {
    match value {
        Expr::Group(group) => ungrouped(&group.expr),
        value => value,
    }
}

fn is_screaming(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)
}
