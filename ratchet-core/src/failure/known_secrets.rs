//! [`KnownSecrets`]: the secret texts of a run, which are replaced in everything that the run says.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use zeroize::Zeroizing;

/// What is shown instead of a secret.
pub(crate) const MASK: &str = "***";

/// A shorter text is not searched for: it would be found in texts that have nothing to do with it.
const SHORTEST: usize = 4;

/// A line of a secret with several lines is searched for if it is at least this long.
const SHORTEST_LINE: usize = 8;

type Prefix = [u8; SHORTEST];

/// Secret texts, and how to replace them. Cheap to clone.
///
/// A text is found as it is, as `Debug` escapes it, and as JSON escapes it. Other encodings of it are not found.
#[derive(Clone, Default)]
pub(crate) struct KnownSecrets(Option<Arc<Texts>>);

/// The texts by their first bytes, the longest first.
#[derive(Clone, Default)]
struct Texts(BTreeMap<Prefix, Vec<Zeroizing<String>>>);

impl KnownSecrets {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Adds the texts of a secret value.
    pub(crate) fn add(&mut self, secret: &Value) {
        match secret {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.add_text(&number.to_string()),
            Value::String(text) => self.add_text(text),
            Value::Object(fields) => fields.values().for_each(|value| self.add(value)),
            Value::Array(items) => {
                if let Some(bytes) = bytes(items) {
                    self.add_text(&secret.to_string());
                    self.add_text(&format!("{bytes:?}"));
                    if let Ok(text) = String::from_utf8(bytes) {
                        self.add_text(&text);
                    }
                } else {
                    items.iter().for_each(|item| self.add(item));
                }
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        self.add_form(text);
        let debug = format!("{text:?}");
        self.add_form(&debug[1..debug.len() - 1]);
        let json = Value::from(text).to_string();
        self.add_form(&json[1..json.len() - 1]);
        if text.contains('\n') {
            let long = text.lines().map(str::trim).filter(|line| line.len() >= SHORTEST_LINE);
            long.for_each(|line| self.add_form(line));
        }
    }

    fn add_form(&mut self, text: &str) {
        let Some(prefix) = text.as_bytes().first_chunk::<SHORTEST>() else { return };
        let texts = Arc::make_mut(self.0.get_or_insert_default());
        let texts = texts.0.entry(*prefix).or_default();
        if !texts.iter().any(|known| known.as_str() == text) {
            texts.push(Zeroizing::new(text.to_owned()));
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        }
    }

    /// Returns the text with `***` in place of every secret. Makes one pass over it.
    pub(crate) fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(texts) = &self.0 else { return Cow::Borrowed(text) };
        let mut out = String::new();
        let (mut copied, mut at) = (0, 0);
        while let Some(rest) = text.as_bytes().get(at..) {
            let Some(prefix) = rest.first_chunk::<SHORTEST>() else { break };
            let found = texts
                .0
                .get(prefix)
                .and_then(|texts| texts.iter().find(|secret| rest.starts_with(secret.as_bytes())));
            match found {
                Some(secret) => {
                    // A secret starts and ends at a character, and so does each of its occurrences.
                    out.push_str(&text[copied..at]);
                    out.push_str(MASK);
                    at += secret.len();
                    copied = at;
                }
                None => at += 1,
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }

    /// Like [`Self::hide`], without a copy if there is nothing to hide.
    pub(crate) fn hide_in(&self, text: String) -> String {
        match self.hide(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(hidden) => hidden,
        }
    }

    /// Removes a beginning of a secret at the end of a text that was cut off.
    pub(crate) fn hide_cut<'a>(&self, text: &'a str) -> &'a str {
        let Some(texts) = &self.0 else { return text };
        let longest = texts.0.values().flatten().map(|secret| secret.len()).max().unwrap_or(0);
        let start = text.floor_char_boundary(text.len().saturating_sub(longest));
        let tails = text[start..].char_indices().map(|(at, _)| start + at);
        let mut begun = tails.filter(|at| {
            let tail = &text[*at..];
            texts.0.values().flatten().any(|secret| secret.starts_with(tail))
        });
        begun.next().map_or(text, |at| &text[..at])
    }

    /// Replaces the secrets in the strings and numbers of a JSON value.
    pub(crate) fn hide_in_json(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if self.hide(&number.to_string()) == MASK {
                    *value = MASK.into();
                }
            }
            Value::String(text) => *text = self.hide_in(std::mem::take(text)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_in_json(item)),
            Value::Object(fields) => {
                let all = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                    self.hide_in_json(&mut value);
                    (self.hide_in(name), value)
                });
                *fields = all.collect();
            }
        }
    }
}

impl FromIterator<Value> for KnownSecrets {
    fn from_iter<I: IntoIterator<Item = Value>>(secrets: I) -> Self {
        let mut known = Self::default();
        secrets.into_iter().for_each(|secret| known.add(&secret));
        known
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KnownSecrets")
    }
}

/// Returns the bytes of a JSON array of bytes.
fn bytes(items: &[Value]) -> Option<Vec<u8>> {
    let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
    if items.is_empty() { None } else { items.iter().map(byte).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn known(secrets: Value) -> KnownSecrets {
        KnownSecrets::from_iter([secrets])
    }

    #[test]
    fn z_10_known_secrets_are_replaced_in_every_form() {
        let known = known(json!({"a": "hunter2", "b": ["s3\"cr3t", 471_123], "c": "hunter2-long"}));
        let rows = [
            ("nothing here", "nothing here"),
            ("hunter2", "***"),
            ("is hunter2, hunter2-long.", "is ***, ***."),
            ("ähunter2ä", "ä***ä"),
            (r#"{"key":"s3\"cr3t"}"#, r#"{"key":"***"}"#),
            ("the number 471123", "the number ***"),
            ("hunter", "hunter"),
        ];
        for (text, expected) in rows {
            assert_eq!(known.hide(text), expected);
        }
    }

    #[test]
    fn z_10_bytes_and_lines_are_replaced() {
        let secret = known(json!(b"hunter2".to_vec()));
        assert_eq!(secret.hide("[104, 117, 110, 116, 101, 114, 50] is hunter2"), "*** is ***");
        assert_eq!(secret.hide("[104,117,110,116,101,114,50]"), "***");
        let key = known(json!("-----BEGIN-----\nMIIEvQIBADAN\n-----END-----"));
        assert_eq!(key.hide("cannot read `MIIEvQIBADAN`"), "cannot read `***`");
        assert_eq!(key.hide("-----BEGIN-----\nMIIEvQIBADAN\n-----END-----"), "***");
    }

    #[test]
    fn z_10_a_secret_that_was_cut_off_is_removed() {
        let known = known(json!("hunter2"));
        assert_eq!(known.hide_cut("the password is hunt"), "the password is ");
        assert_eq!(known.hide_cut("the password is"), "the password is");
        assert_eq!(KnownSecrets::default().hide_cut("hunt"), "hunt");
    }

    #[test]
    fn z_10_json_stays_json() {
        let mut value = json!({"hunter2": [1, "so hunter2"], "pin": 47112, "ok": true});
        KnownSecrets::from_iter([json!("hunter2"), json!(47112)]).hide_in_json(&mut value);
        assert_eq!(value, json!({"***": [1, "so ***"], "pin": "***", "ok": true}));
    }
}
