//! Parses strings: names, words from a closed set, and lists.

use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, LitStr, Token};

use super::{Kind, Value, kind, refuse, value};
use crate::diag::{Errors, listing, suggestion};
use crate::entries::{Entry, Given};

/// Parses `key = "text"` or a constant.
pub(crate) fn text(entry: &Entry, errors: &mut Errors) -> Option<Value<String>> {
    let value = value(entry)?;
    match kind(value) {
        Kind::Literal(Lit::Str(lit)) => Some(Value::Literal(lit.value(), Lit::Str(lit))),
        Kind::Constant => Some(Value::Constant(value.clone())),
        Kind::Literal(_) | Kind::BareWord(_) | Kind::Other => {
            refuse(entry, value, errors);
            None
        }
    }
}

/// Parses the name of a job or queue. It must be safe to use in a store and in a URL.
pub(crate) fn name(what: &str, entry: &Entry, errors: &mut Errors) -> Option<Value<String>> {
    let name = text(entry, errors)?;
    if let Value::Literal(name, lit) = &name {
        check_name(what, name, lit, errors)?;
    }
    Some(name)
}

/// Applies the rules of `JobDef` to a literal name, to report errors at its token.
fn check_name(what: &str, name: &str, at: impl ToTokens, errors: &mut Errors) -> Option<()> {
    let bad = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'));
    if name.is_empty() {
        errors.push(at, format_args!("{what} name cannot be empty"));
    } else if let Some(bad) = name.chars().find(bad) {
        errors.push(
            at,
            format_args!("{what} name cannot contain {bad:?}; use letters, digits and `_ - . / :`"),
        );
    } else if name.len() > 200 {
        errors.push(at, format_args!("{what} name must have at most 200 characters"));
    } else {
        return Some(());
    }
    None
}

/// Parses `key = "word"` and returns the index of the word in `words`.
pub(crate) fn one_of(entry: &Entry, words: &[&'static str], errors: &mut Errors) -> Option<usize> {
    let value = value(entry)?;
    let key = entry.option.key;
    let Kind::Literal(Lit::Str(lit)) = kind(value) else {
        refuse(entry, value, errors);
        return None;
    };
    let given = lit.value();
    let found = words.iter().position(|word| *word == given);
    if found.is_none() {
        let hint = suggestion(&given, words.iter().copied());
        let all: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        errors.push(lit, format_args!("`{key}` is {}, not \"{given}\"{hint}", all.join(" or ")));
    }
    found
}

/// Parses `key("a", "b", CONSTANT)`.
pub(crate) fn list(entry: &Entry, errors: &mut Errors) -> Vec<Value<String>> {
    let Given::List(tokens) = &entry.given else { return Vec::new() };
    let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
    let items = match parser.parse2(tokens.clone()) {
        Ok(items) => items,
        Err(error) => {
            errors.syntax(error);
            return Vec::new();
        }
    };
    if items.is_empty() {
        let example = entry.option.example;
        errors.push(&entry.key, format_args!("`{}` is empty; `{example}`", entry.option.key));
    }
    items.into_iter().filter_map(|item| element(entry, item, errors)).collect()
}

fn element(entry: &Entry, item: Expr, errors: &mut Errors) -> Option<Value<String>> {
    match kind(&item) {
        Kind::Literal(Lit::Str(lit)) => check_tag(&lit, errors),
        Kind::Constant => Some(Value::Constant(item)),
        Kind::BareWord(word) => {
            errors.push(&item, format_args!("expected a string, `\"{word}\"`"));
            None
        }
        Kind::Literal(_) | Kind::Other => {
            errors.push(&item, format_args!("expected a string, `{}`", entry.option.example));
            None
        }
    }
}

fn check_tag(lit: &LitStr, errors: &mut Errors) -> Option<Value<String>> {
    let tag = lit.value();
    if tag.trim().is_empty() {
        errors.push(lit, "a tag cannot be empty");
        return None;
    }
    Some(Value::Literal(tag, Lit::Str(lit.clone())))
}

/// Parses an unquoted word from a closed set.
pub(crate) fn word<'a>(
    key: &str,
    value: &Expr,
    words: &[&'a str],
    errors: &mut Errors,
) -> Option<&'a str> {
    let given = match kind(value) {
        Kind::BareWord(word) => word,
        Kind::Literal(Lit::Str(lit)) if words.contains(&lit.value().as_str()) => {
            errors.push(&lit, format_args!("expected a bare word, `{key} = {}`", lit.value()));
            return None;
        }
        Kind::Literal(_) | Kind::Constant | Kind::Other => {
            errors.push(value, format_args!("`{key}` is {}", listing(words.iter().copied(), "or")));
            return None;
        }
    };
    let found = words.iter().find(|word| **word == given).copied();
    if found.is_none() {
        let all = listing(words.iter().copied(), "or");
        errors.push(value, format_args!("unknown {key} `{given}`; use {all}"));
    }
    found
}
