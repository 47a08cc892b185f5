//! `#[jobs]`: makes methods of an `impl` block jobs, as in `#[jobs] impl Service { #[job] async fn charge(&self, …) }`.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{ImplItem, ItemImpl, Path, Type};

use crate::breaker::Breaker;
use crate::diag::Errors;
use crate::entries;
use crate::idents;
use crate::job;
use crate::job::signature::{JobFn, arguments, is};
use crate::table::{Opt, Table, Takes};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "jobs",
    options: &[
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, for every job of the block." },
    ],
    foreign: &[],
    positional: "`#[jobs]` takes only `crate = ::path`; the options of a job stand on its `#[job]`",
    repeatable: &[],
};

pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let krate = krate(args, &mut errors);
    let Some((header, body)) = split(item) else {
        check_placement(item, &mut errors);
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    };
    let mut header: ItemImpl = if let Ok(header) = syn::parse2(quote!(#header {})) {
        header
    } else {
        check_placement(item, &mut errors);
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    };
    let breaker = Breaker::take(&mut header.attrs, &mut errors);
    let owner = owner(&header, &mut errors);
    let members = match members.parse2(body) {
        Ok(members) => members,
        Err(error) => {
            errors.syntax(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    if owner.is_some() && !members.iter().any(Member::is_job) {
        errors.push(header.impl_token, "no method of this block is marked `#[job]`");
    }
    let mut triggers = TokenStream::new();
    let mut items = TokenStream::new();
    let mut inside = TokenStream::new();
    for member in members {
        match member {
            Member::Job(args, function) => {
                if let Some(owner) = &owner {
                    let args = if args.is_empty() || krate.is_empty() {
                        quote!(#args #krate)
                    } else {
                        quote!(#args, #krate)
                    };
                    let expanded =
                        job::expand_fn(args, *function, Some(owner), breaker.as_ref(), &mut errors);
                    triggers.extend(expanded.triggers);
                    items.extend(expanded.items);
                    expanded.function.to_tokens(&mut inside);
                } else {
                    let mut function = function;
                    function.strip_arguments();
                    function.to_tokens(&mut inside);
                }
            }
            Member::Other(tokens) => inside.extend(tokens),
        }
    }
    let header = header_tokens(&header);
    let errors = errors.into_tokens();
    quote!(#triggers #header { #inside } #items #errors)
}

/// Returns the block's `crate = ::path`, which is added to the options of every job; empty if not given.
fn krate(args: TokenStream, errors: &mut Errors) -> TokenStream {
    let tokens = args.clone();
    let read = entries::read(&OPTIONS, args, errors);
    if read.entries.is_empty() { TokenStream::new() } else { tokens }
}

/// Splits the block into its header and the tokens between its braces.
fn split(item: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    match tokens.pop()? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Some((tokens.into_iter().collect(), group.stream()))
        }
        _ => None,
    }
}

fn check_placement(item: &TokenStream, errors: &mut Errors) {
    const ITEMS: [&str; 8] = ["fn", "struct", "enum", "trait", "mod", "static", "const", "type"];
    let word = item.clone().into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if ITEMS.iter().any(|item| word == item) => Some(word),
        _ => None,
    });
    match word {
        Some(word) if word == "fn" => {
            errors.push(word, "`#[jobs]` goes on an `impl` block; a single function is `#[job]`");
        }
        Some(word) => {
            errors
                .push(&word, format_args!("`#[jobs]` goes on an `impl` block, not on a `{word}`"));
        }
        None => errors.push_at(Span::call_site(), "`#[jobs]` goes on an `impl` block"),
    }
}

/// Returns the service type. `&self` is injected as this type, and the structs are named after it.
fn owner(header: &ItemImpl, errors: &mut Errors) -> Option<Path> {
    if let Some((path, _)) = &header.trait_ {
        errors.push(
            path,
            "`#[jobs]` goes on the type's own `impl` block, not on the impl of a trait",
        );
        return None;
    }
    if !header.generics.params.is_empty() {
        let name = idents::text(header.self_ty.to_token_stream());
        errors.push(
            &header.generics,
            format_args!(
                "the jobs of `{name}` cannot be generic: the worker finds them by name alone"
            ),
        );
        return None;
    }
    let mut self_ty = &*header.self_ty;
    // A `macro_rules!` passes a type on in an invisible group.
    while let Type::Group(group) = self_ty {
        self_ty = &group.elem;
    }
    match self_ty {
        Type::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        other => {
            errors.push(other, "`#[jobs]` needs a type with a name");
            None
        }
    }
}

enum Member {
    /// A job: the arguments of its `#[job]`, and the method without that attribute.
    Job(TokenStream, Box<JobFn>),
    Other(TokenStream),
}

impl Member {
    fn is_job(&self) -> bool {
        matches!(self, Self::Job(..))
    }
}

/// Parses the members of the block. Bodies stay unparsed because they may be incomplete.
fn members(input: ParseStream<'_>) -> syn::Result<Vec<Member>> {
    let mut members = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        members.push(match ahead.parse::<JobFn>() {
            Ok(_) => method(input.parse()?),
            Err(_) => Member::Other(input.parse::<ImplItem>()?.into_token_stream()),
        });
    }
    Ok(members)
}

fn method(mut function: JobFn) -> Member {
    match function.attrs.iter().position(|attr| is(attr, "job")) {
        Some(job) => {
            let job = function.attrs.remove(job);
            Member::Job(arguments(&job), Box::new(function))
        }
        None => Member::Other(function.into_token_stream()),
    }
}

/// Returns the tokens before the braces.
fn header_tokens(header: &ItemImpl) -> TokenStream {
    let mut tokens: Vec<TokenTree> = header.to_token_stream().into_iter().collect();
    tokens.pop();
    tokens.into_iter().collect()
}
