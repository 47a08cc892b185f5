//! Tests of complete expansions.

mod editor;
mod expansion;
mod robustness;
mod soft_failure;
mod tables;

use proc_macro2::TokenStream;
use syn::{Attribute, File, Item};

/// Expands the attributes in a source file, item by item.
fn expand_file(source: &str) -> TokenStream {
    let file: File = syn::parse_str(source).expect("the source parses");
    file.items.into_iter().map(expand_item).collect()
}

/// Applies our attributes on an item one after another, in the order rustc would.
fn expand_item(item: Item) -> TokenStream {
    use quote::ToTokens;
    let mut tokens = item.into_token_stream();
    loop {
        let Some((name, args, rest)) = first_attribute(&tokens) else { return tokens };
        tokens = match name.as_str() {
            "job" => return crate::job::expand(args, rest),
            "jobs" => return crate::jobs::expand(args, &rest),
            "do_not_retry" => return crate::do_not_retry::expand(args, rest),
            "classify" => return crate::classify::expand(args, &rest),
            _ => crate::breaker::expand(&args, rest),
        };
    }
}

/// Returns the name and the arguments of our first attribute, and the item without that attribute.
fn first_attribute(item: &TokenStream) -> Option<(String, TokenStream, TokenStream)> {
    use quote::{ToTokens, quote};
    use syn::parse::{ParseStream, Parser};
    let parser = |input: ParseStream<'_>| {
        Ok((input.call(Attribute::parse_outer)?, input.parse::<TokenStream>()?))
    };
    let (mut attrs, rest) = parser.parse2(item.clone()).ok()?;
    let ours = ["job", "jobs", "do_not_retry", "circuit_breaker", "classify"];
    let at = attrs.iter().position(|attr| {
        let name = attr.path().segments.last().map(|segment| segment.ident.to_string());
        name.is_some_and(|name| ours.contains(&name.as_str()))
    })?;
    let attr = attrs.remove(at);
    let name = attr.path().segments.last()?.ident.to_string();
    let args = crate::job::signature::arguments(&attr);
    let attrs = attrs.iter().map(ToTokens::to_token_stream);
    Some((name, args, quote!(#(#attrs)* #rest)))
}

/// Formats an expansion as readable source.
fn pretty(tokens: TokenStream) -> String {
    let file: File = syn::parse2(tokens).expect("the expansion parses");
    prettyplease::unparse(&file)
}
