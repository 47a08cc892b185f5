//! Tests of the properties that editors rely on: token order and spans.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::{File, Item};

fn parsed(tokens: TokenStream) -> Vec<Item> {
    syn::parse2::<File>(tokens).expect("the expansion parses").items
}

fn expand(args: &str, item: &str) -> Vec<Item> {
    parsed(crate::job::expand(args.parse().expect("tokens"), item.parse().expect("tokens")))
}

#[test]
fn the_function_is_first() {
    for options in ["", "queue = \"mail\""] {
        let items = expand(options, "async fn send_email(to: String) {}");
        assert!(matches!(&items[0], Item::Fn(function) if function.sig.ident == "send_email"));
        assert!(matches!(&items[1], Item::Struct(item) if item.ident == "SendEmail"));
        assert!(matches!(&items[2], Item::Const(_)));
        assert_eq!(items.len(), 3);
    }
}

#[test]
fn the_completion_triggers_come_before_other_tokens_of_the_options() {
    let args = "queue = \"mail\"".parse().expect("tokens");
    let item = "async fn send_email(to: String) {}".parse().expect("tokens");
    let expansion = crate::job::expand(args, item).to_string();
    let trigger = expansion.find("queue as _").expect("a trigger");
    assert!(trigger < expansion.find("\"mail\"").expect("the value"), "{expansion}");
}

#[test]
fn half_typed_options_are_completed() {
    let expansion = crate::job::expand(
        "queue = \"mail\", tim".parse().expect("tokens"),
        "async fn send_email(to: String) {}".parse().expect("tokens"),
    );
    let expansion = expansion.to_string();
    assert!(expansion.contains("options :: job :: { queue as _ , tim as _ }"), "{expansion}");
}

/// Spans cannot be compared, but their debug output contains the position.
#[test]
fn the_struct_has_the_span_of_the_function_name() {
    let name = quote_spanned!(Span::mixed_site()=> send_email);
    let item = quote::quote!(async fn #name(to: String) {});
    let at = |tokens: TokenStream, word: &str| {
        tokens.into_iter().find_map(|token| match token {
            TokenTree::Ident(ident) if ident == word => Some(format!("{:?}", ident.span())),
            _ => None,
        })
    };
    let expected = at(item.clone(), "send_email");
    assert!(expected.is_some());
    assert_eq!(at(crate::job::expand(TokenStream::new(), item), "SendEmail"), expected);
}

#[test]
fn a_half_typed_body_is_passed_on() {
    let expansion = crate::job::expand(
        TokenStream::new(),
        "async fn send_email(to: String) { to. }".parse().expect("tokens"),
    );
    let expansion = expansion.to_string();
    assert!(expansion.contains("struct SendEmail"), "{expansion}");
    assert!(!expansion.contains("compile_error"), "{expansion}");
}

#[test]
fn a_half_typed_argument_keeps_the_function() {
    let expansion = crate::job::expand(
        TokenStream::new(),
        "async fn send_email(#[inject] ctx: JobContext, to: ) { send().await; }"
            .parse()
            .expect("tokens"),
    );
    let expansion = expansion.to_string();
    assert!(expansion.contains("async fn send_email"), "{expansion}");
    assert!(!expansion.contains("inject"), "{expansion}");
}
