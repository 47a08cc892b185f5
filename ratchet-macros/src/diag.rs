//! Error collection. Errors are collected instead of returned, so that one expansion can report several mistakes.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The errors found so far, in the order in which they were found.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>, Silent);

/// Whether there is a mistake that rustc reports by itself.
type Silent = bool;

impl Errors {
    /// Adds an error that underlines all of `at`.
    pub(crate) fn push(&mut self, at: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(at, message));
    }

    /// Adds an error at a single span.
    pub(crate) fn push_at(&mut self, at: Span, message: impl Display) {
        self.0.push(syn::Error::new(at, message));
    }

    /// Adds an error reported by syn.
    pub(crate) fn syntax(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    /// Records a mistake that rustc reports by itself.
    pub(crate) fn silent(&mut self) {
        self.1 = true;
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
        self.1 |= other.1;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty() && !self.1
    }

    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

/// Returns the known word that is closest to `word`, if one is close enough.
pub(crate) fn did_you_mean<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(&word, known), known))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

/// Returns `` ; did you mean `x`? ``, or an empty string if no known word is close enough.
pub(crate) fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(word, known).map_or_else(String::new, |known| format!("; did you mean `{known}`?"))
}

/// Joins words into a list such as `` `a`, `b` and `c` ``, with `last` before the last word.
pub(crate) fn listing<'a>(words: impl IntoIterator<Item = &'a str>, last: &str) -> String {
    let words: Vec<_> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, listing};

    #[test]
    fn a_near_miss_is_recognized_and_a_far_one_is_not() {
        let known = ["queue", "priority", "timeout"];
        assert_eq!(did_you_mean("queu", known), Some("queue"));
        assert_eq!(did_you_mean("Timeuot", known), Some("timeout"));
        assert_eq!(did_you_mean("colour", known), None);
    }

    #[test]
    fn a_listing_reads_like_a_sentence() {
        assert_eq!(listing(["a"], "or"), "`a`");
        assert_eq!(listing(["a", "b", "c"], "or"), "`a`, `b` or `c`");
    }
}
