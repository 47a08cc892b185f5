//! `#[classify]`: every variant of an error enum must say what a failure with it means.

use std::time::Duration;

use darling::FromMeta;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ItemEnum, Meta, Variant};

use crate::diag::Errors;
use crate::do_not_retry::{self, Checks, Mark};
use crate::entries;
use crate::job::signature::{arguments, is};
use crate::krate::Krate;
use crate::table::{Opt, Table, Takes};
use crate::values::{Value, duration_tokens};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "classify",
    options: &[
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, if the dependency is renamed." },
    ],
    foreign: &[],
    elsewhere: &[],
    positional: "`#[classify]` takes only `crate = ::path`; the marks stand on the variants",
    repeatable: &[],
};

#[derive(Default, FromMeta)]
#[darling(default)]
struct Options {
    #[darling(rename = "crate")]
    krate: Krate,
}

/// What a failure means. Each is an attribute of a variant.
enum Class {
    Retry,
    RetryAfter(TokenStream),
    DoNotRetry(Box<Mark>),
    Snooze(TokenStream),
    Reject,
    Invalid,
}

const MARKS: &str = "`#[retry]`, `#[retry_after(\"5m\")]`, `#[do_not_retry]`, `#[snooze(\"1h\")]`, `#[reject]` or `#[invalid]`";

pub(crate) fn expand(args: TokenStream, input: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Options { krate } = entries::read(&OPTIONS, args, &mut errors).options(&mut errors);
    let Ok(mut item) = syn::parse2::<ItemEnum>(input.clone()) else {
        errors.push_at(
            Span::call_site(),
            "`#[classify]` goes on an enum of errors; a struct has one meaning: mark it `#[do_not_retry]`, or leave it unmarked",
        );
        let errors = errors.into_tokens();
        return quote!(#input #errors);
    };
    do_not_retry::check_generics(&item.generics, &mut errors);
    let transparent = do_not_retry::transparent(&item);
    let classes: Vec<_> =
        item.variants.iter_mut().map(|variant| class(variant, &mut errors)).collect();
    if !errors.is_empty() {
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    }
    let marked = item.variants.iter().zip(classes.iter().flatten());
    let permanent = arms(&item, marked.clone(), |name, class| match class {
        Class::DoNotRetry(mark) => Some(mark.reason(&name)),
        _ => None,
    });
    let class = arms(&item, marked, |_, class| match class {
        Class::Retry | Class::DoNotRetry(_) => None,
        Class::RetryAfter(delay) => Some(quote!(__ratchet::ErrorClass::RetryAfter(#delay))),
        Class::Snooze(delay) => Some(quote!(__ratchet::ErrorClass::Snooze(#delay))),
        Class::Reject => Some(quote!(__ratchet::ErrorClass::Reject)),
        Class::Invalid => Some(quote!(__ratchet::ErrorClass::Invalid)),
    });
    let registration = Checks { permanent, transparent, class }.registration(&krate);
    quote!(#item #registration)
}

/// Generates a `match` with an arm for every variant, or `None` if all of them are `None`.
fn arms<'a>(
    item: &ItemEnum,
    variants: impl Iterator<Item = (&'a Variant, &'a Class)>,
    value: impl Fn(String, &Class) -> Option<TokenStream>,
) -> Option<TokenStream> {
    let name = &item.ident;
    let mut any = false;
    let arms: Vec<_> = variants
        .map(|(Variant { ident, attrs, .. }, class)| {
            // rustc has not evaluated the `cfg`s of the variants yet, so the arms repeat them.
            let cfgs = attrs.iter().filter(|attr| is(attr, "cfg"));
            let value = value(format!("{name}::{ident}"), class);
            any |= value.is_some();
            let value = match value {
                Some(value) => quote!(__ratchet::Option::Some(#value)),
                None => quote!(__ratchet::Option::None),
            };
            quote!(#(#cfgs)* #name::#ident { .. } => #value,)
        })
        .collect();
    let link = do_not_retry::link(name);
    any.then(|| quote!(match #link? { #(#arms)* }))
}

/// Removes the mark from a variant and parses it.
fn class(variant: &mut Variant, errors: &mut Errors) -> Option<Class> {
    let attrs = std::mem::take(&mut variant.attrs);
    let (ours, others): (Vec<Attribute>, Vec<_>) = attrs.into_iter().partition(is_mark);
    variant.attrs = others;
    let name = &variant.ident;
    let Some(mark) = ours.first() else {
        errors.push(
            name,
            format_args!("variant `{name}` must say what a failure means: mark it {MARKS}"),
        );
        return None;
    };
    if let Some(second) = ours.get(1) {
        errors.push(
            second,
            format_args!("variant `{name}` is marked twice; a failure has one meaning"),
        );
        return None;
    }
    match () {
        () if is(mark, "do_not_retry") => {
            let read = Mark::read(arguments(mark), errors);
            if read.all.is_present() {
                errors.push_at(read.all.span(), "`all` must not stand on a variant");
            }
            Some(Class::DoNotRetry(Box::new(read)))
        }
        () if is(mark, "retry_after") => delay(mark, errors).map(Class::RetryAfter),
        () if is(mark, "snooze") => delay(mark, errors).map(Class::Snooze),
        () => {
            if !matches!(mark.meta, Meta::Path(_)) {
                let name = crate::idents::text(mark.path().to_token_stream());
                errors.push(mark, format_args!("`#[{name}]` takes no options"));
            }
            Some(match () {
                () if is(mark, "retry") => Class::Retry,
                () if is(mark, "reject") => Class::Reject,
                () => Class::Invalid,
            })
        }
    }
}

fn is_mark(attr: &Attribute) -> bool {
    let marks = ["retry", "retry_after", "do_not_retry", "snooze", "reject", "invalid"];
    marks.iter().any(|mark| is(attr, mark))
}

/// Parses the delay in `#[snooze("1h")]`: a duration, or a constant.
fn delay(attr: &Attribute, errors: &mut Errors) -> Option<TokenStream> {
    let name = attr.path().to_token_stream().to_string();
    let expected = format!("expected a duration, `#[{name}(\"5m\")]`");
    let Ok(value) = attr.parse_args::<Expr>() else {
        errors.push(attr, expected);
        return None;
    };
    match Value::<Duration>::read(&name, &value) {
        Ok(delay) => {
            let delay = duration_tokens(&delay);
            Some(quote_spanned!(value.span()=> #delay))
        }
        Err(error) => {
            let message = match syn::Error::from(error).to_string() {
                message if message == crate::values::UNEXPECTED => expected,
                message => message,
            };
            errors.push(&value, message);
            None
        }
    }
}
