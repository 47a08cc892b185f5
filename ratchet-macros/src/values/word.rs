//! Words from a closed set, with or without quotes: `priority = high`, `priority = "high"`.

use darling::{Error, FromMeta, Result};
use syn::{Expr, Lit, Meta};

use super::{Kind, kind, pair, ungrouped};
use crate::diag::{listing, suggestion};

/// The words of one option, each with the variant of the runtime's type that it stands for.
pub(crate) trait Words {
    const WORDS: &'static [(&'static str, &'static str)];
}

/// A word of `W`, or a constant.
pub(crate) enum Word<W> {
    /// The variant that the word stands for.
    Variant(&'static str, std::marker::PhantomData<W>),
    Constant(Expr),
}

/// The words of `priority`.
pub(crate) enum Priority {}

impl Words for Priority {
    const WORDS: &'static [(&'static str, &'static str)] = &[
        ("lowest", "Lowest"),
        ("low", "Low"),
        ("normal", "Normal"),
        ("high", "High"),
        ("critical", "Critical"),
    ];
}

/// The words of `panic`.
pub(crate) enum OnPanic {}

impl Words for OnPanic {
    const WORDS: &'static [(&'static str, &'static str)] = &[("retry", "Retry"), ("dlq", "Dlq")];
}

/// The words of `trace`.
pub(crate) enum Trace {}

impl Words for Trace {
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("auto", "Auto"), ("parent", "Parent"), ("link", "Link"), ("off", "Off")];
}

/// The words of `on_conflict`.
pub(crate) enum OnConflict {}

impl Words for OnConflict {
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("refuse", "Refuse"), ("existing", "Existing"), ("coalesce", "Coalesce")];
}

/// The words of `on_full`.
pub(crate) enum OnFull {}

impl Words for OnFull {
    const WORDS: &'static [(&'static str, &'static str)] = &[("wait", "Wait"), ("fail", "Fail")];
}

/// The words of `after_failure`.
pub(crate) enum AfterFailure {}

impl Words for AfterFailure {
    const WORDS: &'static [(&'static str, &'static str)] = &[("hold", "Hold"), ("skip", "Skip")];
}

/// The words of `overlap`.
pub(crate) enum Overlap {}

impl Words for Overlap {
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("allow", "Allow"), ("skip", "Skip"), ("queue_one", "QueueOne")];
}

impl<W> Clone for Word<W> {
    fn clone(&self) -> Self {
        match self {
            Self::Variant(variant, words) => Self::Variant(variant, *words),
            Self::Constant(constant) => Self::Constant(constant.clone()),
        }
    }
}

impl<W: Words> Word<W> {
    pub(crate) fn read(key: &str, value: &Expr) -> Result<Self> {
        let given = match kind(value) {
            Kind::BareWord(word) => word,
            Kind::Literal(Lit::Str(lit)) => lit.value(),
            Kind::Constant => return Ok(Self::Constant(ungrouped(value).clone())),
            Kind::Literal(_) | Kind::Other => {
                let all = listing(Self::words(), "or");
                return Err(Error::custom(format_args!("`{key}` must be {all}")).with_span(value));
            }
        };
        match W::WORDS.iter().find(|(word, _)| *word == given) {
            Some((_, variant)) => Ok(Self::Variant(variant, std::marker::PhantomData)),
            None => {
                let (all, hint) = (listing(Self::words(), "or"), suggestion(&given, Self::words()));
                let message = format!("`{key}` must be {all}, not `{given}`{hint}");
                Err(Error::custom(message).with_span(value))
            }
        }
    }

    fn words() -> impl Iterator<Item = &'static str> {
        W::WORDS.iter().map(|(word, _)| *word)
    }
}

impl<W: Words> FromMeta for Word<W> {
    fn from_meta(item: &Meta) -> Result<Self> {
        let (key, value) = pair(item)?;
        Self::read(&key, value)
    }
}
