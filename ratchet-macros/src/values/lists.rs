//! Lists in parentheses: `tags("mail", "eu")`, `derive(Debug)`, `ignore(NotFound)`.

use std::ops::Deref;

use darling::{Error, FromMeta, Result};
use quote::ToTokens;
use syn::parse::{Parse, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Meta, Path, Token};

use super::{Checked, Kind, Literal, Value, kind, unexpected};
use crate::idents;

/// The tags of a job.
#[derive(Clone, Default)]
pub(crate) struct Tags(Vec<Value<Tag>>);

/// A tag that is not empty.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Tag(pub(crate) String);

/// The derives of the invocation struct.
#[derive(Clone, Default)]
pub(crate) struct Derives(pub(crate) Vec<Path>);

/// The types or variants of errors that a breaker ignores or records.
#[derive(Clone, Default)]
pub(crate) struct ErrorList(Vec<Path>);

impl Tags {
    /// Returns these tags, or the others if there are none.
    pub(crate) fn or(self, others: Self) -> Self {
        if self.0.is_empty() { others } else { self }
    }
}

impl Derives {
    /// Returns these derives, or the others if there are none.
    pub(crate) fn or(self, others: Self) -> Self {
        if self.0.is_empty() { others } else { self }
    }
}

impl Deref for Tags {
    type Target = [Value<Tag>];

    fn deref(&self) -> &[Value<Tag>] {
        &self.0
    }
}

impl Deref for ErrorList {
    type Target = [Path];

    fn deref(&self) -> &[Path] {
        &self.0
    }
}

impl Tag {
    fn value(tag: &Expr) -> Result<Value<Self>> {
        match kind(tag) {
            Kind::BareWord(word) => {
                let message = format!("expected a string, `\"{word}\"`");
                Err(Error::custom(message).with_span(tag))
            }
            _ => Value::read("tags", tag),
        }
    }
}

impl Literal for Tag {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        let Lit::Str(lit) = lit else { return None };
        let tag = lit.value();
        Some(if tag.trim().is_empty() {
            Err("a tag must not be empty".to_owned())
        } else {
            Ok(Self(tag))
        })
    }
}

impl FromMeta for Tags {
    fn from_meta(item: &Meta) -> Result<Self> {
        let written = items::<Expr>(item, "a string", "tags(\"mail\")")?;
        let mut errors = Error::accumulator();
        let tags = written.iter().filter_map(|tag| errors.handle(Tag::value(tag))).collect();
        errors.finish_with(Self(tags))
    }
}

impl FromMeta for Derives {
    fn from_meta(item: &Meta) -> Result<Self> {
        items(item, "a path", "derive(Debug)").map(Self)
    }
}

impl FromMeta for ErrorList {
    fn from_meta(item: &Meta) -> Result<Self> {
        let key = key(item);
        items(item, "a path", &format!("{key}(NotFound)")).map(Self)
    }
}

/// Parses the elements of a list, which must not be empty.
fn items<T: Parse>(item: &Meta, expected: &str, example: &str) -> Result<Vec<T>> {
    let Meta::List(list) = item else { return Err(unexpected(item)) };
    let parsed = Punctuated::<T, Token![,]>::parse_terminated.parse2(list.tokens.clone());
    let key = key(item);
    match parsed {
        Ok(items) if items.is_empty() => {
            let message = format!("`{key}` must not be empty; write `{example}`");
            Err(Error::custom(message).with_span(item.path()))
        }
        Ok(items) => Ok(items.into_iter().collect()),
        Err(error) => {
            let message = format!("expected {expected}, `{example}`");
            Err(Error::custom(message).with_span(&error.span()))
        }
    }
}

fn key(item: &Meta) -> String {
    idents::text(item.path().to_token_stream())
}
