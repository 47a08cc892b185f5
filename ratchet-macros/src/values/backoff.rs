//! Parses the `backoff` option: `backoff = exponential("1s", factor = 2.0, max = "30s", jitter = full)`.

use std::time::Duration;

use darling::error::Accumulator;
use darling::{Error, FromMeta, Result};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, Lit, Meta};

use super::word::{Word, Words};
use super::{Checked, Kind, Literal, Value, kind, pair, ungrouped};
use crate::diag::suggestion;

/// The value of `backoff`, as written.
#[derive(Clone)]
pub(crate) enum Backoff {
    Curve { curve: Box<Curve>, jitter: Option<Word<Jitter>> },
    Constant(Expr),
}

/// How the wait grows from one attempt to the next.
#[derive(Clone)]
pub(crate) enum Curve {
    None,
    Fixed(Value<Duration>),
    Linear {
        base: Value<Duration>,
        max: Option<Value<Duration>>,
    },
    Exponential {
        base: Value<Duration>,
        max: Option<Value<Duration>>,
        factor: Option<Value<Factor>>,
    },
}

/// The words of `jitter`: how the waits are randomized.
#[derive(Clone)]
pub(crate) enum Jitter {}

impl Words for Jitter {
    const WORDS: &'static [(&'static str, &'static str)] =
        &[("none", "None"), ("full", "Full"), ("equal", "Equal")];
}

/// The factor of an exponential backoff.
#[derive(Clone)]
pub(crate) struct Factor(pub(crate) f64);

impl Literal for Factor {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        let number = match lit {
            Lit::Float(lit) => lit.base10_parse::<f64>(),
            Lit::Int(lit) => lit.base10_parse::<f64>(),
            _ => return None,
        };
        Some(match number {
            Ok(number) if (1.0..=1000.0).contains(&number) => Ok(Self(number)),
            _ => Err("the `factor` of a backoff must be between 1 and 1000".to_owned()),
        })
    }
}

const CURVES: [&str; 4] = ["none", "fixed", "linear", "exponential"];
const USAGE: &str = "`none`, `fixed(\"5s\")`, `linear(\"5s\", max = \"1m\")` or `exponential(\"1s\", max = \"30s\")`";

fn refused<T>(at: &impl Spanned, message: impl std::fmt::Display) -> Result<T> {
    Err(Error::custom(message).with_span(at))
}

impl FromMeta for Backoff {
    fn from_meta(item: &Meta) -> Result<Self> {
        let (_, value) = pair(item)?;
        let value = ungrouped(value);
        match (value, kind(value)) {
            (Expr::Call(call), _) => match kind(&call.func) {
                Kind::BareWord(curve) => Self::call(&curve, call),
                // A call such as `Backoff::fixed(…)` is checked by the const builder.
                _ => Ok(Self::Constant(value.clone())),
            },
            (_, Kind::BareWord(word)) if word == "none" => {
                Ok(Self::Curve { curve: Box::new(Curve::None), jitter: None })
            }
            (_, Kind::BareWord(curve)) if CURVES.contains(&curve.as_str()) => {
                refused(value, format_args!("backoff `{curve}` needs its wait: {USAGE}"))
            }
            (_, Kind::BareWord(curve)) => refused(value, unknown(&curve)),
            (_, Kind::Constant) => Ok(Self::Constant(value.clone())),
            (_, Kind::Literal(_) | Kind::Other) => {
                refused(value, format_args!("`backoff` must be {USAGE}"))
            }
        }
    }
}

