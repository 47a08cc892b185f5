//! `#[do_not_retry]`: marks errors that must not be retried.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Generics, Item, ItemEnum, ItemStruct, Variant};

use crate::diag::Errors;
use crate::entries::{self, Entries};
use crate::job::signature::{arguments, is};
use crate::krate::{self, Krate};
use crate::table::{Opt, Table, Takes};
use crate::values::{self, Value};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "do_not_retry",
    options: &[
        Opt { key: "reason", takes: Takes::Text, example: r#"reason = "the card is expired""#, help: "Why asking again changes nothing; shown with the dead letter." },
        Opt { key: "all", takes: Takes::Flag, example: "all", help: "Every variant of the enum." },
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, if the dependency is renamed." },
    ],
    foreign: &[("message", "reason"), ("why", "reason"), ("because", "reason")],
    positional: "expected `reason = \"...\"`",
    repeatable: &[],
};

/// The parsed arguments of one `#[do_not_retry]`.
#[derive(Default)]
struct Mark {
    reason: Option<Value<String>>,
    all: Option<Ident>,
    krate: Krate,
}

impl Mark {
    fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut mark = Self::default();
        let Entries { entries, .. } = entries::read(&OPTIONS, tokens, errors);
        for entry in &entries {
            match entry.option.key {
                "reason" => mark.reason = reason(entry, errors),
                "all" => mark.all = Some(entry.key.clone()),
                _ => {
                    mark.krate = values::value(entry)
                        .map(|value| Krate::read(value, errors))
                        .unwrap_or_default();
                }
            }
        }
        mark
    }

    /// Returns the given reason, or a default that names the marked item.
    fn reason(&self, what: &str) -> TokenStream {
        match &self.reason {
            Some(reason) => reason.to_token_stream(),
            None => format!("`{what}` is marked `#[do_not_retry]`").to_token_stream(),
        }
    }
}

fn reason(entry: &entries::Entry, errors: &mut Errors) -> Option<Value<String>> {
    let reason = values::text(entry, errors)?;
    if reason.literal().is_some_and(|reason| reason.trim().is_empty()) {
        errors.push(&reason, "the reason is empty; say why asking again changes nothing");
        return None;
    }
    Some(reason)
}

