//! `#[jobs]`: makes methods of an `impl` block jobs, as in `#[jobs] impl Service { #[job] async fn charge(&self, …) }`.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, FnArg, ImplItem, ItemImpl, Meta, Path, Type};

use crate::breaker::Breaker;
use crate::diag::Errors;
use crate::entries;
use crate::idents;
use crate::job;
use crate::job::Block;
use crate::job::options::Options;
use crate::job::signature::{JobFn, arguments, is};
use crate::table::{Opt, Table, Takes};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "jobs",
    options: &[
        Opt { key: "queue", takes: Takes::Text, example: r#"queue = "mail""#, help: "The queue of every job of the block." },
        Opt { key: "priority", takes: Takes::Word, example: "priority = high", help: "The priority of every job of the block." },
        Opt { key: "max_retries", takes: Takes::Number, example: "max_retries = 5", help: "How often a failed run is tried again." },
        Opt { key: "backoff", takes: Takes::Value, example: r#"backoff = exponential("1s", max = "30s")"#, help: "The wait between attempts." },
        Opt { key: "timeout", takes: Takes::Duration, example: r#"timeout = "30s""#, help: "The longest a run may take." },
        Opt { key: "soft_timeout", takes: Takes::Duration, example: r#"soft_timeout = "20s""#, help: "When to warn that a run takes long." },
        Opt { key: "delay", takes: Takes::Duration, example: r#"delay = "5m""#, help: "How long a submitted job waits before its first run." },
        Opt { key: "expires_in", takes: Takes::Duration, example: r#"expires_in = "1h""#, help: "How long after its submit a job is canceled unless it has started." },
        Opt { key: "retry_within", takes: Takes::Duration, example: r#"retry_within = "2h""#, help: "How long after its submit a failed run may be retried." },
        Opt { key: "panic", takes: Takes::Word, example: "panic = dlq", help: "What a panic does: `retry` or `dlq`." },
        Opt { key: "trace", takes: Takes::Word, example: "trace = link", help: "How runs relate to the trace of the submit: `auto`, `parent`, `link` or `off`." },
        Opt { key: "tags", takes: Takes::List, example: r#"tags("mail", "eu")"#, help: "Tags of every job of the block." },
        Opt { key: "derive", takes: Takes::List, example: "derive(Debug, Clone)", help: "Derives on the invocation structs." },
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, for every job of the block." },
    ],
    foreign: &[],
    elsewhere: &[
        ("name", OF_A_METHOD), ("alias", OF_A_METHOD), ("version", OF_A_METHOD), ("upgrade", OF_A_METHOD), ("oldest", OF_A_METHOD), ("business_key", OF_A_METHOD), ("on_conflict", OF_A_METHOD),
        ("idempotency_key", OF_A_METHOD), ("idempotency_within", OF_A_METHOD), ("concurrency_key", OF_A_METHOD), ("concurrency_limit", OF_A_METHOD),
        ("single_instance", OF_A_METHOD), ("ordered_by", OF_A_METHOD), ("after_failure", OF_A_METHOD), ("accepts", OF_A_METHOD), ("backlog_limit", OF_A_METHOD), ("hands_off", OF_A_METHOD), ("on_full", OF_A_METHOD), ("cron", OF_A_METHOD), ("tz", OF_A_METHOD), ("overlap", OF_A_METHOD), ("alert_after", OF_A_METHOD), ("on_success", OF_A_METHOD),
        ("on_failure", OF_A_METHOD), ("before", OF_A_METHOD), ("after", OF_A_METHOD), ("on_retry", OF_A_METHOD), ("blocking", OF_A_METHOD), ("validate", OF_A_METHOD), ("struct_name", OF_A_METHOD),
        ("strict", OF_A_METHOD), ("encrypt", OF_A_METHOD), ("implements", OF_A_METHOD),
    ],
    positional: "expected `option = value`; the name of a job goes on the `#[job]` of its method",
    repeatable: &[],
};

const OF_A_METHOD: &str = "it belongs to one job: put it on the `#[job]` of a method";

pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let shared: Options = entries::read(&OPTIONS, args, &mut errors).options(&mut errors);
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
    let (inner, members) = match members.parse2(body) {
        Ok(read) => read,
        Err(error) => {
            errors.syntax(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    if owner.is_some() && !members.iter().any(Member::is_job) {
        errors.push(header.impl_token, "no method of this block is marked `#[job]`");
    }
    let mut items = TokenStream::new();
    let mut inside = TokenStream::new();
    for member in members {
        match member {
            Member::Job(args, function) => {
                if let Some(owner) = &owner {
                    let args = resolve_self(args, owner);
                    let mut function = function;
                    resolve_self_in_arguments(&mut function, owner);
                    let block = Block { owner, options: &shared, breaker: breaker.as_ref() };
                    let expanded = job::expand_fn(args, *function, Some(&block), &mut errors);
                    items.extend(expanded.items);
                    // A method without a body was reported, and rustc would report it again.
                    if expanded.function.body.is_some() {
                        expanded.function.to_tokens(&mut inside);
                    }
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
    quote!(#header { #(#inner)* #inside } #items #errors)
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
fn members(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, Vec<Member>)> {
    let inner = input.call(Attribute::parse_inner)?;
    let mut members = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        members.push(match ahead.parse::<JobFn>() {
            Ok(_) => method(input.parse()?),
            Err(_) => Member::Other(input.parse::<ImplItem>()?.into_token_stream()),
        });
    }
    Ok((inner, members))
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

/// Replaces `Self` in the options of a method: they are used outside of the block.
fn resolve_self(tokens: TokenStream, owner: &Path) -> TokenStream {
    let generic = owner.segments.iter().any(|segment| !segment.arguments.is_none());
    let replace = |token: TokenTree| match token {
        TokenTree::Ident(word) if word == "Self" => {
            let path = if generic { quote!(<#owner>) } else { quote!(#owner) };
            let located = path.into_iter().map(|mut token| {
                token.set_span(word.span().resolved_at(token.span()));
                token
            });
            located.collect()
        }
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), resolve_self(group.stream(), owner));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => TokenStream::from(other),
    };
    tokens.into_iter().map(replace).collect()
}

/// Replaces `Self` in the options of the arguments.
fn resolve_self_in_arguments(function: &mut JobFn, owner: &Path) {
    for input in &mut function.sig.inputs {
        let FnArg::Typed(argument) = input else { continue };
        for attr in argument.attrs.iter_mut().filter(|attr| is(attr, "job")) {
            if let Meta::List(list) = &mut attr.meta {
                list.tokens = resolve_self(list.tokens.clone(), owner);
            }
        }
    }
}

/// Returns the tokens before the braces.
fn header_tokens(header: &ItemImpl) -> TokenStream {
    let mut tokens: Vec<TokenTree> = header.to_token_stream().into_iter().collect();
    tokens.pop();
    tokens.into_iter().collect()
}
