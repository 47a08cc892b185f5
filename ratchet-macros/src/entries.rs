//! Parses the list inside an attribute: `key`, `key = value` or `key(list)`. An invalid entry does not affect the
//! remaining entries.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token, parenthesized, token};

use crate::diag::Errors;
use crate::table::{Opt, Table, Takes};

/// One option, as written.
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) option: &'static Opt,
    pub(crate) given: Given,
}

/// The part after the key. Its form always matches the option's [`Takes`].
pub(crate) enum Given {
    Flag,
    Value(Expr),
    List(TokenStream),
}

/// The valid entries, and every key that was written.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) entries: Vec<Entry>,
    /// Used for completion, so incomplete keys are included.
    pub(crate) keys: Vec<Ident>,
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
        errors.push(&key, table.unknown(&name));
        return None;
    };
    let repeated = read.entries.iter().any(|entry| entry.option.key == name);
    if repeated && !table.repeatable.contains(&option.key) {
        errors.push(&key, format_args!("option `{name}` is given twice"));
        return None;
    }
    let given = given(option, &key, input, errors)?;
    read.entries.push(Entry { key, option, given });
    Some(())
}

/// Parses the part after the key and rejects forms that the option does not accept.
fn given(
    option: &'static Opt,
    key: &Ident,
    input: ParseStream<'_>,
    errors: &mut Errors,
) -> Option<Given> {
    let Opt { key: name, takes, example, .. } = option;
    let given = if input.peek(Token![=]) {
        let equals: Token![=] = input.parse().ok()?;
        if input.is_empty() || input.peek(Token![,]) {
            errors.push(quote::quote!(#key #equals), "expected a value after `=`");
            return None;
        }
        match input.parse() {
            Ok(value) => Given::Value(ungrouped(value)),
            Err(error) => {
                errors.syntax(error);
                return None;
            }
        }
    } else if input.peek(token::Paren) {
        let list = |input: ParseStream<'_>| {
            let inside;
            parenthesized!(inside in input);
            inside.parse()
        };
        Given::List(list(input).ok()?)
    } else {
        Given::Flag
    };
    match (&given, takes) {
        (Given::Flag, Takes::Flag | Takes::OptionalValue) | (Given::List(_), Takes::List) => {
            Some(given)
        }
        (Given::Value(_), Takes::Flag | Takes::List) | (Given::List(_), Takes::Flag) => {
            let message = match takes {
                Takes::Flag => format!("option `{name}` takes no value"),
                _ => format!("option `{name}` takes a list, `{example}`"),
            };
            match &given {
                Given::Value(value) => errors.push(value, message),
                Given::List(_) | Given::Flag => errors.push(key, message),
            }
            None
        }
        (Given::Value(_), _) => Some(given),
        (Given::Flag, _) => {
            let expected = takes.expected();
            errors
                .push(key, format_args!("option `{name}` needs a value: {expected}, `{example}`"));
            None
        }
        (Given::List(_), _) => {
            let more = match *name {
                "alias" => "; repeat the option for several",
                _ => "",
            };
            errors.push(key, format_args!("option `{name}` is written `{example}`{more}"));
            None
        }
    }
}

/// Unwraps the invisible group around a `$value:expr` passed from a `macro_rules!` macro.
fn ungrouped(value: Expr) -> Expr {
    match value {
        Expr::Group(group) => ungrouped(*group.expr),
        value => value,
    }
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
