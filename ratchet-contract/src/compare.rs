//! Compares two shapes: whether what was written with one can be read with the other.

use std::collections::BTreeSet;

use crate::shape::{Content, Enum, Field, Fields, Shape, TypeDef, Types};

/// A reason why a value cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The place in the payload: `order.items[].count`.
    pub path: String,
    /// What changed there.
    pub change: Change,
}

/// What changed between two shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The value had another shape.
    Shape {
        /// The shape of stored values.
        was: String,
        /// The present shape.
        is: String,
    },
    /// A field must be there, and stored values do not have it.
    NewRequired,
    /// A field may be missing in stored values, and must be there now.
    NowRequired,
    /// A field is refused that stored values have.
    Refused,
    /// A variant is gone.
    VariantRemoved,
}

/// Returns why a value that was written as `old` cannot be read as `new`, and the fields whose values would be lost.
pub(crate) struct Reading<'a> {
    pub(crate) old: &'a Types,
    pub(crate) new: &'a Types,
    pub(crate) mismatches: Vec<Mismatch>,
    /// The paths of fields that nothing reads.
    pub(crate) dropped: Vec<String>,
    visited: BTreeSet<(String, String)>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(old: &'a Types, new: &'a Types) -> Self {
        Self { old, new, mismatches: Vec::new(), dropped: Vec::new(), visited: BTreeSet::new() }
    }

    fn mismatch(&mut self, path: &str, change: Change) {
        self.mismatches.push(Mismatch { path: path.to_owned(), change });
    }

    /// Compares the shapes of a value.
    pub(crate) fn shapes(&mut self, path: &str, old: &'a Shape, new: &'a Shape) {
        match (old, new) {
            (_, Shape::Any) | (Shape::Null, Shape::Optional(_)) => {}
            (Shape::Named(old_name), Shape::Named(new_name)) => {
                if self.visited.insert((old_name.clone(), new_name.clone())) {
                    match (self.old.get(old_name), self.new.get(new_name)) {
                        (Some(TypeDef::Struct(old)), Some(TypeDef::Struct(new))) => {
                            self.fields(path, old, new);
                        }
                        (Some(TypeDef::Enum(old)), Some(TypeDef::Enum(new))) => {
                            self.variants(path, old, new);
                        }
                        (Some(_), Some(_)) => self.changed(path, old, new),
                        _ => {}
                    }
                }
            }
            (Shape::Optional(old), Shape::Optional(new)) => self.shapes(path, old, new),
            (old, Shape::Optional(new)) => self.shapes(path, old, new),
            (Shape::List(old), Shape::List(new)) => self.shapes(&format!("{path}[]"), old, new),
            (Shape::Tuple(old), Shape::Tuple(new)) if old.len() == new.len() => {
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.shapes(&format!("{path}[{index}]"), old, new);
                }
            }
            (Shape::Tuple(old), Shape::List(new)) => {
                for (index, old) in old.iter().enumerate() {
                    self.shapes(&format!("{path}[{index}]"), old, new);
                }
            }
            (Shape::Map(old_key, old), Shape::Map(new_key, new)) => {
                self.shapes(&format!("{path}{{key}}"), old_key, new_key);
                self.shapes(&format!("{path}{{}}"), old, new);
            }
            (Shape::Named(name), Shape::Map(_, value)) => match self.old.get(name) {
                Some(TypeDef::Struct(fields)) => {
                    for field in &fields.fields {
                        self.shapes(&join(path, &field.name), &field.shape, value);
                    }
                }
                _ => self.changed(path, old, new),
            },
            (Shape::OneOf(alternatives), _) => {
                for old in alternatives {
                    self.shapes(path, old, new);
                }
            }
            (_, Shape::OneOf(alternatives)) => {
                let fits = |new: &&'a Shape| {
                    let mut reading = Reading::new(self.old, self.new);
                    reading.shapes(path, old, new);
                    reading.mismatches.is_empty()
                };
                if !alternatives.iter().any(|new| fits(&new)) {
                    self.changed(path, old, new);
                }
            }
            _ if fits(old, new) => {}
            _ => self.changed(path, old, new),
        }
    }

    fn changed(&mut self, path: &str, old: &Shape, new: &Shape) {
        self.mismatch(path, Change::Shape { was: old.to_string(), is: new.to_string() });
    }

    /// Compares the fields of an object.
    pub(crate) fn fields(&mut self, path: &str, old: &'a Fields, new: &'a Fields) {
        for field in &old.fields {
            let at = join(path, &field.name);
            match new.find(&field.name) {
                Some(reader) => {
                    let before = self.mismatches.len();
                    self.shapes(&at, &field.shape, &reader.shape);
                    if !field.required && reader.required && self.mismatches.len() == before {
                        self.mismatch(&at, Change::NowRequired);
                    }
                }
                None if new.closed => self.mismatch(&at, Change::Refused),
                None => self.dropped.push(at),
            }
        }
        for field in new.fields.iter().filter(|field| field.required) {
            let read =
                |old: &Field| new.find(&old.name).is_some_and(|read| read.name == field.name);
            if !old.fields.iter().any(read) {
                self.mismatch(&join(path, &field.name), Change::NewRequired);
            }
        }
    }

    fn variants(&mut self, path: &str, old: &'a Enum, new: &'a Enum) {
        if old.tagging != new.tagging {
            let change = Change::Shape {
                was: format!("{:?} tagged", old.tagging).to_lowercase(),
                is: format!("{:?} tagged", new.tagging).to_lowercase(),
            };
            return self.mismatch(path, change);
        }
        for variant in &old.variants {
            let at = format!("{path}::{}", variant.name);
            let same = new.variants.iter().find(|new| new.name == variant.name);
            match (same, &variant.content) {
                (None, Content::Unit) if new.open => {}
                (None, _) => self.mismatch(&at, Change::VariantRemoved),
                (Some(new), old) => self.contents(&at, old, &new.content),
            }
        }
    }

    fn contents(&mut self, path: &str, old: &'a Content, new: &'a Content) {
        match (old, new) {
            (Content::Unit, Content::Unit) => {}
            (Content::Value(old), Content::Value(new)) => self.shapes(path, old, new),
            (Content::Tuple(old), Content::Tuple(new)) if old.len() == new.len() => {
                for (index, (old, new)) in old.iter().zip(new).enumerate() {
                    self.shapes(&format!("{path}[{index}]"), old, new);
                }
            }
            (Content::Struct(old), Content::Struct(new)) => self.fields(path, old, new),
            (old, new) => {
                let text = |content: &Content| match content.to_string().trim() {
                    "" => "no content".to_owned(),
                    text => text.to_owned(),
                };
                self.mismatch(path, Change::Shape { was: text(old), is: text(new) });
            }
        }
    }
}

/// Returns whether a simple value can be read with another simple shape.
fn fits(old: &Shape, new: &Shape) -> bool {
    match (old, new) {
        (Shape::Integer(old), Shape::Integer(new)) => old.fits_in(*new),
        (Shape::Integer(_) | Shape::Float(_), Shape::Float(_))
        | (Shape::Text(_) | Shape::Char, Shape::Text(None)) => true,
        (old, new) => old == new,
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
