//! `#[do_not_retry]`: marks errors that must not be retried.

use darling::FromMeta;
use darling::util::Flag;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Generics, Item, ItemEnum, Variant};

use crate::diag::Errors;
use crate::entries;
use crate::job::signature::{arguments, is};
use crate::krate::{self, Krate};
use crate::table::{Opt, Table, Takes};
use crate::values::{Reason, Value};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "do_not_retry",
    options: &[
        Opt { key: "reason", takes: Takes::Text, example: r#"reason = "the card is expired""#, help: "Why asking again changes nothing; shown with the dead letter." },
        Opt { key: "all", takes: Takes::Flag, example: "all", help: "Every variant of the enum." },
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, if the dependency is renamed." },
    ],
    foreign: &[("message", "reason"), ("why", "reason"), ("because", "reason")],
    elsewhere: &[],
    positional: "expected `reason = \"...\"`",
    repeatable: &[],
};

/// The parsed arguments of one `#[do_not_retry]`.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct Mark {
    reason: Option<Value<Reason>>,
    pub(crate) all: Flag,
    #[darling(rename = "crate")]
    krate: Krate,
}

impl Mark {
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        entries::read(&OPTIONS, tokens, errors).options(errors)
    }

    /// Returns the given reason, or a default that names the marked item.
    pub(crate) fn reason(&self, what: &str) -> TokenStream {
        match &self.reason {
            Some(reason) => reason.to_token_stream(),
            None => format!("`{what}` is marked `#[do_not_retry]`").to_token_stream(),
        }
    }
}

