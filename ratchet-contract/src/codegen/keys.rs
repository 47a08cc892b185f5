//! Key templates that callers outside of Rust can fill in.

use serde_json::Value;

use crate::job::JobContract;
use crate::shape::Shape;

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Argument(String),
}

/// Returns the template of a key, if a caller can fill it in: its arguments are required, and are strings, integers,
/// booleans or UUIDs. Otherwise the caller must pass the key.
pub(crate) fn template(job: &JobContract, kind: &str) -> Option<Vec<Piece>> {
    let pieces = parse(job.keys.get(kind)?)?;
    let plain = |name: &str| {
        job.arguments.iter().any(|argument| {
            let simple = match &argument.shape {
                Shape::Bool | Shape::Integer(_) | Shape::Char | Shape::Text(None) => true,
                Shape::Text(Some(format)) => format == "uuid",
                _ => false,
            };
            argument.name == name && argument.required && simple
        })
    };
    let derived = pieces.iter().all(|piece| match piece {
        Piece::Text(_) => true,
        Piece::Argument(name) => plain(name),
    });
    derived.then_some(pieces)
}

impl JobContract {
    /// Returns the key of a kind (`business`, `idempotency` or `concurrency`) for these arguments, if the job has a
    /// template for it and callers outside of Rust can fill it in: its arguments must be strings, integers, booleans or
    /// UUIDs.
    pub fn key(&self, kind: &str, arguments: &Value) -> Option<String> {
        let pieces = template(self, kind)?;
        let mut key = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => key.push_str(&text),
                Piece::Argument(name) => match arguments.get(&name)? {
                    Value::String(text) => key.push_str(text),
                    other => key.push_str(&other.to_string()),
                },
            }
        }
        Some(key)
    }
}

fn parse(template: &str) -> Option<Vec<Piece>> {
    let (mut pieces, mut text) = (Vec::new(), String::new());
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.peek() == Some(&c) => {
                chars.next();
                text.push(c);
            }
            '{' => {
                let name: String = chars.by_ref().take_while(|c| *c != '}').collect();
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Argument(name.trim().trim_start_matches("r#").to_owned()));
            }
            '}' => return None,
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Some(pieces)
}