pub(crate) fn expand(args: TokenStream, input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mark = Mark::read(args, &mut errors);
    let (item, checks) = match syn::parse2(input.clone()) {
        Ok(Item::Struct(item)) => {
            let permanent = Some(structure(&item, &mark, &mut errors));
            (item.into_token_stream(), Checks { permanent, transparent: None })
        }
        Ok(Item::Enum(mut item)) => {
            let transparent = transparent(&item);
            let permanent = enumeration(&mut item, &mark, transparent.is_some(), &mut errors);
            (item.into_token_stream(), Checks { permanent, transparent })
        }
        Ok(_) => {
            errors.push_at(
                Span::call_site(),
                "`#[do_not_retry]` goes on an error type: a struct, an enum, or variants of an enum",
            );
            (input, Checks::default())
        }
        Err(error) => {
            errors.syntax(error);
            (input, Checks::default())
        }
    };
    if !errors.is_empty() {
        let errors = errors.into_tokens();
        return quote!(#item #errors);
    }
    let import = mark.krate.import();
    let Checks { permanent, transparent } = checks;
    let layer = layer();
    let permanent = permanent.map(|check| {
        quote! {
            const __PERMANENT: __ratchet::PermanentError =
                __ratchet::PermanentError::new(|#layer| #check);

            __ratchet::submit! { __PERMANENT }
        }
    });
    let transparent = transparent.map(|inner| {
        quote! {
            const __TRANSPARENT: __ratchet::TransparentError =
                __ratchet::TransparentError::new(|link| #inner);

            __ratchet::submit! { __TRANSPARENT }
        }
    });
    quote! {
        #item

        #[allow(unused_qualifications)]
        const _: () = {
            #import

            #permanent
            #transparent
        };
    }
}

/// The generated functions of one annotated type.
#[derive(Default)]
struct Checks {
    /// Returns the reason if the error must not be retried.
    permanent: Option<TokenStream>,
    /// Returns the field of a transparent variant.
    transparent: Option<TokenStream>,
}

/// Generates `permanent::<CardExpired>(error).map(|_| "reason")` for `struct CardExpired`.
fn structure(item: &ItemStruct, mark: &Mark, errors: &mut Errors) -> TokenStream {
    check_generics(&item.generics, errors);
    if let Some(all) = &mark.all {
        errors.push(all, "`all` speaks of the variants of an enum, and this is a struct");
    }
    let link = link(&item.ident);
    let reason = mark.reason(&item.ident.to_string());
    quote!(#link.map(|_| #reason))
}

/// Generates a `match` with one arm per marked variant.
///
/// Returns `None` if no variant is marked, which is allowed if the attribute is there for its transparent variants.
fn enumeration(
    item: &mut ItemEnum,
    mark: &Mark,
    looks_through: bool,
    errors: &mut Errors,
) -> Option<TokenStream> {
    check_generics(&item.generics, errors);
    let name = item.ident.clone();
    let marks: Vec<_> = item.variants.iter_mut().map(|variant| take(variant, errors)).collect();
    let marked = marks.iter().filter(|mark| mark.is_some()).count();
    let link = link(&name);
    if marked == 0 {
        if mark.all.is_none() && mark.reason.is_none() && !item.variants.is_empty() {
            if !looks_through {
                errors.push(
                    &name,
                    format_args!("no variant of `{name}` is marked `#[do_not_retry]`; mark some, or write `#[do_not_retry(all)]`"),
                );
            }
            return None;
        }
        let reason = mark.reason(&name.to_string());
        return Some(quote!(#link.map(|_| #reason)));
    }
    let arms = item.variants.iter().zip(&marks).filter_map(|(variant, own)| {
        let own = own.as_ref().or(mark.all.is_some().then_some(mark))?;
        let Variant { ident, attrs, .. } = variant;
        // rustc has not evaluated the `cfg`s of the variants yet, so the arms repeat them.
        let cfgs = attrs.iter().filter(|attr| is(attr, "cfg"));
        let reason = match (&own.reason, &mark.reason) {
            (None, Some(shared)) => shared.to_token_stream(),
            _ => own.reason(&format!("{name}::{ident}")),
        };
        Some(quote!(#(#cfgs)* #name::#ident { .. } => __ratchet::Option::Some(#reason),))
    });
    let rest = (marked < item.variants.len() && mark.all.is_none())
        .then(|| quote!(_ => __ratchet::Option::None,));
    Some(quote!(match #link? { #(#arms)* #rest }))
}

/// Generates a function that returns the field of each `#[error(transparent)]` variant: `source()` skips it.
fn transparent(item: &ItemEnum) -> Option<TokenStream> {
    let name = &item.ident;
    let is_transparent =
        |attr: &&Attribute| is(attr, "error") && arguments(attr).to_string() == "transparent";
    let arms: Vec<_> = item
        .variants
        .iter()
        .filter(|variant| variant.attrs.iter().any(|attr| is_transparent(&attr)))
        .filter_map(|variant| {
            let Variant { ident, attrs, fields, .. } = variant;
            let field = fields.members().next()?;
            let cfgs = attrs.iter().filter(|attr| is(attr, "cfg"));
            Some(quote! {
                #(#cfgs)*
                #name::#ident { #field: inner, .. } => __ratchet::Option::Some(inner.as_dyn_error()),
            })
        })
        .collect();
    if arms.is_empty() {
        return None;
    }
    Some(quote! {{
        #[allow(unused_imports)]
        use __ratchet::AsDynError as _;
        match link.downcast_ref::<#name>()? {
            #(#arms)*
            #[allow(unreachable_patterns)]
            _ => __ratchet::Option::None,
        }
    }})
}

/// Removes the attribute from a variant and parses it, if present.
fn take(variant: &mut Variant, errors: &mut Errors) -> Option<Mark> {
    let attrs = std::mem::take(&mut variant.attrs);
    let (ours, others): (Vec<Attribute>, Vec<_>) =
        attrs.into_iter().partition(|attr| is(attr, "do_not_retry"));
    variant.attrs = others;
    if let Some(twice) = ours.get(1) {
        errors.push(twice, "`#[do_not_retry]` is applied twice");
    }
    let mark = Mark::read(arguments(ours.first()?), errors);
    if let Some(all) = &mark.all {
        errors.push(all, "`all` goes on the enum, not on a variant");
    }
    Some(mark)
}

fn check_generics(generics: &Generics, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.push(
            generics,
            "a `#[do_not_retry]` error cannot be generic: it is found in a source chain by its one concrete type",
        );
    }
}

/// Generates the downcast, with the span of the type's name. Only this call requires a standard error.
fn link(name: &Ident) -> TokenStream {
    let span = name.span();
    let permanent = krate::item("permanent", span);
    // The variable needs the span of the closure, because a type that a `macro_rules!` names has another hygiene.
    let layer = layer();
    quote_spanned!(span=> #permanent::<#name>(#layer))
}

/// The argument of the generated closure.
fn layer() -> Ident {
    Ident::new("layer", Span::mixed_site())
}
