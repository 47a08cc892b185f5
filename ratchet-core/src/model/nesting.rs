//! How deep JSON is nested: checked while it is written, so that neither a reader nor the stack of the writer is exceeded.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use super::limits;

/// A value that is nested deeper than [`limits::DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is nested deeper than {} levels", limits::DEPTH)
    }
}

impl std::error::Error for TooDeep {}

/// Writes a value as JSON and stops at the first level that is too deep: a value of a hundred thousand levels would exceed
/// the stack otherwise.
pub(crate) fn write<T: Serialize + ?Sized>(
    out: impl Write,
    value: &T,
) -> Result<(), serde_json::Error> {
    value.serialize(&mut Serializer::with_formatter(out, Shallow { depth: 0 }))
}

/// Whether an error of [`write`] says that the value is nested too deep.
pub(crate) fn is_too_deep(error: &serde_json::Error) -> bool {
    // The inner error cannot be borrowed; its text can.
    error.is_io() && error.to_string() == TooDeep.to_string()
}

/// Compact JSON up to a depth.
struct Shallow {
    depth: usize,
}

impl Shallow {
    fn enter(&mut self) -> io::Result<()> {
        self.depth += 1;
        if self.depth > limits::DEPTH { Err(io::Error::other(TooDeep)) } else { Ok(()) }
    }
}

impl Formatter for Shallow {
    fn begin_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.enter()?;
        out.write_all(b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"]")
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.enter()?;
        out.write_all(b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"}")
    }
}

/// Whether JSON text is nested deeper than `limit`. One pass without recursion; what is not JSON is left to its reader.
pub(crate) fn is_deeper(json: &[u8], limit: usize) -> bool {
    // Every level takes two brackets.
    if json.len() <= 2 * limit {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether a value is nested deeper than [`limits::DEPTH`]. Without recursion.
pub(crate) fn is_too_deep_value(value: &Value) -> bool {
    let mut left = vec![(value, 1_usize)];
    while let Some((value, depth)) = left.pop() {
        let inner: &mut dyn Iterator<Item = &Value> = match value {
            Value::Array(items) => &mut items.iter(),
            Value::Object(fields) => &mut fields.values(),
            _ => continue,
        };
        if depth > limits::DEPTH {
            return true;
        }
        left.extend(inner.map(|value| (value, depth + 1)));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        "[".repeat(levels) + &"]".repeat(levels)
    }

    /// A value nested as deep as it says, without being built.
    struct Deep(usize);

    impl Serialize for Deep {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let inner: &[Self] = if self.0 > 1 { &[Self(self.0 - 1)] } else { &[] };
            inner.serialize(serializer)
        }
    }

    #[test]
    fn s_17_json_is_written_up_to_the_limit_and_no_deeper() {
        let written = |levels| {
            let mut out = Vec::new();
            write(&mut out, &Deep(levels)).map(|()| String::from_utf8(out).expect("UTF-8"))
        };
        assert_eq!(written(limits::DEPTH).expect("fits"), nested(limits::DEPTH));
        // A hundred thousand levels would exceed the stack.
        for levels in [limits::DEPTH + 1, 100_000_000] {
            assert!(is_too_deep(&written(levels).expect_err("too deep")), "{levels}");
        }
    }

    #[test]
    fn s_17_what_is_within_the_limit_can_be_read_back() {
        let json = nested(limits::DEPTH);
        let value: Value = serde_json::from_str(&json).expect("can be read");
        assert!(!is_too_deep_value(&value) && !is_deeper(json.as_bytes(), limits::DEPTH));
        let json = nested(limits::DEPTH + 1);
        let value: Value = serde_json::from_str(&json).expect("can be read");
        assert!(is_too_deep_value(&value) && is_deeper(json.as_bytes(), limits::DEPTH));
    }

    #[test]
    fn s_17_brackets_in_texts_are_no_levels() {
        let json = format!(r#"{{"a\"{}":["{}"]}}"#, "[".repeat(200), "\\\\{".repeat(200));
        assert!(!is_deeper(json.as_bytes(), limits::DEPTH));
        assert!(is_deeper(&vec![b'['; 1_000_000], limits::DEPTH));
    }
}
