//! Paths to items of the application: callbacks, validation functions, names of structs.

use std::ops::Deref;

use darling::{Error, FromMeta, Result};
use quote::ToTokens;
use syn::{Expr, ExprPath, Ident, Meta, Path};

use super::{pair, ungrouped};
use crate::idents;

/// The struct of a job: `on_success = SendReceipt`.
#[derive(Clone)]
pub(crate) struct JobPath(pub(crate) Path);

/// A function: `validate = check_order`.
#[derive(Clone)]
pub(crate) struct FnPath(pub(crate) ExprPath);

/// The name of the invocation struct: `struct_name = EmailJob`.
#[derive(Clone)]
pub(crate) struct StructName(pub(crate) Ident);

impl Deref for JobPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl FromMeta for JobPath {
    /// A lower-case name is assumed to be the function of the job.
    fn from_meta(item: &Meta) -> Result<Self> {
        let (key, value) = pair(item)?;
        let path = path(value).ok_or_else(|| {
            let message = format!("expected the struct of a job, `{key} = SendReceipt`");
            Error::custom(message).with_span(value)
        })?;
        let name = path.segments.last().map(|segment| idents::plain(&segment.ident));
        match name.filter(|name| name.starts_with(char::is_lowercase)) {
            Some(function) => {
                let meant = idents::pascal_case(&function);
                let message =
                    format!("`{key}` must name the struct of a job; did you mean `{meant}`?");
                Err(Error::custom(message).with_span(value))
            }
            None => Ok(Self(path)),
        }
    }
}

impl FromMeta for FnPath {
    fn from_meta(item: &Meta) -> Result<Self> {
        let (key, value) = pair(item)?;
        match ungrouped(value) {
            Expr::Path(path) => Ok(Self(path.clone())),
            Expr::Closure(_) => Err(Error::custom(format_args!(
                "`{key}` must name a function, not a closure; write it as a `fn` and name it, `{key} = check_order`"
            ))
            .with_span(value)),
            _ => {
                let message = format!("expected the path of a function, `{key} = check_order`");
                Err(Error::custom(message).with_span(value))
            }
        }
    }
}

impl FromMeta for StructName {
    fn from_meta(item: &Meta) -> Result<Self> {
        let (key, value) = pair(item)?;
        if let Some(ident) = path(value).as_ref().and_then(Path::get_ident) {
            return Ok(Self(ident.clone()));
        }
        let text = idents::text(value.to_token_stream());
        let bare = text.trim_matches('"');
        let shown = if syn::parse_str::<Ident>(bare).is_ok() { bare } else { "EmailJob" };
        let message = format!("expected a bare name, `{key} = {shown}`");
        Err(Error::custom(message).with_span(value))
    }
}

fn path(value: &Expr) -> Option<Path> {
    match ungrouped(value) {
        Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        _ => None,
    }
}
