//! The text form of shapes: `[string(uuid)?]`, `{string: u32}`, `(u8, Item)`.

use std::fmt;
use std::str::FromStr;

use crate::shape::{Content, Field, Fields, Integer, Shape};

/// The error returned when the text of a shape cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} in `{text}` at column {column}")]
pub struct ShapeError {
    /// What was expected.
    pub expected: &'static str,
    /// The whole text.
    pub text: String,
    /// The column, starting at 1.
    pub column: usize,
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Float(bits) => write!(f, "f{bits}"),
            Self::Char => f.write_str("char"),
            Self::Text(None) => f.write_str("string"),
            Self::Text(Some(format)) => write!(f, "string({format})"),
            Self::Optional(inner) => write!(f, "{inner}?"),
            Self::List(item) => write!(f, "[{item}]"),
            Self::Tuple(items) => {
                f.write_str("(")?;
                write_list(f, items, ", ")?;
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
            Self::Map(key, value) => write!(f, "{{{key}: {value}}}"),
            Self::OneOf(shapes) => {
                f.write_str("<")?;
                write_list(f, shapes, " | ")?;
                f.write_str(">")
            }
            Self::Named(name) => write!(f, "${name}"),
        }
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[Shape], separator: &str) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { separator })?;
    }
    Ok(())
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name(&self.name))?;
        for alias in &self.aliases {
            write!(f, "|{}", Name(alias))?;
        }
        write!(f, "{}: {}", if self.required { "" } else { "?" }, self.shape)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => Ok(()),
            Self::Value(shape) => write!(f, "({shape})"),
            Self::Tuple(items) => {
                f.write_str("(")?;
                write_list(f, items, ", ")?;
                f.write_str(if items.len() < 2 { ",)" } else { ")" })
            }
            Self::Struct(fields) => {
                f.write_str(if fields.closed { " closed {" } else { " {" })?;
                for (index, field) in fields.fields.iter().enumerate() {
                    write!(f, "{} {field}", if index == 0 { "" } else { "," })?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// A name of a field, type or variant: plain if it is a word, else as a JSON string.
#[derive(Debug)]
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && self.0.chars().all(is_word) {
            f.write_str(self.0)
        } else {
            f.write_str(&serde_json::Value::from(self.0).to_string())
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let mut reader = Reader::new(text);
        let shape = reader.shape()?;
        reader.end()?;
        Ok(shape)
    }
}

/// Reads the notation from left to right.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error<T>(&self, expected: &'static str) -> Result<T, ShapeError> {
        Err(ShapeError { expected, text: self.text.to_owned(), column: self.at + 1 })
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes the token if it is next.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str, expected: &'static str) -> Result<(), ShapeError> {
        if self.take(token) { Ok(()) } else { self.error(expected) }
    }

    pub(crate) fn end(&mut self) -> Result<(), ShapeError> {
        self.skip();
        if self.rest().is_empty() { Ok(()) } else { self.error("the end of the line") }
    }

    /// Reads a name: a word, or a JSON string.
    pub(crate) fn name(&mut self) -> Result<String, ShapeError> {
        self.skip();
        let rest = self.rest();
        if rest.starts_with('"') {
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            return match stream.next() {
                Some(Ok(name)) => {
                    self.at += stream.byte_offset();
                    Ok(name)
                }
                _ => self.error("a JSON string"),
            };
        }
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            return self.error("a name");
        }
        self.at += length;
        Ok(rest[..length].to_owned())
    }

    pub(crate) fn shape(&mut self) -> Result<Shape, ShapeError> {
        let mut shape = self.single()?;
        while self.take("?") {
            shape = Shape::optional(shape);
        }
        Ok(shape)
    }

    fn single(&mut self) -> Result<Shape, ShapeError> {
        if self.take("[") {
            let item = self.shape()?;
            self.expect("]", "`]`")?;
            return Ok(Shape::list(item));
        }
        if self.take("{") {
            let key = self.shape()?;
            self.expect(":", "`:`")?;
            let value = self.shape()?;
            self.expect("}", "`}`")?;
            return Ok(Shape::Map(Box::new(key), Box::new(value)));
        }
        if self.take("(") {
            return self.list(")", ",").map(Shape::Tuple);
        }
        if self.take("<") {
            return self.list(">", "|").map(Shape::OneOf);
        }
        if self.take("$") {
            return self.name().map(Shape::Named);
        }
        let start = self.at;
        let name = self.name()?;
        let integer = |signed| {
            let bits = name[1..].parse().ok().filter(|bits| [8, 16, 32, 64, 128].contains(bits));
            bits.map(|bits| Shape::Integer(Integer { signed, bits }))
        };
        let shape = match name.as_str() {
            "any" => Some(Shape::Any),
            "null" => Some(Shape::Null),
            "bool" => Some(Shape::Bool),
            "char" => Some(Shape::Char),
            "f32" => Some(Shape::Float(32)),
            "f64" => Some(Shape::Float(64)),
            "string" if self.take("(") => {
                let format = self.name()?;
                self.expect(")", "`)`")?;
                Some(Shape::Text(Some(format)))
            }
            "string" => Some(Shape::text()),
            _ if name.starts_with('u') => integer(false),
            _ if name.starts_with('i') => integer(true),
            _ => None,
        };
        match shape {
            Some(shape) => Ok(shape),
            None => {
                self.at = start;
                self.error("a shape")
            }
        }
    }

    fn list(&mut self, close: &str, separator: &str) -> Result<Vec<Shape>, ShapeError> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.shape()?);
            if !self.take(separator) {
                self.expect(close, "the end of the list")?;
                break;
            }
        }
        Ok(items)
    }

    /// Reads `name|alias?: shape`.
    pub(crate) fn field(&mut self) -> Result<Field, ShapeError> {
        let name = self.name()?;
        let mut aliases = Vec::new();
        while self.take("|") {
            aliases.push(self.name()?);
        }
        let required = !self.take("?");
        self.expect(":", "`:`")?;
        Ok(Field { name, aliases, shape: self.shape()?, required })
    }

    /// Reads the content of a variant.
    pub(crate) fn content(&mut self) -> Result<Content, ShapeError> {
        if self.take("(") {
            let single = !self.rest().trim_start().starts_with([')', ',']);
            let mut items = Vec::new();
            let mut comma = false;
            while !self.take(")") {
                if self.take(",") {
                    comma = true;
                    continue;
                }
                items.push(self.shape()?);
            }
            return Ok(match items.len() {
                1 if single && !comma => Content::Value(items.remove(0)),
                _ => Content::Tuple(items),
            });
        }
        let closed = self.take("closed");
        if self.take("{") {
            let mut fields = Vec::new();
            while !self.take("}") {
                fields.push(self.field()?);
                if !self.take(",") {
                    self.expect("}", "`}`")?;
                    break;
                }
            }
            return Ok(Content::Struct(Fields { fields, closed }));
        }
        Ok(Content::Unit)
    }
}
