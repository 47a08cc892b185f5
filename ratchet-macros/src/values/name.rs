//! Strings with rules: names and reasons.

use std::ops::Deref;

use syn::Lit;

use super::{Checked, Literal};

/// The name of a job, queue, service, profile or condition. It must be safe to use in a store and in a URL.
#[derive(Clone)]
pub(crate) struct Name(String);

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Literal for Name {
    /// Applies the rules of `JobDef` to a literal name, to report errors at its token.
    fn read(key: &str, lit: &Lit) -> Checked<Self> {
        let Lit::Str(lit) = lit else { return None };
        let name = lit.value();
        let bad =
            |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'));
        Some(if name.is_empty() {
            Err(format!("`{key}` must not be empty"))
        } else if let Some(bad) = name.chars().find(bad) {
            Err(format!("`{key}` must not contain {bad:?}; use letters, digits and `_ - . / :`"))
        } else if name.len() > 200 {
            Err(format!("`{key}` must have at most 200 characters, and has {}", name.len()))
        } else {
            Ok(Self(name))
        })
    }
}

/// The reason given with `#[do_not_retry(reason = "…")]`.
#[derive(Clone)]
pub(crate) struct Reason;

impl Literal for Reason {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        let Lit::Str(lit) = lit else { return None };
        let reason = lit.value();
        let field = reason.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        Some(match field {
            _ if reason.trim().is_empty() => {
                Err("the reason must not be empty; say why asking again changes nothing".to_owned())
            }
            Some((field, _)) => Err(format!(
                "the reason must be a fixed text: `{{{field}}}` is not replaced by a field; the error's own message can name it"
            )),
            None => Ok(Self),
        })
    }
}
