//! The list of upgrade functions: `upgrade(1 => from_v1, 2 => from_v2)`.

use darling::{Error, FromMeta, Result};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{ExprPath, LitInt, Meta, Token};

use super::unexpected;

/// The upgrade functions of a job, as written.
#[derive(Clone, Default)]
pub(crate) struct Upgrades(pub(crate) Vec<Upgrade>);

/// One upgrade function.
#[derive(Clone)]
pub(crate) struct Upgrade {
    pub(crate) version: u32,
    pub(crate) lit: LitInt,
    pub(crate) path: ExprPath,
}

impl Parse for Upgrade {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let lit: LitInt = input.parse()?;
        let version = lit.base10_parse()?;
        input.parse::<Token![=>]>()?;
        Ok(Self { version, lit, path: input.parse()? })
    }
}

impl FromMeta for Upgrades {
    fn from_meta(item: &Meta) -> Result<Self> {
        let Meta::List(list) = item else { return Err(unexpected(item)) };
        let parsed = Punctuated::<Upgrade, Token![,]>::parse_terminated.parse2(list.tokens.clone());
        match parsed {
            Ok(upgrades) if upgrades.is_empty() => {
                let message = "`upgrade` must not be empty; write `upgrade(1 => from_v1)`";
                Err(Error::custom(message).with_span(item.path()))
            }
            Ok(upgrades) => Ok(Self(upgrades.into_iter().collect())),
            Err(error) => {
                let message = "expected a version and a function, `upgrade(1 => from_v1)`";
                Err(Error::custom(message).with_span(&error.span()))
            }
        }
    }
}
