//! `#[circuit_breaker(…)]`: parses the breaker's options and attaches them to the `#[job]` on the same item.

use std::time::Duration;

use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Attribute;
use syn::parse::{ParseStream, Parser};

use crate::diag::Errors;
use crate::entries;
use crate::job::signature::{arguments, is};
use crate::table::{Opt, Table, Takes};
use crate::values::{ErrorList, Name, Percent, Value, Within};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "circuit_breaker",
    options: &[
        Opt { key: "service", takes: Takes::Text, example: r#"service = "payment-gateway""#, help: "The service this breaker guards; jobs that name the same one share it." },
        Opt { key: "profile", takes: Takes::Text, example: r#"profile = "external-api""#, help: "A named bundle of settings." },
        Opt { key: "failure_rate", takes: Takes::Number, example: "failure_rate = 50", help: "The share of failed calls, in percent, that opens the breaker." },
        Opt { key: "window", takes: Takes::Number, example: "window = 100", help: "How many of the last outcomes are looked at." },
        Opt { key: "min_calls", takes: Takes::Number, example: "min_calls = 5", help: "How many outcomes there must be before the rate counts." },
        Opt { key: "open_for", takes: Takes::Duration, example: r#"open_for = "30s""#, help: "How long the breaker stays open before it lets probes through." },
        Opt { key: "probes", takes: Takes::Number, example: "probes = 3", help: "How many probes must succeed to close it again." },
        Opt { key: "ignore", takes: Takes::List, example: "ignore(NotFound)", help: "Errors that say nothing about the service." },
        Opt { key: "record", takes: Takes::List, example: "record(Timeout)", help: "The only errors that count against the service." },
    ],
    foreign: &[
        ("name", "service"), ("threshold", "failure_rate"), ("failure_threshold", "failure_rate"), ("failure_rate_threshold", "failure_rate"),
        ("window_size", "window"), ("sliding_window_size", "window"), ("minimum_number_of_calls", "min_calls"),
        ("wait_duration", "open_for"), ("timeout", "open_for"), ("reset_timeout", "open_for"), ("half_open_calls", "probes"),
        ("permitted_calls", "probes"), ("ignore_errors", "ignore"), ("record_errors", "record"),
    ],
    elsewhere: &[],
    positional: "expected `option = value`; to name the service write `service = \"...\"`",
    repeatable: &[],
};

/// The settings of a circuit breaker, as written.
#[derive(Clone, Default, FromMeta)]
#[darling(default)]
pub(crate) struct Breaker {
    pub(crate) service: Option<Value<Name>>,
    pub(crate) profile: Option<Value<Name>>,
    pub(crate) failure_rate: Option<Value<Percent>>,
    pub(crate) window: Option<Value<Within<1, 10_000>>>,
    pub(crate) min_calls: Option<Value<Within<1, 10_000>>>,
    pub(crate) open_for: Option<Value<Duration>>,
    pub(crate) probes: Option<Value<Within<1, 10_000>>>,
    pub(crate) ignore: ErrorList,
    pub(crate) record: ErrorList,
}

impl Breaker {
    /// Removes the attribute from `attrs` and parses it, if present.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Self> {
        let mut breaker = None;
        attrs.retain(|attr| {
            let ours = is(attr, "circuit_breaker");
            if ours && breaker.is_some() {
                errors.push(attr, "`#[circuit_breaker]` is applied twice");
            } else if ours {
                breaker = Some(Self::read(attr, errors));
            }
            !ours
        });
        breaker.flatten()
    }

    fn read(attr: &Attribute, errors: &mut Errors) -> Option<Self> {
        let read = entries::read(&OPTIONS, arguments(attr), errors);
        let breaker: Self = read.options(errors);
        if !read.written("service") {
            errors.push(
                attr.path(),
                "a circuit breaker needs its service, `service = \"payment-gateway\"`",
            );
        }
        breaker.check(errors);
        breaker.service.is_some().then_some(breaker)
    }

    /// Rejects a `window` smaller than `min_calls`: such a breaker would never open.
    fn check(&self, errors: &mut Errors) {
        let window = match &self.window {
            None => Some(100),
            Some(window) => window.literal().map(|window| window.0),
        };
        let min_calls = self.min_calls.as_ref().and_then(|min| Some((min.literal()?.0, min)));
        if let (Some(window), Some((min, at))) = (window, min_calls)
            && min > window
        {
            errors.push(
                at,
                format_args!("`min_calls` of {min} does not fit into a `window` of {window}: the breaker would never open"),
            );
        }
        if let Some(open_for) = &self.open_for
            && open_for.literal().is_some_and(Duration::is_zero)
        {
            errors.push(open_for, "`open_for` must be longer than zero");
        }
        if let (Some(_), Some(at)) = (self.ignore.first(), self.record.first()) {
            errors.push(at, "`record` already names the only errors that count; remove `ignore`");
        }
    }
}

/// Expands an attribute written above `#[job]` or `#[jobs]` by moving it below that attribute.
pub(crate) fn expand(args: &TokenStream, item: TokenStream) -> TokenStream {
    let split = |input: ParseStream<'_>| {
        Ok((input.call(Attribute::parse_outer)?, input.parse::<TokenStream>()?))
    };
    let Ok((attrs, rest)) = split.parse2(item.clone()) else { return item };
    let Some(job) = attrs.iter().position(|attr| is(attr, "job") || is(attr, "jobs")) else {
        let mut errors = Errors::default();
        errors.push_at(
            Span::call_site(),
            "`#[circuit_breaker]` guards a job: put it beside `#[job]`, or on a `#[jobs] impl` block",
        );
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    };
    let (above, below) = attrs.split_at(job + 1);
    let name = Ident::new("circuit_breaker", Span::call_site());
    let this = if args.is_empty() { quote!(#[#name]) } else { quote!(#[#name(#args)]) };
    let above = above.iter().map(ToTokens::to_token_stream);
    quote!(#(#above)* #this #(#below)* #rest)
}
