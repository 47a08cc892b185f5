//! The annotated function: the signature is parsed, the body stays a token group.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, FnArg, Signature, Token, Visibility, token};

/// A function with an unparsed body. The body may be incomplete while the user is typing.
#[derive(Clone)]
pub(crate) struct JobFn {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) sig: Signature,
    /// The body including its braces; `None` for `fn f();`.
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
        tokens.extend(without_suggestions(&self.sig));
        match &self.body {
            Some(body) => body.to_tokens(tokens),
            None => token::Semi::default().to_tokens(tokens),
        }
    }
}

/// Writes `fn f<>()` instead of `fn f()`. Otherwise rustc suggests a type parameter for an unknown type in the function,
/// and reports the type again, without the suggestion, in the generated items. A job cannot be generic anyway.
fn without_suggestions(sig: &Signature) -> TokenStream {
    let tokens = sig.to_token_stream();
    if !sig.generics.params.is_empty() {
        return tokens;
    }
    let mut name = false;
    let mut out = TokenStream::new();
    for token in tokens {
        let is_name =
            std::mem::replace(&mut name, matches!(&token, TokenTree::Ident(it) if it == "fn"));
        out.append(token);
        if is_name {
            out.extend(quote!(<>));
        }
    }
    out
}

impl JobFn {
    /// Removes docs and helper attributes from the arguments. Only this macro understands them.
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

/// Returns whether the attribute sets a lint level. rustc accepts these on arguments.
pub(crate) fn is_lint(attr: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attr.path().is_ident(lint))
}

/// Returns whether the last segment of the attribute's path is `name`.
pub(crate) fn is(attr: &Attribute, name: &str) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == name)
}

/// Returns the tokens inside the parentheses of an attribute; empty for `#[job]`.
pub(crate) fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        syn::Meta::Path(_) => TokenStream::new(),
        // `#[job = 5]`: the entries parser reports an error at the value.
        syn::Meta::NameValue(pair) => pair.value.to_token_stream(),
    }
}
