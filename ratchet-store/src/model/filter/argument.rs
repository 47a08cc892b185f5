//! [`ArgumentTest`]: a condition on the arguments of a job.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Requires a value at a place in the arguments of a job: `args.order.id=42`.
///
/// A text matches if it is equal to the value, and a number, `true`, `false` or `null` if it is written like the value.
/// So `42` matches the number 42 and the text `"42"`, and not `42.0`. An object or array matches nothing; name a place
/// within it.
///
/// The arguments of a signed job can be tested. Encrypted arguments match no test, because a store cannot read them.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::ArgumentTest;
///
/// let test = ArgumentTest::new(["order", "id"], "42");
/// assert!(test.matches(br#"{"order":{"id":42}}"#));
/// assert!(!test.matches(br#"{"order":{"id":43}}"#));
/// assert_eq!(test.to_string(), "args.order.id=42");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentTest {
    /// The names of the members that lead to the value. For an element of an array, its index.
    pub path: Vec<String>,
    /// The value.
    pub value: String,
}

impl ArgumentTest {
    /// Requires this value at the end of the path. A path begins with the name of an argument.
    pub fn new<S: Into<String>>(
        path: impl IntoIterator<Item = S>,
        value: impl Into<String>,
    ) -> Self {
        Self { path: path.into_iter().map(Into::into).collect(), value: value.into() }
    }

    /// Returns `true` if the stored arguments pass the test. Arguments that are not JSON do not.
    pub fn matches(&self, stored: &[u8]) -> bool {
        if self.path.is_empty() {
            return false;
        }
        let Ok(stored) = serde_json::from_slice::<&RawValue>(stored) else { return false };
        let mut place = match Stored::of(stored) {
            Stored::Plain(arguments) => arguments,
            Stored::Sealed => return false,
        };
        for step in &self.path {
            match member(place, step) {
                Some(value) => place = value,
                None => return false,
            }
        }
        let text = place.get();
        match text.as_bytes().first() {
            Some(b'"') => serde_json::from_str::<String>(text).is_ok_and(|text| text == self.value),
            Some(b'{' | b'[') | None => false,
            _ => text == self.value,
        }
    }

    /// Reads the part behind `args.` of a condition.
    pub(super) fn path(text: &str) -> Result<Vec<String>, String> {
        let (mut path, mut step) = (Vec::new(), String::new());
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '.' => path.push(std::mem::take(&mut step)),
                '\\' => step.extend(characters.next()),
                _ => step.push(character),
            }
        }
        path.push(step);
        match path.iter().any(String::is_empty) {
            true => Err("a name is missing in the path; write it as `args.order.id=42`".to_owned()),
            false => Ok(path),
        }
    }
}

/// Displays the test as a condition of a filter. In the path, a backslash precedes each character that would end it.
impl fmt::Display for ArgumentTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("args")?;
        for step in &self.path {
            f.write_str(".")?;
            for character in step.chars() {
                if character.is_whitespace() || "\\.:=<>\"".contains(character) {
                    f.write_str("\\")?;
                }
                write!(f, "{character}")?;
            }
        }
        write!(f, "={}", super::conditions::quoted(&self.value))
    }
}

/// What a store keeps as arguments.
enum Stored<'a> {
    Plain(&'a RawValue),
    Sealed,
}

impl<'a> Stored<'a> {
    /// Signed and encrypted arguments are in an envelope, `{"$ratchet":{…}}`, which no other arguments may look like.
    fn of(stored: &'a RawValue) -> Self {
        #[derive(Deserialize)]
        struct Outer<'a> {
            #[serde(rename = "$ratchet", borrow)]
            inner: Inner<'a>,
        }
        #[derive(Deserialize)]
        struct Inner<'a> {
            #[serde(borrow)]
            args: Option<&'a RawValue>,
        }
        if !stored.get().starts_with("{\"$ratchet\":") {
            return Self::Plain(stored);
        }
        match serde_json::from_str::<Outer<'a>>(stored.get()) {
            Ok(Outer { inner: Inner { args: Some(arguments) } }) => Self::Plain(arguments),
            _ => Self::Sealed,
        }
    }
}

/// Returns a member of an object, or an element of an array.
fn member<'a>(value: &'a RawValue, step: &str) -> Option<&'a RawValue> {
    let text = value.get();
    match text.as_bytes().first()? {
        b'{' => {
            // A name may be written with escapes.
            let members: BTreeMap<Name<'a>, &'a RawValue> = serde_json::from_str(text).ok()?;
            members.into_iter().find(|(name, _)| name.0 == step).map(|(_, value)| value)
        }
        b'[' => {
            let index: usize = step.parse().ok()?;
            serde_json::from_str::<Vec<&'a RawValue>>(text).ok()?.into_iter().nth(index)
        }
        _ => None,
    }
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(path: &[&str], value: &str, stored: &str) -> bool {
        ArgumentTest::new(path.iter().copied(), value).matches(stored.as_bytes())
    }

    #[test]
    fn values_match_as_they_are_written() {
        let stored = r#"{"a":{"b":[1,"x",true,null,9007199254740993,1.50]},"\u0063":"d"}"#;
        for (index, value) in
            ["1", "x", "true", "null", "9007199254740993", "1.50"].iter().enumerate()
        {
            let index = index.to_string();
            assert!(matches(&["a", "b", &index], value, stored), "{value}");
            assert!(!matches(&["a", "b", &index], "y", stored), "{value}");
        }
        assert!(matches(&["c"], "d", stored));
        for missing in [&["a"][..], &["a", "b"], &["a", "b", "6"], &["b"], &["a", "b", "0", "c"]] {
            assert!(!matches(missing, "1", stored), "{missing:?}");
        }
        assert!(!matches(&["a"], "1", "not json"));
    }

    #[test]
    fn signed_arguments_match_and_encrypted_ones_do_not() {
        let signed = r#"{"$ratchet":{"v":1,"sign":"s1:AAAA","args":{"to":"x"}}}"#;
        assert!(matches(&["to"], "x", signed));
        assert!(!matches(&["$ratchet", "v"], "1", signed));
        let sealed = r#"{"$ratchet":{"v":1,"seal":"e1:AAAA"}}"#;
        assert!(!matches(&["$ratchet", "seal"], "e1:AAAA", sealed));
    }
}
