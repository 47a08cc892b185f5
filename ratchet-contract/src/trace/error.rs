//! The error type of the tracer. It keeps what serde reports as data, because each report is knowledge about a type.

use std::fmt;

/// The error that a type returns for a value of the tracer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceError(pub(super) Problem);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Problem {
    /// An object lacks this field.
    Missing(&'static str),
    /// An object has this field twice: the other name that was given is an alias.
    Duplicate(&'static str),
    /// An object refuses fields that it does not know.
    UnknownField,
    /// The type has these variants.
    UnknownVariant(&'static [&'static str]),
    /// The value of this node must be found first.
    Pending,
    Other(String),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Problem::Missing(field) => write!(f, "missing field `{field}`"),
            Problem::Duplicate(field) => write!(f, "duplicate field `{field}`"),
            Problem::UnknownField => f.write_str("unknown field"),
            Problem::UnknownVariant(_) => f.write_str("unknown variant"),
            Problem::Pending => f.write_str("no value is known yet"),
            Problem::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for TraceError {}

impl serde::de::Error for TraceError {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(Problem::Other(text.to_string()))
    }

    fn missing_field(field: &'static str) -> Self {
        Self(Problem::Missing(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self(Problem::Duplicate(field))
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self(Problem::UnknownField)
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self(Problem::UnknownVariant(expected))
    }
}
