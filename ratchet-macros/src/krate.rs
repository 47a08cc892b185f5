//! The path to the runtime: `::ratchet`, or the path given with `crate = ::path`.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use darling::{Error, FromMeta};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Meta, Path};

use crate::diag::Errors;
use crate::values;

/// The crate that contains `__private`; `None` means `::ratchet`.
#[derive(Clone, Default)]
pub(crate) struct Krate(Option<Path>);

impl FromMeta for Krate {
    fn from_meta(item: &Meta) -> darling::Result<Self> {
        let (_, value) = values::pair(item)?;
        let Expr::Path(given) = values::ungrouped(value) else {
            return Err(Error::custom("expected a path, `crate = ::ratchet`").with_span(value));
        };
        let path = &given.path;
        let first = path.segments.first().map(|segment| segment.ident.to_string());
        let anchored = matches!(first.as_deref(), Some("crate" | "$crate" | "self" | "super"));
        if path.leading_colon.is_none() && !anchored {
            let text = path.to_token_stream().to_string().replace(' ', "");
            let message = format!("`crate` must be an absolute path; did you mean `::{text}`?");
            return Err(Error::custom(message).with_span(value));
        }
        Ok(Self(Some(path.clone())))
    }
}

impl Krate {
    /// Returns this path, or that of the block if there is none.
    pub(crate) fn or(self, block: &Self) -> Self {
        Self(self.0.or_else(|| block.0.clone()))
    }

    /// Reports that `::ratchet` cannot be found, because another crate re-exports it.
    pub(crate) fn check(&self, errors: &mut Errors) {
        if self.is_missing() {
            errors.push_at(
                Span::call_site(),
                "`ratchet` is not a dependency of this package; if another crate re-exports it, add `crate = ::facade::ratchet`",
            );
        }
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.0.is_none() && !cfg!(test) && !is_dependency()
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

/// Returns whether the manifest names `ratchet`. Without a manifest the answer is left to rustc.
fn is_dependency() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let manifest = folder.and_then(|folder| fs::read_to_string(folder.join("Cargo.toml")).ok());
        manifest.is_none_or(|manifest| names_ratchet(&manifest))
    })
}

/// Recognizes `ratchet = …`, `ratchet.workspace = true`, `[dependencies.ratchet]`, and the library itself.
fn names_ratchet(manifest: &str) -> bool {
    manifest.lines().map(str::trim).any(|line| {
        let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
        key == "ratchet" || line.ends_with(".ratchet]") || line == "name = \"ratchet\""
    })
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

#[cfg(test)]
mod tests {
    use super::names_ratchet;

    #[test]
    fn the_dependency_is_found_in_every_form() {
        for manifest in [
            "[dependencies]\nratchet = \"1\"",
            "[dependencies]\nratchet = { package = \"ratchet-jobs\", version = \"1\" }",
            "[dev-dependencies]\nratchet.workspace = true",
            "[target.'cfg(unix)'.dependencies.ratchet]\nversion = \"1\"",
            "[lib]\nname = \"ratchet\"",
        ] {
            assert!(names_ratchet(manifest), "{manifest}");
        }
        assert!(!names_ratchet("[dependencies]\nfacade = { path = \"../ratchet-facade\" }"));
    }
}
