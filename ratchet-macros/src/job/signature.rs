//! The function as it was written: signature parsed, body left as tokens.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Token, Visibility, token};

/// A function whose body nobody looked into: it may be half-typed.
#[derive(Clone)]
pub(crate) struct JobFn {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The braces and what is between them; none for `fn f();`.
    pub(crate) body: Option<Group>,
}

impl Parse for JobFn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let body = if input.peek(token::Brace) {
            match input.parse()? {
                TokenTree::Group(group) => Some(group),
                _ => None,
            }
        } else {
            input.parse::<Option<Token![;]>>()?;
            None
        };
        Ok(Self { attrs, vis, sig, body })
    }
}

impl ToTokens for JobFn {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append_all(&self.attrs);
        self.vis.to_tokens(tokens);
        self.sig.to_tokens(tokens);
        match &self.body {
            Some(body) => body.to_tokens(tokens),
            None => token::Semi::default().to_tokens(tokens),
        }
    }
}

impl JobFn {
    /// Removes what only this macro understands: docs and helper attributes on arguments.
    pub(crate) fn strip_arguments(&mut self) {
        for input in &mut self.sig.inputs {
            let attrs = match input {
                FnArg::Receiver(receiver) => &mut receiver.attrs,
                FnArg::Typed(typed) => &mut typed.attrs,
            };
            attrs.retain(is_lint);
        }
    }
}

/// Lint levels are the attributes rustc itself knows on an argument.
pub(crate) fn is_lint(attr: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attr.path().is_ident(lint))
}

/// Whether an attribute is `#[name]`, however its path is written.
pub(crate) fn is(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == name)
}

/// The tokens in the parentheses of an attribute; none for `#[job]`.
pub(crate) fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        syn::Meta::Path(_) => TokenStream::new(),
        // `#[job = 5]`: let the entries parser complain at the value.
        syn::Meta::NameValue(pair) => pair.value.to_token_stream(),
    }
}
