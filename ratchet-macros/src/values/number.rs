//! Integers within a range.

use syn::Lit;

use super::{Checked, Literal};

/// A number between `MIN` and `MAX`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Within<const MIN: u32, const MAX: u32>(pub(crate) u32);

impl<const MIN: u32, const MAX: u32> Literal for Within<MIN, MAX> {
    fn read(key: &str, lit: &Lit) -> Checked<Self> {
        let Lit::Int(lit) = lit else { return None };
        Some(match lit.base10_parse::<u32>() {
            Ok(number) if (MIN..=MAX).contains(&number) => Ok(Self(number)),
            _ if MAX == u32::MAX => Err(format!("`{key}` must be at least {MIN}")),
            _ => Err(format!("`{key}` must be between {MIN} and {MAX}")),
        })
    }
}

/// A percentage between 1 and 100.
#[derive(Clone)]
pub(crate) struct Percent;

impl Literal for Percent {
    fn read(key: &str, lit: &Lit) -> Checked<Self> {
        let within = Within::<1, 100>::read(key, lit)?;
        let rule = format!("`{key}` must be a percentage between 1 and 100");
        Some(within.map(|_| Self).map_err(|_| rule))
    }
}