impl Backoff {
    fn call(name: &str, call: &ExprCall) -> Result<Self> {
        if !CURVES.contains(&name) {
            return refused(&call.func, unknown(name));
        }
        let mut errors = Error::accumulator();
        let mut read = Arguments { curve: name, base: None, max: None, factor: None, jitter: None };
        for argument in &call.args {
            read.argument(argument, &mut errors);
        }
        errors.finish()?;
        if name == "none" {
            return refused(&call.func, "backoff `none` must not have arguments");
        }
        let Some(base) = read.base else {
            return refused(&call.func, format_args!("backoff `{name}` needs its wait: {USAGE}"));
        };
        check_order(name, &base, read.max.as_ref())?;
        let curve = match name {
            "fixed" => Curve::Fixed(base),
            "linear" => Curve::Linear { base, max: read.max },
            _ => Curve::Exponential { base, max: read.max, factor: read.factor },
        };
        Ok(Self::Curve { curve: Box::new(curve), jitter: read.jitter })
    }
}

fn unknown(name: &str) -> String {
    let hint = suggestion(name, CURVES);
    if hint.is_empty() {
        format!("unknown backoff `{name}`; use {USAGE}")
    } else {
        format!("unknown backoff `{name}`{hint}")
    }
}

/// Rejects a `max` below the first wait: it would turn the curve into a constant.
fn check_order(name: &str, base: &Value<Duration>, max: Option<&Value<Duration>>) -> Result<()> {
    let (Some(base), Some(max)) = (base.literal(), max) else { return Ok(()) };
    if max.literal().is_some_and(|max| max < base) {
        let message = format!("the `max` of backoff `{name}` must not be below its first wait");
        return Err(Error::custom(message).with_span(max));
    }
    Ok(())
}

/// The arguments of a curve: one wait, and settings by name.
struct Arguments<'a> {
    curve: &'a str,
    base: Option<Value<Duration>>,
    max: Option<Value<Duration>>,
    factor: Option<Value<Factor>>,
    jitter: Option<Word<Jitter>>,
}

impl Arguments<'_> {
    fn argument(&mut self, argument: &Expr, errors: &mut Accumulator) {
        let curve = self.curve;
        let Expr::Assign(named) = argument else {
            if self.base.is_some() {
                let message =
                    format!("backoff `{curve}` takes one wait; name the others, `max = \"1m\"`");
                errors.push(Error::custom(message).with_span(argument));
            }
            let base = setting("", argument, &format!("expected a duration, `{curve}(\"5s\")`"));
            self.base = errors.handle(base);
            return;
        };
        let name = match kind(&named.left) {
            Kind::BareWord(name) => name,
            Kind::Literal(_) | Kind::Constant | Kind::Other => String::new(),
        };
        let known: &[&str] = match curve {
            "exponential" => &["max", "factor", "jitter"],
            "linear" => &["max", "jitter"],
            _ => &["jitter"],
        };
        let (max, factor) =
            ("expected a duration, `max = \"1m\"`", "expected a number, `factor = 2.0`");
        let twice = match name.as_str() {
            name if !known.contains(&name) => {
                let hint = suggestion(name, known.iter().copied());
                let message = format!("backoff `{curve}` has no setting `{name}`{hint}");
                errors.push(Error::custom(message).with_span(&named.left));
                false
            }
            "max" => replaced(&mut self.max, errors.handle(setting("max", &named.right, max))),
            "factor" => {
                replaced(&mut self.factor, errors.handle(setting("factor", &named.right, factor)))
            }
            _ => replaced(&mut self.jitter, errors.handle(Word::read("jitter", &named.right))),
        };
        if twice {
            let message = format!("`{name}` is given twice");
            errors.push(Error::custom(message).with_span(&named.left));
        }
    }
}

/// Sets a setting. Returns `true` if it was already set.
fn replaced<T>(setting: &mut Option<T>, value: Option<T>) -> bool {
    let twice = setting.is_some();
    *setting = value.or(setting.take());
    twice
}

fn setting<T: Literal>(key: &str, value: &Expr, expected: &str) -> Result<Value<T>> {
    match kind(value) {
        Kind::Literal(lit) if T::read(key, &lit).is_none() => refused(value, expected),
        Kind::BareWord(_) | Kind::Other => refused(value, expected),
        Kind::Literal(_) | Kind::Constant => Value::read(key, value),
    }
}
