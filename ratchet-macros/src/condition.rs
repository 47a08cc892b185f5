//! `#[condition]`: makes a function over a step's output a named condition.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, ReturnType, Type};

use crate::diag::Errors;
use crate::entries;
use crate::idents;
use crate::krate::Krate;
use crate::table::{Opt, Table, Takes};
use crate::values::{self, Value};

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "condition",
    options: &[
        Opt { key: "name", takes: Takes::Text, example: r#"name = "shop.big""#, help: "The name edges are stored with, instead of `<package>.<fn>`." },
        Opt { key: "crate", takes: Takes::Path, example: "crate = ::ratchet", help: "Where the runtime is, if the dependency is renamed." },
    ],
    foreign: &[],
    positional: "expected `name = \"...\"`",
    repeatable: &[],
};

/// Expands `fn big(order: &Order) -> bool` to the function itself and
///
/// ```text
/// pub const BIG: ::ratchet::Condition<Order> = …;
/// ```
pub(crate) fn expand(args: TokenStream, input: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut krate = Krate::default();
    let mut name = None;
    for entry in &entries::read(&OPTIONS, args, &mut errors).entries {
        match entry.option.key {
            "name" => name = values::name("condition", entry, &mut errors),
            _ => {
                krate = values::value(entry)
                    .map(|value| Krate::read(value, &mut errors))
                    .unwrap_or_default();
            }
        }
    }
    let function: ItemFn = match syn::parse2(input.clone()) {
        Ok(function) => function,
        Err(_) => {
            errors.push_at(
                proc_macro2::Span::call_site(),
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
    quote!(#function #constant)
}

/// Checks the signature and returns the type of the output that the condition takes.
fn check(function: &ItemFn, errors: &mut Errors) -> Option<Type> {
    let sig = &function.sig;
    let shape = "a condition is a plain function over an output, `fn big(order: &Order) -> bool`";
    if let Some(asyncness) = &sig.asyncness {
        errors.push(asyncness, "a condition looks at a value and is done: it cannot be `async`");
    }
    if !sig.generics.params.is_empty() {
        errors.push(&sig.generics, "a condition cannot be generic: it is found by name alone");
    }
    let returns_bool = match &sig.output {
        ReturnType::Type(_, ty) => idents::text(ty.to_token_stream()).ends_with("bool"),
        ReturnType::Default => false,
    };
    if !returns_bool {
        errors.push(&sig.ident, format_args!("{shape}; it returns `bool`"));
    }
    let mut inputs = sig.inputs.iter();
    match (inputs.next(), inputs.next()) {
        (Some(FnArg::Typed(argument)), None) => match &*argument.ty {
            Type::Reference(borrow) if borrow.mutability.is_none() => Some((*borrow.elem).clone()),
            ty => {
                errors.push(ty, "a condition borrows the output: take it as `&T`");
                None
            }
        },
        _ => {
            errors.push(&sig.ident, format_args!("{shape}; it takes one argument"));
            None
        }
    }
}

fn constant(
    function: &ItemFn,
    takes: &Type,
    name: Option<&Value<String>>,
    krate: &Krate,
) -> TokenStream {
    let (vis, ident) = (&function.vis, &function.sig.ident);
    let plain = idents::plain(ident);
    let constant = Ident::new(&plain.to_uppercase(), ident.span());
    let private = krate.private();
    let import = krate.import();
    let stored = match name {
        Some(name) => name.to_token_stream(),
        None => quote!(#private::job_name!(#plain)),
    };
    let docs = format!("The condition [`{plain}`], for the edges of workflows.");
    let evaluate = quote_spanned!(takes.span()=> #private::evaluate::<#takes>(json, #ident));
    quote! {
        #[doc = #docs]
        #[allow(unused_qualifications)]
        #vis const #constant: #private::Condition<#takes> = {
            fn evaluate(json: &#private::str) -> #private::Evaluated {
                #evaluate
            }
            #private::Condition::new(#stored, evaluate, #private::here!())
        };

        #[allow(unused_qualifications)]
        const _: () = {
            #import
            __ratchet::submit! { #constant.def() }
        };
    }
}