pub(crate) fn expand(args: TokenStream, input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mark = Mark::read(args, &mut errors);
    let (item, checks) = match syn::parse2(input.clone()) {
        Ok(Item::Struct(mut item)) => {
            check_once(&mut item.attrs, &mut errors);
            let permanent = Some(structure(&item.ident, &item.generics, &mark, &mut errors));
            (item.into_token_stream(), Checks { permanent, ..Checks::default() })
        }
        Ok(Item::Enum(mut item)) => {
            check_once(&mut item.attrs, &mut errors);
            let checks = variants(&mut item, &mark, &mut errors);
            (item.into_token_stream(), checks)
        }
        Ok(_) => {
            errors.push_at(Span::call_site(), MISPLACED);
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
    let registration = checks.registration(&mark.krate);
    quote!(#item #registration)
}

const MISPLACED: &str =
    "`#[do_not_retry]` goes on an error type: a struct, an enum, or variants of an enum";

/// Expands `#[derive(DoNotRetry)]`. The marks are helper attributes of the derive and stay on the item.
pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let checks = match syn::parse2(input) {
        Ok(Item::Struct(mut item)) => {
            let mark = own_mark(&mut item.attrs, &mut errors);
            let permanent = Some(structure(&item.ident, &item.generics, &mark, &mut errors));
            Some((Checks { permanent, ..Checks::default() }, mark))
        }
        Ok(Item::Enum(mut item)) => {
            let mark = own_mark(&mut item.attrs, &mut errors);
            Some((variants(&mut item, &mark, &mut errors), mark))
        }
        Ok(_) => {
            errors
                .push_at(Span::call_site(), "`DoNotRetry` can be derived for a struct or an enum");
            None
        }
        Err(error) => {
            errors.syntax(error);
            None
        }
    };
    match checks {
        Some((checks, mark)) if errors.is_empty() => checks.registration(&mark.krate),
        _ => errors.into_tokens(),
    }
}

/// Returns the mark on the derived type itself: `#[do_not_retry(all)]`.
fn own_mark(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Mark {
    let ours = attrs.iter().position(|attr| is(attr, "do_not_retry"));
    let mark = ours.map(|ours| Mark::read(arguments(&attrs.remove(ours)), errors));
    check_once(attrs, errors);
    mark.unwrap_or_default()
}

fn variants(item: &mut ItemEnum, mark: &Mark, errors: &mut Errors) -> Checks {
    let transparent = transparent(item);
    let permanent = enumeration(item, mark, transparent.is_some(), errors);
    Checks { permanent, transparent, class: None }
}

/// Rejects and removes a second attribute on the type.
fn check_once(attrs: &mut Vec<Attribute>, errors: &mut Errors) {
    attrs.retain(|attr| {
        let again = is(attr, "do_not_retry");
        if again {
            errors.push(attr, "`#[do_not_retry]` is applied twice");
        }
        !again
    });
}

/// The generated functions of one annotated type.
#[derive(Default)]
pub(crate) struct Checks {
    /// Returns the reason if the error must not be retried.
    pub(crate) permanent: Option<TokenStream>,
    /// Returns the field of a transparent variant.
    pub(crate) transparent: Option<TokenStream>,
    /// Returns what else a failure means, for `#[classify]`.
    pub(crate) class: Option<TokenStream>,
}

impl Checks {
    /// Registers the functions.
    pub(crate) fn registration(self, krate: &Krate) -> TokenStream {
        let import = krate.import();
        let layer = layer();
        let permanent = self.permanent.map(|check| {
            quote! {
                const __PERMANENT: __ratchet::PermanentError =
                    __ratchet::PermanentError::new(|#layer| #check);

                __ratchet::submit! { __PERMANENT }
            }
        });
        let transparent = self.transparent.map(|inner| {
            quote! {
                const __TRANSPARENT: __ratchet::TransparentError =
                    __ratchet::TransparentError::new(|link| #inner);

                __ratchet::submit! { __TRANSPARENT }
            }
        });
        let class = self.class.map(|class| {
            quote! {
                const __CLASSIFIED: __ratchet::ClassifiedError =
                    __ratchet::ClassifiedError::new(|#layer| #class);

                __ratchet::submit! { __CLASSIFIED }
            }
        });
        quote! {
            #[allow(unused_qualifications)]
            const _: () = {
                #import

                #permanent
                #transparent
                #class
            };
        }
    }
}

/// Generates `permanent::<CardExpired>(error).map(|_| "reason")` for `struct CardExpired`.
fn structure(name: &Ident, generics: &Generics, mark: &Mark, errors: &mut Errors) -> TokenStream {
    check_generics(generics, errors);
    if mark.all.is_present() {
        errors
            .push_at(mark.all.span(), "`all` means the variants of an enum, and this is a struct");
    }
    let link = link(name);
    let reason = mark.reason(&name.to_string());
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
        if !mark.all.is_present() && !item.variants.is_empty() {
            // A mark that was rejected has been reported.
            if !errors.is_empty() {
                return None;
            }
            if let Some(reason) = &mark.reason {
                errors.push(
                    reason,
                    format_args!("the reason must say which variants of `{name}` it means; mark some with `#[do_not_retry]`, or write `#[do_not_retry(all, reason = …)]`"),
                );
            } else if !looks_through {
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
        let own = own.as_ref().or(mark.all.is_present().then_some(mark))?;
        let Variant { ident, attrs, .. } = variant;
        // rustc has not evaluated the `cfg`s of the variants yet, so the arms repeat them.
        let cfgs = attrs.iter().filter(|attr| is(attr, "cfg"));
        let reason = match (&own.reason, &mark.reason) {
            (None, Some(shared)) => shared.to_token_stream(),
            _ => own.reason(&format!("{name}::{ident}")),
        };
        Some(quote!(#(#cfgs)* #name::#ident { .. } => __ratchet::Option::Some(#reason),))
    });
    let rest = (marked < item.variants.len() && !mark.all.is_present())
        .then(|| quote!(_ => __ratchet::Option::None,));
    Some(quote!(match #link? { #(#arms)* #rest }))
}

/// Generates a function that returns the field of each `#[error(transparent)]` variant: `source()` skips it.
pub(crate) fn transparent(item: &ItemEnum) -> Option<TokenStream> {
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
pub(crate) fn take(variant: &mut Variant, errors: &mut Errors) -> Option<Mark> {
    let attrs = std::mem::take(&mut variant.attrs);
    let (ours, others): (Vec<Attribute>, Vec<_>) =
        attrs.into_iter().partition(|attr| is(attr, "do_not_retry"));
    variant.attrs = others;
    if let Some(twice) = ours.get(1) {
        errors.push(twice, "`#[do_not_retry]` is applied twice");
    }
    let mark = Mark::read(arguments(ours.first()?), errors);
    if mark.all.is_present() {
        errors.push_at(mark.all.span(), "`all` must stand on the enum, not on a variant");
    }
    Some(mark)
}

pub(crate) fn check_generics(generics: &Generics, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.push(
            generics,
            "a `#[do_not_retry]` error cannot be generic: it is found in a source chain by its one concrete type",
        );
    }
}

/// Generates the downcast, with the span of the type's name. Only this call requires a standard error.
pub(crate) fn link(name: &Ident) -> TokenStream {
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
