//! Limits the nesting depth of JSON. The depth is checked while a value is written, so that a reader never exceeds its
//! recursion limit and the writer never overflows its stack.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};

use super::{limits, lossless};

/// The error for a value that is nested deeper than [`limits::DEPTH`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooDeep;

impl fmt::Display for TooDeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is nested deeper than {} levels", limits::DEPTH)
    }
}

impl std::error::Error for TooDeep {}

/// Writes a value as JSON and stops at the first level that is too deep. Without the limit, a value with a hundred
/// thousand levels would overflow the stack.
///
/// Returns an error for values that would be read back as something else: NaN, infinities, `Some(None)` and `Some(())`.
pub fn write<T: Serialize + ?Sized>(out: impl Write, value: &T) -> Result<(), serde_json::Error> {
    let mut nulls = 0;
    let formatter = Shallow { depth: 0, nulls: &mut nulls };
    value.serialize(&mut Serializer::with_formatter(out, formatter))?;
    // Everything that JSON cannot represent is written as `null`.
    if nulls > 0 { lossless::check(value) } else { Ok(()) }
}

/// Returns `true` if an error of [`write`](fn@write) means that the value is nested too deeply.
pub fn is_too_deep(error: &serde_json::Error) -> bool {
    // `serde_json::Error` gives no access to its inner error, so the texts are compared.
    error.is_io() && error.to_string() == TooDeep.to_string()
}

/// A compact JSON formatter with a maximum depth.
struct Shallow<'a> {
    depth: usize,
    nulls: &'a mut usize,
}

impl Shallow<'_> {
    fn enter(&mut self) -> io::Result<()> {
        self.depth += 1;
        if self.depth > limits::DEPTH { Err(io::Error::other(TooDeep)) } else { Ok(()) }
    }
}

impl Formatter for Shallow<'_> {
    fn write_null<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        *self.nulls += 1;
        out.write_all(b"null")
    }

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

/// Returns `true` if JSON text is nested deeper than `limit`. Makes one pass without recursion and does not validate
/// the JSON.
pub fn is_deeper(json: &[u8], limit: usize) -> bool {
    // Every level needs two brackets.
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

/// Returns `true` if a value is nested deeper than [`limits::DEPTH`]. Does not recurse.
pub fn is_too_deep_value(value: &Value) -> bool {
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

    /// Serializes as nested arrays of the given depth, without building them.
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
        // A hundred thousand levels would overflow the stack.
        for levels in [limits::DEPTH + 1, 100_000_000] {
            assert!(is_too_deep(&written(levels).expect_err("too deep")), "{levels}");
        }
    }

    #[test]
    fn what_json_cannot_represent_is_refused() {
        #[derive(Serialize)]
        struct Reading<T> {
            value: T,
        }
        #[derive(Serialize)]
        struct Unit;
        #[derive(Serialize)]
        enum Kind<T> {
            Measured(T),
            Pair(T, T),
            Named { value: T },
        }
        fn written<T: Serialize>(value: T) -> Result<String, String> {
            let mut out = Vec::new();
            write(&mut out, &Reading { value }).map_err(|error| error.to_string())?;
            Ok(String::from_utf8(out).expect("UTF-8"))
        }
        let nan = "NaN has no representation in JSON and would be read back as `null`";
        assert_eq!(written(f64::NAN), Err(nan.to_owned()));
        assert_eq!(written(Some(f32::NAN)), Err(nan.to_owned()));
        assert_eq!(written(vec![(1, f64::NAN)]), Err(nan.to_owned()));
        assert_eq!(
            written(std::collections::HashMap::from([("a", f64::NAN)])),
            Err(nan.to_owned())
        );
        assert_eq!(written(Kind::Measured(f64::NAN)), Err(nan.to_owned()));
        assert_eq!(written(Kind::Pair(1.0, f64::NAN)), Err(nan.to_owned()));
        assert_eq!(written(Kind::Named { value: f64::NAN }), Err(nan.to_owned()));
        assert!(written(f64::NEG_INFINITY).is_err());
        for lost in [written(Some(None::<u8>)), written(Some(Some(None::<u8>)))] {
            assert!(lost.is_err_and(|why| why.contains("`Some`")));
        }
        assert!(written(Some(())).is_err());
        assert!(written(Some(Unit)).is_err());
        assert!(written(Some(Value::Null)).is_err());
        assert_eq!(written(None::<Option<u8>>).expect("fits"), r#"{"value":null}"#);
        assert_eq!(written(((), Unit, None::<u8>)).expect("fits"), r#"{"value":[null,null,null]}"#);
        assert_eq!(written(Some(Some(1.5))).expect("fits"), r#"{"value":1.5}"#);
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
