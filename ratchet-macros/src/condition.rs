//! `#[condition]`: makes a function over a step's output a named condition.

use darling::FromMeta;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, ReturnType, Type, parse_quote};

use crate::diag::Errors;
use crate::entries;
use crate::idents;
use crate::krate::{self, Krate};
use crate::table::{Opt, Table, Takes};
use crate::values::{Name, Value};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "condition",
    options: &[
        Opt { key: "name", takes: Takes::Text, example: r#"name = "shop.big""#, help: "The name edges are stored with, instead of `<package>.<fn>`." },
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, if the dependency is renamed." },
    ],
    foreign: &[],
    elsewhere: &[],
    positional: "expected `name = \"...\"`",
    repeatable: &[],
};

#[derive(Default, FromMeta)]
#[darling(default)]
struct Options {
    name: Option<Value<Name>>,
    #[darling(rename = "crate")]
    krate: Krate,
}

/// Expands `fn big(order: &Order) -> bool` to the function itself and
///
/// ```text
/// pub const BIG: ::ratchet::Condition<Order> = …;
/// ```
pub(crate) fn expand(args: TokenStream, input: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Options { name, krate } = entries::read(&OPTIONS, args, &mut errors).options(&mut errors);
    let function: ItemFn = match syn::parse2(input.clone()) {
        Ok(function) => function,
        Err(_) => {
            errors.push_at(
                Span::call_site(),
                "`#[condition]` goes on a function over an output, `fn big(order: &Order) -> bool`",
            );
            let errors = errors.into_tokens();
            return quote!(#input #errors);
        }
    };
    let takes = check(&function, &mut errors);
    let Some(takes) = takes.filter(|_| errors.is_empty()) else {
        let errors = errors.into_tokens();
        return quote!(#function #errors);
    };
    let constant = constant(&function, &takes, name.as_ref(), &krate);
    // The macro requires a reference.
    quote! {
        #[allow(clippy::trivially_copy_pass_by_ref)]
        #function
        #constant
    }
}

/// Checks the signature and returns the type of the output that the condition takes.
fn check(function: &ItemFn, errors: &mut Errors) -> Option<Type> {
    let sig = &function.sig;
    let shape = "a condition is a plain function over an output, `fn big(order: &Order) -> bool`";
    if let Some(asyncness) = &sig.asyncness {
        errors.push(asyncness, "a condition must not be `async`: it looks at a value and is done");
    }
    if !sig.generics.params.is_empty() {
        errors.push(&sig.generics, "a condition cannot be generic: it is found by name alone");
    }
    // The type itself may be an alias, so the compiler checks it.
    if let ReturnType::Default = sig.output {
        errors.push(&sig.ident, format_args!("{shape}; it must return `bool`"));
    }
    let mut inputs = sig.inputs.iter();
    match (inputs.next(), inputs.next()) {
        (Some(FnArg::Typed(argument)), None) => match &*argument.ty {
            Type::Reference(borrow) if borrow.mutability.is_none() => Some((*borrow.elem).clone()),
            ty => {
                errors.push(ty, "a condition must borrow the output: take it as `&T`");
                None
            }
        },
        _ => {
            errors.push(&sig.ident, format_args!("{shape}; it must take one argument"));
            None
        }
    }
}

/// Returns the stored type for what the function borrows: `String` for `str`, `Vec<T>` for `[T]`.
fn stored(borrowed: &Type, krate: &Krate) -> Type {
    let private = krate.private();
    match borrowed {
        Type::Path(path) if path.path.is_ident("str") => parse_quote!(#private::String),
        Type::Slice(slice) => {
            let elem = &slice.elem;
            parse_quote!(#private::Vec<#elem>)
        }
        other => other.clone(),
    }
}

/// Returns the same name at another place.
fn respanned(ident: &Ident, at: Span) -> Ident {
    let mut ident = ident.clone();
    ident.set_span(at.resolved_at(ident.span()));
    ident
}

fn constant(
    function: &ItemFn,
    takes: &Type,
    name: Option<&Value<Name>>,
    krate: &Krate,
) -> TokenStream {
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let plain = idents::plain(ident);
    let constant = Ident::new(&plain.to_uppercase(), ident.span());
    let private = krate.private();
    let import = krate.import();
    let stored_type = stored(takes, krate);
    let stored = match name {
        Some(name) => name.to_token_stream(),
        None => quote!(__ratchet::job_name!(#plain)),
    };
    let docs = format!("The condition [`{plain}()`], for the edges of workflows.");
    // A result that is not a `bool` is reported at its type.
    let returns = match &function.sig.output {
        ReturnType::Type(_, ty) => ty.span(),
        ReturnType::Default => ident.span(),
    };
    let call = respanned(ident, returns);
    let holds = quote_spanned!(returns=> |output| #call(output));
    let evaluate = krate::item("evaluate", takes.span());
    let evaluate = quote_spanned!(takes.span()=> #evaluate::<#stored_type>(json, #holds));
    quote! {
        #[doc = #docs]
        #[allow(unused_qualifications, clippy::redundant_closure)]
        #vis const #constant: #private::Condition<#stored_type> = {
            #import
            fn evaluate(json: &__ratchet::str) -> __ratchet::Evaluated {
                #evaluate
            }
            __ratchet::Condition::new(#stored, evaluate, __ratchet::here!())
        };

        #[allow(unused_qualifications)]
        const _: () = {
            #import
            __ratchet::submit! { #constant.def() }
        };
    }
}
