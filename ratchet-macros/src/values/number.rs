//! Parses integers within a range.

use std::ops::RangeInclusive;

use syn::Lit;

use super::{Kind, Value, kind, refuse, value};
use crate::diag::Errors;
use crate::entries::Entry;

/// The range an option accepts, and the error message for a number outside of it.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) of: RangeInclusive<u32>,
    pub(crate) rule: &'static str,
}

/// Parses `key = 5` or a constant.
pub(crate) fn number(entry: &Entry, range: &Range, errors: &mut Errors) -> Option<Value<u32>> {
    let value = value(entry)?;
    match kind(value) {
        Kind::Literal(Lit::Int(lit)) => match lit.base10_parse::<u32>() {
            Ok(number) if range.of.contains(&number) => Some(Value::Literal(number, Lit::Int(lit))),
            Ok(_) | Err(_) => {
                errors.push(lit, range.rule);
                None
            }
        },
        Kind::Constant => Some(Value::Constant(value.clone())),
        Kind::Literal(_) | Kind::BareWord(_) | Kind::Other => {
            refuse(entry, value, errors);
            None
        }
    }
}
