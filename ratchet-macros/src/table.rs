//! The options of an attribute as a table: parsing, suggestions, completion in editors and the manual derive from it.

use crate::diag::{did_you_mean, suggestion};

/// One option of an attribute.
#[derive(Debug)]
pub(crate) struct Opt {
    pub(crate) key: &'static str,
    pub(crate) takes: Takes,
    /// How it is written, shown in errors and in the manual.
    pub(crate) example: &'static str,
    /// What it does, in one line: the manual's table, and what the editor shows.
    #[cfg_attr(not(test), allow(dead_code))]
    // the manual and core's completion module are compared with it by tests
    pub(crate) help: &'static str,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing: being there is all.
    Flag,
    /// `key = "text"`.
    Text,
    /// `key = 5`.
    Number,
    /// `key = "30s"`.
    Duration,
    /// `key = word`.
    Word,
    /// `key = some::path`.
    Path,
    /// `key = value`, with a grammar of its own.
    Value,
    /// `key` or `key = value`.
    OptionalValue,
    /// `key(a, b)`.
    List,
}

impl Takes {
    /// The value in words.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Flag => "no value",
            Self::Text | Self::Duration => "a string",
            Self::Number => "a whole number",
            Self::Word => "a word",
            Self::Path => "a path",
            Self::Value | Self::OptionalValue => "a value",
            Self::List => "a list",
        }
    }
}

/// An attribute and its options.
#[derive(Debug)]
pub(crate) struct Table {
    /// `job`, as in `#[job]`.
    pub(crate) attribute: &'static str,
    pub(crate) options: &'static [Opt],
    /// The words of other libraries, and ours for the same thing.
    pub(crate) foreign: &'static [(&'static str, &'static str)],
    /// What to say of a value without a key.
    pub(crate) positional: &'static str,
    /// Options that may be given several times.
    pub(crate) repeatable: &'static [&'static str],
}

impl Table {
    pub(crate) fn find(&self, key: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.key == key)
    }

    /// What to say of a key that is not in the table.
    pub(crate) fn unknown(&self, key: &str) -> String {
        let attribute = self.attribute;
        let keys = || self.options.iter().map(|option| option.key);
        let foreign = self.foreign.iter().find(|(theirs, _)| *theirs == key);
        if let Some((_, ours)) = foreign {
            return format!("unknown `#[{attribute}]` option `{key}`; here it is called `{ours}`");
        }
        if did_you_mean(key, keys()).is_some() {
            return format!("unknown `#[{attribute}]` option `{key}`{}", suggestion(key, keys()));
        }
        let all: Vec<_> = keys().collect();
        format!("unknown `#[{attribute}]` option `{key}`\navailable options: {}", all.join(", "))
    }
}
