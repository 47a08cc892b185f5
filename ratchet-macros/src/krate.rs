//! The path to the runtime: `::ratchet`, or the path given with `crate = ::path`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Path};

use crate::diag::Errors;

/// The crate that contains `__private`; `None` means `::ratchet`.
#[derive(Clone, Default)]
pub(crate) struct Krate(Option<Path>);

impl Krate {
    /// Parses the value of `crate = …`.
    pub(crate) fn read(value: &Expr, errors: &mut Errors) -> Self {
        if let Expr::Group(group) = value {
            return Self::read(&group.expr, errors);
        }
        let Expr::Path(given) = value else {
            errors.push(value, "expected a path, `crate = ::ratchet`");
            return Self::default();
        };
        let path = &given.path;
        let first = path.segments.first().map(|segment| segment.ident.to_string());
        let anchored = matches!(first.as_deref(), Some("crate" | "$crate" | "self" | "super"));
        if path.leading_colon.is_none() && !anchored {
            let text = path.to_token_stream().to_string().replace(' ', "");
            errors.push(
                path,
                format_args!("`crate` needs an absolute path; did you mean `::{text}`?"),
            );
            return Self::default();
        }
        Self(Some(path.clone()))
    }

    /// Generates `use ::ratchet::__private as __ratchet;`. The paths inside the generated block start at this alias.
    pub(crate) fn import(&self) -> TokenStream {
        let private = self.private();
        let alias = runtime(Span::call_site());
        quote!(use #private as #alias;)
    }

    /// Returns `::ratchet::__private`, or the same module of the given crate.
    pub(crate) fn private(&self) -> TokenStream {
        if let Some(path) = &self.0 {
            quote!(#path::__private)
        } else {
            quote!(::ratchet::__private)
        }
    }
}

/// Creates `__ratchet` with the given span: rustc reports an unmet bound at the whole path, including its prefix.
pub(crate) fn runtime(span: Span) -> Ident {
    Ident::new("__ratchet", span)
}

/// Creates `__ratchet::name` with the given span.
pub(crate) fn item(name: &str, span: Span) -> TokenStream {
    let runtime = runtime(span);
    let name = Ident::new(name, span);
    quote_spanned!(span=> #runtime::#name)
}
