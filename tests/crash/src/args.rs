//! Parses `--name value` arguments.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The arguments of the command line, by name.
#[derive(Debug, Default)]
pub struct Args {
    said: BTreeMap<String, String>,
}

impl Args {
    pub fn read(words: impl Iterator<Item = String>) -> Self {
        let mut args = Self::default();
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            let name = word.trim_start_matches('-').to_owned();
            let value = words.next_if(|next| !next.starts_with("--")).unwrap_or_default();
            args.said.insert(name, value);
        }
        args
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.said.get(name).map(String::as_str)
    }

    pub fn must(&self, name: &str) -> Result<&str, crate::Problem> {
        self.get(name).ok_or_else(|| format!("--{name} is missing").into())
    }

    /// Returns a value, or the default if it is missing or cannot be parsed.
    pub fn or<T: FromStr>(&self, name: &str, default: T) -> T {
        self.get(name).and_then(|said| said.parse().ok()).unwrap_or(default)
    }
}
