//! Key templates over arguments, such as `"order-{order_id}"`.

use darling::{Error, FromMeta, Result};
use syn::{Ident, Lit, LitStr, Meta};

use super::{Kind, kind, pair, unexpected};

/// A key template.
#[derive(Clone)]
pub(crate) struct Template {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) lit: LitStr,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    /// `{order.id}`: the name of the argument, followed by the fields to access.
    Field(Vec<String>),
}

impl FromMeta for Template {
    /// A constant is rejected because it could not contain arguments.
    fn from_meta(item: &Meta) -> Result<Self> {
        let (key, value) = pair(item)?;
        let refused = |message: String| Err(Error::custom(message).with_span(value));
        match kind(value) {
            Kind::Literal(Lit::Str(lit)) => match parse(&lit.value()) {
                Ok(pieces) => Ok(Self { pieces, lit }),
                Err(message) => refused(format!("`{key}` {message}")),
            },
            Kind::Constant => refused(format!(
                "`{key}` must be a literal: it is a template over the arguments, `{key} = \"order-{{order_id}}\"`"
            )),
            Kind::Literal(_) | Kind::BareWord(_) | Kind::Other => Err(unexpected(value)),
        }
    }
}

impl Template {
    /// Returns the path of every placeholder; the first segment is the argument.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &[String]> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Field(path) => Some(path.as_slice()),
            Piece::Text(_) => None,
        })
    }
}

fn parse(template: &str) -> std::result::Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                text.push(c);
            }
            '{' => {
                let mut inside = String::new();
                loop {
                    match chars.next() {
                        Some('}') => break,
                        Some('{') | None => {
                            return Err("has a `{` without its `}`; write `{{` for a plain brace");
                        }
                        Some(c) => inside.push(c),
                    }
                }
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Field(path(&inside)?));
            }
            '}' => return Err("has a `}` without its `{`; write `}}` for a plain brace"),
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    if pieces.is_empty() {
        Err("must not be empty: every job of this kind would share the empty key")
    } else {
        Ok(pieces)
    }
}

fn path(inside: &str) -> std::result::Result<Vec<String>, &'static str> {
    if inside.trim().is_empty() {
        return Err("has empty braces; name an argument, `{order_id}`");
    }
    if inside.contains(':') {
        return Err("must not format its arguments; name only the argument, `{order_id}`");
    }
    let path: Vec<_> = inside.split('.').map(|part| part.trim().to_owned()).collect();
    let is_index = |part: &String| part.parse::<u32>().is_ok();
    let is_ident = |part: &String| syn::parse_str::<Ident>(part).is_ok();
    if path.iter().enumerate().all(|(i, part)| is_ident(part) || (i > 0 && is_index(part))) {
        Ok(path)
    } else {
        Err("must name arguments and their fields in braces, `{order_id}` or `{order.id}`")
    }
}

#[cfg(test)]
mod tests {
    use super::Piece::{Field, Text};
    use super::parse;

    #[test]
    fn templates_are_text_and_fields() {
        let field = |path: &[&str]| Field(path.iter().map(ToString::to_string).collect());
        assert_eq!(
            parse("order-{order.id}/{{{kind}}}"),
            Ok(vec![
                Text("order-".into()),
                field(&["order", "id"]),
                Text("/{".into()),
                field(&["kind"]),
                Text("}".into()),
            ])
        );
        assert_eq!(parse("{pair.0}"), Ok(vec![field(&["pair", "0"])]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(parse("a-{b").unwrap_err().contains("without its `}`"));
        assert!(parse("a-b}").unwrap_err().contains("without its `{`"));
        assert!(parse("a-{}").unwrap_err().contains("empty braces"));
        assert!(parse("{a:?}").unwrap_err().contains("must not format"));
        assert!(parse("{a()}").unwrap_err().contains("arguments and their fields"));
        assert!(parse("").unwrap_err().contains("not be empty"));
    }
}
