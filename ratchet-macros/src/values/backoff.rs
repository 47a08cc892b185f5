//! Parses the `backoff` option: `backoff = exponential("1s", factor = 2.0, max = "30s", jitter = full)`.

use std::time::Duration;

use syn::{Expr, ExprCall, Lit};

use super::text::word;
use super::{Kind, Value, duration, kind, value};
use crate::diag::{Errors, suggestion};
use crate::entries::Entry;

/// The value of `backoff`, as written.
#[derive(Clone)]
pub(crate) enum Backoff {
    Curve { curve: Box<Curve>, jitter: Option<Jitter> },
    Constant(Expr),
}

/// How the wait grows from one attempt to the next.
#[derive(Clone)]
pub(crate) enum Curve {
    None,
    Fixed(Value<Duration>),
    Linear { base: Value<Duration>, max: Option<Value<Duration>> },
    Exponential { base: Value<Duration>, max: Option<Value<Duration>>, factor: Option<Value<f64>> },
}

/// How the waits are randomized.
#[derive(Clone, Copy)]
pub(crate) enum Jitter {
    None,
    Full,
    Equal,
}

const CURVES: [&str; 4] = ["none", "fixed", "linear", "exponential"];
const USAGE: &str = "`none`, `fixed(\"5s\")`, `linear(\"5s\", max = \"1m\")` or `exponential(\"1s\", max = \"30s\")`";

impl Backoff {
    pub(crate) fn read(entry: &Entry, errors: &mut Errors) -> Option<Self> {
        let value = value(entry)?;
        match value {
            Expr::Call(call) => match callee(call) {
                Some(curve) => Self::call(&curve, call, errors),
                // A call such as `Backoff::fixed(…)` is checked by the const builder.
                None => Some(Self::Constant(value.clone())),
            },
            _ => match kind(value) {
                Kind::BareWord(word) if word == "none" => {
                    Some(Self::Curve { curve: Box::new(Curve::None), jitter: None })
                }
                Kind::BareWord(curve) if CURVES.contains(&curve.as_str()) => {
                    errors.push(value, format_args!("backoff `{curve}` needs its wait: {USAGE}"));
                    None
                }
                Kind::BareWord(curve) => {
                    errors.push(value, unknown(&curve));
                    None
                }
                Kind::Constant => Some(Self::Constant(value.clone())),
                Kind::Literal(_) | Kind::Other => {
                    errors.push(value, format_args!("`backoff` is {USAGE}"));
                    None
                }
            },
        }
    }

    fn call(name: &str, call: &ExprCall, errors: &mut Errors) -> Option<Self> {
        if !CURVES.contains(&name) {
            errors.push(&call.func, unknown(name));
            return None;
        }
        let mut read = Arguments { curve: name.to_owned(), ..Arguments::default() };
        let mut ok = true;
        for argument in &call.args {
            ok &= read.argument(argument, errors).is_some();
        }
        if !ok {
            return None;
        }
        if name == "none" {
            errors.push(&call.func, "backoff `none` takes no arguments");
            return None;
        }
        let Some(base) = read.base else {
            errors.push(&call.func, format_args!("backoff `{name}` needs its wait: {USAGE}"));
            return None;
        };
        check_order(name, &base, read.max.as_ref(), errors)?;
        let curve = match name {
            "fixed" => Curve::Fixed(base),
            "linear" => Curve::Linear { base, max: read.max },
            _ => Curve::Exponential { base, max: read.max, factor: read.factor },
        };
        Some(Self::Curve { curve: Box::new(curve), jitter: read.jitter })
    }
}

/// Returns `exponential` for `exponential(…)`, and `None` for `Backoff::exponential(…)` or `BACKOFF(…)`.
fn callee(call: &ExprCall) -> Option<String> {
    match kind(&call.func) {
        Kind::BareWord(word) => Some(word),
        Kind::Literal(_) | Kind::Constant | Kind::Other => None,
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
fn check_order(
    name: &str,
    base: &Value<Duration>,
    max: Option<&Value<Duration>>,
    errors: &mut Errors,
) -> Option<()> {
    let (Some(base), Some(max)) = (base.literal(), max) else { return Some(()) };
    if max.literal().is_some_and(|max| max < base) {
        errors.push(max, format_args!("the `max` of backoff `{name}` is below its first wait"));
        return None;
    }
    Some(())
}

#[derive(Default)]
struct Arguments {
    curve: String,
    base: Option<Value<Duration>>,
    max: Option<Value<Duration>>,
    factor: Option<Value<f64>>,
    jitter: Option<Jitter>,
}

impl Arguments {
    fn argument(&mut self, argument: &Expr, errors: &mut Errors) -> Option<()> {
        let Expr::Assign(named) = argument else {
            let curve = &self.curve;
            if self.base.is_some() {
                errors.push(
                    argument,
                    format_args!(
                        "backoff `{curve}` takes one wait; name the others, `max = \"1m\"`"
                    ),
                );
                return None;
            }
            let example = format!("{curve}(\"5s\")");
            self.base = Some(duration::argument(argument, &example, errors)?);
            return Some(());
        };
        let name = match kind(&named.left) {
            Kind::BareWord(name) => name,
            Kind::Literal(_) | Kind::Constant | Kind::Other => String::new(),
        };
        let known: &[&str] = match self.curve.as_str() {
            "exponential" => &["max", "factor", "jitter"],
            "linear" => &["max", "jitter"],
            _ => &["jitter"],
        };
        if !known.contains(&name.as_str()) {
            let hint = suggestion(&name, known.iter().copied());
            errors.push(
                &named.left,
                format_args!("backoff `{}` has no setting `{name}`{hint}", self.curve),
            );
            return None;
        }
        let twice = match name.as_str() {
            "max" => self.max.is_some(),
            "factor" => self.factor.is_some(),
            _ => self.jitter.is_some(),
        };
        if twice {
            errors.push(&named.left, format_args!("`{name}` is given twice"));
            return None;
        }
        match name.as_str() {
            "max" => {
                self.max = Some(duration::argument(&named.right, "max = \"1m\"", errors)?);
            }
            "factor" => self.factor = Some(factor(&named.right, errors)?),
            _ => self.jitter = Some(jitter(&named.right, errors)?),
        }
        Some(())
    }
}

fn factor(value: &Expr, errors: &mut Errors) -> Option<Value<f64>> {
    let (number, lit) = match kind(value) {
        Kind::Constant => return Some(Value::Constant(value.clone())),
        Kind::Literal(Lit::Float(lit)) => (lit.base10_parse::<f64>().ok(), Lit::Float(lit)),
        Kind::Literal(Lit::Int(lit)) => (lit.base10_parse::<f64>().ok(), Lit::Int(lit)),
        Kind::Literal(_) | Kind::BareWord(_) | Kind::Other => {
            errors.push(value, "expected a number, `factor = 2.0`");
            return None;
        }
    };
    match number {
        Some(number) if (1.0..=1000.0).contains(&number) => Some(Value::Literal(number, lit)),
        _ => {
            errors.push(value, "the factor of a backoff must be between 1 and 1000");
            None
        }
    }
}

fn jitter(value: &Expr, errors: &mut Errors) -> Option<Jitter> {
    Some(match word("jitter", value, &["none", "full", "equal"], errors)? {
        "none" => Jitter::None,
        "full" => Jitter::Full,
        _ => Jitter::Equal,
    })
}
