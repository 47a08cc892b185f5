//! The options of an attribute, as a table. Parsing, suggestions, completion and the manual are derived from it.

use crate::diag::{did_you_mean, suggestion};

/// One option of an attribute.
#[derive(Debug)]
pub(crate) struct Opt {
    pub(crate) key: &'static str,
    pub(crate) takes: Takes,
    /// An example, shown in errors and in the manual.
    pub(crate) example: &'static str,
    /// A one-line description, shown in the manual and by editors.
    #[cfg_attr(not(test), allow(dead_code))]
    // tests compare the manual and core's completion module with it
    pub(crate) help: &'static str,
}

/// The form of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// `key`, without a value.
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
    /// `key = value`, where the option defines its own grammar.
    Value,
    /// `key` or `key = value`.
    OptionalValue,
    /// `key(a, b)`.
    List,
}

impl Takes {
    /// Describes the value for an error message.
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

/// The options of one attribute.
#[derive(Debug)]
pub(crate) struct Table {
    /// The name of the attribute, such as `job`.
    pub(crate) attribute: &'static str,
    pub(crate) options: &'static [Opt],
    /// Option names of other libraries, each with our name for the same option.
    pub(crate) foreign: &'static [(&'static str, &'static str)],
    /// Options of other libraries or of other attributes, each with what to do instead.
    pub(crate) elsewhere: &'static [(&'static str, &'static str)],
    /// The error message for a value without a key.
    pub(crate) positional: &'static str,
    /// The options that may be given more than once.
    pub(crate) repeatable: &'static [&'static str],
}

impl Table {
    pub(crate) fn find(&self, key: &str) -> Option<&'static Opt> {
        self.options.iter().find(|option| option.key == key)
    }

    /// Returns the error message for an unknown key. `number` is its value if that is a number.
    pub(crate) fn unknown(&self, key: &str, number: Option<u32>) -> String {
        let attribute = self.attribute;
        let keys = || self.options.iter().map(|option| option.key);
        let elsewhere = self.elsewhere.iter().find(|(theirs, _)| *theirs == key);
        if let Some((_, instead)) = elsewhere {
            // Libraries that count attempts include the first run.
            let example = match number {
                Some(attempts) if instead.contains("`max_retries`") => {
                    format!(": write `max_retries = {}`", attempts.saturating_sub(1))
                }
                _ => String::new(),
            };
            return format!("unknown `#[{attribute}]` option `{key}`; {instead}{example}");
        }
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
