//! Parses the list inside an attribute: `key`, `key = value` or `key(list)`. An invalid entry does not affect the
//! remaining entries.

use darling::FromMeta;
use darling::ast::NestedMeta;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, MacroDelimiter, Meta, MetaList, MetaNameValue, Token, parenthesized, token};

use crate::diag::Errors;
use crate::table::{Opt, Table, Takes};
use crate::values::{self, Kind};

/// One option, as written. Its form always matches the option's [`Takes`].
pub(crate) struct Entry {
    option: &'static Opt,
    meta: Meta,
}

/// The valid entries, and every key that was written.
#[derive(Default)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    /// Used for completion, so incomplete keys are included.
    pub(crate) keys: Vec<Ident>,
}

impl Entries {
    /// Returns whether the option was written, even with a value that was rejected.
    pub(crate) fn written(&self, key: &str) -> bool {
        self.keys.iter().any(|written| written.unraw() == key)
    }

    /// Reads the options into a struct. An option with an invalid value is reported and left out.
    pub(crate) fn options<T: FromMeta + Default>(&self, errors: &mut Errors) -> T {
        let all: Vec<_> = self.entries.iter().map(Entry::nested).collect();
        T::from_list(&all).unwrap_or_else(|_| {
            // Each entry is tried alone, because darling returns nothing if one of them is invalid.
            let valid = |entry: &&Entry| match T::from_list(&[entry.nested()]) {
                Ok(_) => true,
                Err(error) => {
                    entry.report(error, errors);
                    false
                }
            };
            let valid: Vec<_> = self.entries.iter().filter(valid).map(Entry::nested).collect();
            T::from_list(&valid).unwrap_or_default()
        })
    }
}

impl Entry {
    fn nested(&self) -> NestedMeta {
        NestedMeta::Meta(self.meta.clone())
    }

    /// Returns the value of `key = value`.
    fn value(&self) -> Option<&Expr> {
        match &self.meta {
            Meta::NameValue(pair) => Some(&pair.value),
            Meta::Path(_) | Meta::List(_) => None,
        }
    }

    /// Reports errors of the value, each at its own span.
    fn report(&self, error: darling::Error, errors: &mut Errors) {
        for error in error.flatten() {
            let at = error.span();
            let error = syn::Error::from(error);
            let message = match error.to_string() {
                message if message == values::UNEXPECTED => self.unexpected(),
                message => message,
            };
            // An error has one span, which for a value of several tokens is that of the first.
            let value = self.value().filter(|value| !matches!(value, Expr::Call(_)));
            match value.filter(|value| starts_at(value, at)) {
                Some(value) => errors.push(value, message),
                None => errors.push_at(at, message),
            }
        }
    }

    /// Returns the message for a value of the wrong form: `` expected a string, `queue = "mail"` ``.
    fn unexpected(&self) -> String {
        let Opt { key, takes, example, .. } = self.option;
        let expected = takes.expected();
        match self.value().map(values::kind) {
            Some(Kind::BareWord(word)) if expected == "a string" => {
                format!("expected {expected}, `{key} = \"{word}\"`")
            }
            _ => format!("expected {expected}, `{example}`"),
        }
    }
}

/// Returns whether the first token of `value` is at `span`. Spans cannot be compared, but their debug output can.
fn starts_at(value: &Expr, span: Span) -> bool {
    let first = value.to_token_stream().into_iter().next();
    first.is_some_and(|first| format!("{:?}", first.span()) == format!("{span:?}"))
}

/// Parses the list. Invalid entries are reported in `errors`; valid ones are returned.
pub(crate) fn read(table: &Table, tokens: TokenStream, errors: &mut Errors) -> Entries {
    let mut read = Entries::default();
    let parser = |input: ParseStream<'_>| {
        while !input.is_empty() {
            let understood = entry(table, input, &mut read, errors).is_some();
            if understood && !input.is_empty() && !input.peek(Token![,]) {
                let token: TokenTree = input.parse()?;
                errors.push(token, "expected `,` before the next option");
            }
            skip_to_next(input);
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        errors.syntax(error);
    }
    read
}

