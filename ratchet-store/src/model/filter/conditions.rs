//! The text of a filter, split into conditions.

use crate::model::limits::brief;

/// The error returned for a text that is not a filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{condition}` at character {at} of the filter: {problem}")]
#[non_exhaustive]
pub struct FilterError {
    /// The condition that cannot be read.
    pub condition: String,
    /// The position of the condition, in characters, beginning with 1.
    pub at: usize,
    /// What is wrong with it, and what to write instead.
    pub problem: String,
}

/// One condition of the text: a field with its operator, and a value.
pub(super) struct Condition {
    /// The name of the field. For `>`, `<` and `=`, it includes the operator.
    pub(super) field: String,
    pub(super) value: String,
    /// Whether the operator is `>` or `<`.
    pub(super) compares: bool,
    /// The text of the condition, for errors.
    text: String,
    at: usize,
}

impl Condition {
    pub(super) fn error(&self, problem: String) -> FilterError {
        FilterError { condition: brief(&self.text), at: self.at, problem }
    }
}

/// Splits the text at spaces outside of quotes.
pub(super) fn conditions(text: &str) -> Result<Vec<Condition>, FilterError> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < characters.len() {
        if characters[at].is_whitespace() {
            at += 1;
            continue;
        }
        let (condition, end) = condition(&characters, at)?;
        found.push(condition);
        at = end;
    }
    Ok(found)
}

/// Reads the condition that begins at `start`. Returns it and the position behind it.
fn condition(characters: &[char], start: usize) -> Result<(Condition, usize), FilterError> {
    let (mut field, mut value) = (String::new(), String::new());
    let (mut separator, mut quotes, mut quoted) = (None, false, false);
    let mut at = start;
    while at < characters.len() && (quotes || !characters[at].is_whitespace()) {
        let character = characters[at];
        match (separator, character) {
            (None, ':' | '>' | '<' | '=') => separator = Some(character),
            // The name of an argument may contain any character behind a backslash.
            (None, '\\') if at + 1 < characters.len() => {
                at += 1;
                field.extend(['\\', characters[at]]);
            }
            (None, _) => field.push(character),
            (Some(_), '"') => (quotes, quoted) = (!quotes, true),
            (Some(_), '\\') if quotes && matches!(characters.get(at + 1), Some('"' | '\\')) => {
                at += 1;
                value.push(characters[at]);
            }
            (Some(_), _) => value.push(character),
        }
        at += 1;
    }
    if let Some(operator @ ('>' | '<' | '=')) = separator {
        field.push(operator);
    }
    let text = characters[start..at].iter().collect();
    let compares = matches!(separator, Some('>' | '<'));
    let condition = Condition { field, value, compares, text, at: start + 1 };
    if quotes {
        return Err(condition.error("the closing quotation mark is missing".to_owned()));
    }
    if separator.is_none() {
        let problem = "a condition has the form `field:value`, such as `queue:mail`";
        return Err(condition.error(problem.to_owned()));
    }
    if condition.value.is_empty() && !quoted {
        return Err(condition.error("the value is missing".to_owned()));
    }
    Ok((condition, at))
}

/// Splits a value at commas without a backslash, and reads each part.
pub(super) fn split<T>(
    value: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut parts = vec![String::new()];
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = characters.next_if(|next| character == '\\' && matches!(next, ',' | '\\'));
        match (escaped, parts.last_mut()) {
            (None, _) if character == ',' => parts.push(String::new()),
            (escaped, Some(part)) => part.push(escaped.unwrap_or(character)),
            (_, None) => {}
        }
    }
    parts.iter().map(|part| read(part)).collect()
}

/// Joins values as [`split`] reads them.
pub(super) fn join(values: &[String]) -> String {
    let escaped: Vec<_> =
        values.iter().map(|value| value.replace('\\', "\\\\").replace(',', "\\,")).collect();
    escaped.join(",")
}

/// Returns the value as the parser reads it: in quotes if it contains spaces or special characters.
pub(super) fn quoted(value: &str) -> String {
    let plain =
        !value.is_empty() && value.chars().all(|c| !c.is_whitespace() && !matches!(c, '"' | '\\'));
    if plain {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}
