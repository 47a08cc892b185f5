//! The values of options. Literals are checked here, at their token; constants are checked by the const builder.

mod backoff;
mod cron;
mod duration;
mod number;
mod template;
mod text;
mod zone;

pub(crate) use backoff::{Backoff, Curve, Jitter};
pub(crate) use cron::cron;
pub(crate) use duration::duration;
pub(crate) use number::{Range, number};
pub(crate) use template::{Piece, Template};
pub(crate) use text::{list, name, one_of, text, word};
pub(crate) use zone::zone;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Lit};

use crate::diag::Errors;
use crate::entries::{Entry, Given};

/// A literal known to the macro, or a constant that only the compiler can evaluate.
#[derive(Clone)]
pub(crate) enum Value<T> {
    /// The value and the literal it was parsed from. Later errors are reported at the literal.
    Literal(T, Lit),
    Constant(Expr),
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

/// The kind of expression used as a value.
enum Kind {
    Literal(Lit),
    /// A bare word such as `mail`. The quotes were probably forgotten.
    BareWord(String),
    Constant,
    /// An expression that no option accepts: `-5`, `[1]`, a closure.
    Other,
}

fn kind(value: &Expr) -> Kind {
    match value {
        // What a `macro_rules!` passes on as `$value` is in an invisible group.
        Expr::Group(group) => kind(&group.expr),
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

fn is_screaming(word: &str) -> bool {
    word.chars().any(char::is_uppercase) && !word.chars().any(char::is_lowercase)
}

/// Reports a value of the wrong form: `` expected a string, `queue = "mail"` ``.
fn refuse(entry: &Entry, value: &Expr, errors: &mut Errors) {
    let expected = entry.option.takes.expected();
    let example = match kind(value) {
        Kind::BareWord(word) if expected == "a string" => {
            format!("{} = \"{word}\"", entry.option.key)
        }
        _ => entry.option.example.to_owned(),
    };
    errors.push(value, format_args!("expected {expected}, `{example}`"));
}

/// Returns the expression of `key = value`; `None` for the other forms.
pub(crate) fn value(entry: &Entry) -> Option<&Expr> {
    match &entry.given {
        Given::Value(value) => Some(value),
        Given::Flag | Given::List(_) => None,
    }
}