fn entry(
    table: &Table,
    input: ParseStream<'_>,
    read: &mut Entries,
    errors: &mut Errors,
) -> Option<()> {
    let Ok(key) = Ident::parse_any(input) else {
        if let Ok(token) = input.parse::<TokenTree>() {
            errors.push(token, table.positional);
        }
        return None;
    };
    read.keys.push(key.clone());
    let name = key.unraw().to_string();
    let Some(option) = table.find(&name) else {
        errors.push(&key, table.unknown(&name, number(input)));
        return None;
    };
    let repeated = read.entries.iter().any(|entry| entry.option.key == name);
    if repeated && !table.repeatable.contains(&option.key) {
        errors.push(&key, format_args!("option `{name}` is given twice"));
        return None;
    }
    let meta = meta(option, &key, input, errors)?;
    read.entries.push(Entry { option, meta });
    Some(())
}

/// Parses the part after the key and rejects forms that the option does not accept.
fn meta(
    option: &'static Opt,
    key: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> Option<Meta> {
    let meta = written(key, input, errors)?;
    let Opt { key: name, takes, example, .. } = option;
    let (at, message) = match (&meta, takes) {
        (Meta::Path(_), Takes::Flag | Takes::OptionalValue) | (Meta::List(_), Takes::List) => {
            return Some(meta);
        }
        (Meta::NameValue(pair), Takes::Flag) => {
            let remedy =
                if is_false(&pair.value) { "leave it out instead" } else { "write it alone" };
            (pair.value.to_token_stream(), format!("option `{name}` takes no value; {remedy}"))
        }
        (Meta::NameValue(pair), Takes::List) => {
            (pair.value.to_token_stream(), format!("option `{name}` takes a list, `{example}`"))
        }
        (Meta::NameValue(_), _) => return Some(meta),
        (Meta::List(_), Takes::Flag) => {
            (key.to_token_stream(), format!("option `{name}` takes no value; write it alone"))
        }
        (Meta::Path(_), _) => {
            let expected = takes.expected();
            (
                key.to_token_stream(),
                format!("option `{name}` needs a value: {expected}, `{example}`"),
            )
        }
        (Meta::List(_), _) => {
            let more = match takes {
                Takes::OptionalValue => format!(" or `{name} = value`"),
                _ if *name == "alias" => "; repeat the option for several".to_owned(),
                _ => String::new(),
            };
            (key.to_token_stream(), format!("option `{name}` must be written `{example}`{more}"))
        }
    };
    errors.push(at, message);
    None
}

/// Parses `key`, `key = value` or `key(list)`.
fn written(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Meta> {
    let path = key.unraw().into();
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        let colon: Token![:] = input.parse().ok()?;
        errors.push(colon, format_args!("expected `=`, found `:`; write `{key} = …`"));
        return None;
    }
    if input.peek(Token![=]) {
        let eq_token: Token![=] = input.parse().ok()?;
        if input.is_empty() || input.peek(Token![,]) {
            errors.push(quote::quote!(#key #eq_token), "expected a value after `=`");
            return None;
        }
        return match input.parse() {
            Ok(value) => Some(Meta::NameValue(MetaNameValue { path, eq_token, value })),
            Err(error) => {
                errors.syntax(error);
                None
            }
        };
    }
    if !input.peek(token::Paren) {
        return Some(Meta::Path(path));
    }
    let list = |input: ParseStream<'_>| {
        let inside;
        let parentheses = parenthesized!(inside in input);
        let delimiter = MacroDelimiter::Paren(parentheses);
        Ok(MetaList { path, delimiter, tokens: inside.parse()? })
    };
    list(input).ok().map(Meta::List)
}

/// Returns the number in `= 3`, without consuming it.
fn number(input: ParseStream<'_>) -> Option<u32> {
    let ahead = input.fork();
    ahead.parse::<Token![=]>().ok()?;
    ahead.parse::<syn::LitInt>().ok()?.base10_parse().ok()
}

fn is_false(value: &Expr) -> bool {
    matches!(values::kind(value), Kind::Literal(syn::Lit::Bool(given)) if !given.value)
}

/// Skips the rest of an invalid entry, up to and including the next comma.
fn skip_to_next(input: ParseStream<'_>) {
    while !input.is_empty() {
        if input.peek(Token![,]) {
            let _: syn::Result<Token![,]> = input.parse();
            return;
        }
        let _: syn::Result<TokenTree> = input.parse();
    }
}
