//! `#[job]`: signature → options → model → check → expand. Each stage collects its errors and continues.

mod attributes;
mod check;
mod declaration;
mod expand;
mod lower;
pub(crate) mod marks;
mod model;
pub(crate) mod options;
mod params;
mod pipelines;
pub(crate) mod signature;
mod types;
mod upgrades;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Path;

use self::options::Options;
use self::signature::JobFn;
use crate::breaker::Breaker;
use crate::completion;
use crate::diag::Errors;

/// The expansion of one job.
pub(crate) struct Expanded {
    /// The function without the attributes that only this macro understands.
    pub(crate) function: JobFn,
    /// The struct and its `impl Job`.
    pub(crate) items: TokenStream,
}

/// Expands `#[job]` on a free function.
pub(crate) fn expand(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let function = match syn::parse2::<JobFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            check_placement(&item, error, &mut errors);
            let item = without_helpers(item);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let Expanded { function, items } = expand_fn(args, function, None, &mut errors);
    // rustc accepts a function without a body only before the expansion.
    let function = function.body.is_some().then_some(function);
    let errors = errors.into_tokens();
    quote!(#function #items #errors)
}

/// The `#[jobs]` block that contains a method.
pub(crate) struct Block<'a> {
    pub(crate) owner: &'a Path,
    /// The options that the methods share.
    pub(crate) options: &'a Options,
    pub(crate) breaker: Option<&'a Breaker>,
}

/// Expands one function: a free function, or a method of a block.
pub(crate) fn expand_fn(
    args: TokenStream,
    mut function: JobFn,
    block: Option<&Block<'_>>,
    errors: &mut Errors,
) -> Expanded {
    let mut found = Errors::default();
    let mut options = Options::read(args, &mut found);
    let mut breaker = Breaker::take(&mut function.attrs, &mut found);
    if let Some(block) = block {
        options = options.or(block.options);
        breaker = breaker.or_else(|| block.breaker.cloned());
    }
    options.krate.check(&mut found);
    let owner = block.map(|block| block.owner);
    let triggers = completion::alone(&options.krate, &options.keys);
    let expanded = match lower::lower(function, options, breaker, owner, &mut found) {
        Ok(model) => {
            check::check(&model, &mut found);
            // Without the runtime nothing that refers to it can compile.
            let items = match model.options.krate.is_missing() {
                true => TokenStream::new(),
                false => expand::expand(&model, found.is_empty()),
            };
            Expanded { function: model.function, items }
        }
        Err(function) => Expanded { function: *function, items: triggers },
    };
    errors.append(found);
    expanded
}

/// Reports the kind of item that `#[job]` was placed on, if it is not a function.
fn check_placement(item: &TokenStream, error: syn::Error, errors: &mut Errors) {
    const ITEMS: [&str; 9] =
        ["struct", "enum", "union", "trait", "impl", "mod", "static", "type", "use"];
    let words = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    let words: Vec<_> = words.collect();
    let function = words.iter().position(|word| word == "fn");
    let mut before = words.iter().take(function.unwrap_or(words.len()));
    let is_item = |word: &&Ident| {
        ITEMS.iter().any(|item| *word == item) || (function.is_none() && *word == "const")
    };
    match before.find(is_item) {
        Some(word) if word == "impl" => errors.push(
            word,
            "`#[job]` goes on an async function; for the methods of an `impl` block write `#[jobs]` here",
        ),
        Some(word) => {
            let article = if word.to_string().starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
            errors.push(word, format_args!("`#[job]` goes on an async function, not on {article} `{word}`"));
        }
        None => errors.syntax(error),
    }
}

/// Removes the helper attributes from code that does not parse. Everything else passes through unchanged.
fn without_helpers(item: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = Vec::new();
    let mut iter = item.into_iter().peekable();
    while let Some(token) = iter.next() {
        match (&token, iter.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(attr)))
                if hash.as_char() == '#' && is_helper(attr) =>
            {
                iter.next();
            }
            (TokenTree::Group(group), _) if group.delimiter() == Delimiter::Parenthesis => {
                let mut inner = Group::new(Delimiter::Parenthesis, without_helpers(group.stream()));
                inner.set_span(group.span());
                tokens.push(inner.into());
            }
            _ => tokens.push(token),
        }
    }
    tokens.into_iter().map(TokenTree::into_token_stream).collect()
}

fn is_helper(attr: &Group) -> bool {
    let first = attr.stream().into_iter().next().map(|token| token.to_string());
    matches!(first.as_deref(), Some("inject" | "input" | "job" | "circuit_breaker"))
}
