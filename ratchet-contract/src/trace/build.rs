//! Builds shapes and examples from what a trace has found.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::node::{EnumState, Form, InferredForm, Kind, NodeId, Step, StructState};
use super::samples::{INTEGERS, TEXTS};
use super::session::Session;
use super::{TraceFn, Traced};
use crate::shape::{Content, Enum, Field, Fields, Shape, Tagging, TypeDef, Types, Variant};

/// The shapes of several types, with the named types that they share.
///
/// ```
/// use ratchet_contract::{Shapes, traced};
///
/// let mut shapes = Shapes::default();
/// let traced = shapes.trace(traced::<Vec<Option<u32>>>);
/// assert_eq!(traced.shape.to_string(), "[u32?]");
/// ```
#[derive(Debug, Default)]
pub struct Shapes {
    /// The names of types, by what tells them apart.
    names: BTreeMap<String, String>,
    types: Types,
}

impl Shapes {
    /// Traces a type. Panics of its code are caught.
    pub fn trace(&mut self, read: TraceFn) -> Traced {
        super::trace(read, self)
    }

    /// Returns the named types that were found.
    pub fn into_types(self) -> Types {
        self.types
    }

    pub(super) fn shape(&mut self, session: &Session, node: NodeId) -> Shape {
        let part = |step| session.find_child(node, step);
        match &session.nodes[node].kind {
            Kind::Unseen => Shape::Any,
            Kind::Fixed(shape) => shape.clone(),
            Kind::Integer(integer, _) => Shape::Integer(*integer),
            Kind::Text(_) if session.nodes[node].stuck => Shape::text(),
            Kind::Text(choice) => {
                Shape::Text(TEXTS.get(*choice).and_then(|(_, format)| *format).map(str::to_owned))
            }
            Kind::Option => Shape::optional(self.part(session, part(Step::Some))),
            Kind::List => Shape::list(self.part(session, part(Step::Item))),
            Kind::Tuple(len) => Shape::Tuple(self.elements(session, node, *len)),
            Kind::Map => Shape::Map(
                Box::new(self.part(session, part(Step::Key))),
                Box::new(self.part(session, part(Step::Value))),
            ),
            Kind::Recursion(ancestor) => self.shape(session, *ancestor),
            Kind::Struct(state) => {
                let identity = session.nodes[node].identity;
                self.named(state.name.unwrap_or("Object"), identity, |shapes| {
                    TypeDef::Struct(shapes.fields(session, node, state))
                })
            }
            Kind::Enum(state) => {
                let identity = session.nodes[node].identity;
                self.named(state.name, identity, |shapes| {
                    TypeDef::Enum(shapes.variants(session, node, state))
                })
            }
            Kind::Buffered(state) => match state.inferred.as_ref().map(|inferred| &inferred.form) {
                None => Shape::Any,
                Some(InferredForm::Shape(shape)) => shape.clone(),
                Some(InferredForm::Struct(name, fields)) => {
                    let def = TypeDef::Struct(fields.clone());
                    let identity = format!("{name} {def:?}");
                    self.named(name, &identity, |_| def)
                }
                Some(InferredForm::Enum(name, form)) => {
                    let def = TypeDef::Enum(form.clone());
                    let identity = format!("{name} {def:?}");
                    self.named(name, &identity, |_| def)
                }
            },
        }
    }

    fn part(&mut self, session: &Session, node: Option<NodeId>) -> Shape {
        node.map_or(Shape::Any, |node| self.shape(session, node))
    }

    fn elements(&mut self, session: &Session, node: NodeId, len: usize) -> Vec<Shape> {
        (0..len)
            .map(|index| self.part(session, session.find_child(node, Step::Index(index))))
            .collect()
    }

    /// Returns a reference to a named type, which is defined if it is new.
    fn named(
        &mut self,
        name: &str,
        identity: &str,
        def: impl FnOnce(&mut Self) -> TypeDef,
    ) -> Shape {
        if let Some(known) = self.names.get(identity) {
            return Shape::Named(known.clone());
        }
        let taken = |name: &String| self.names.values().any(|known| known == name);
        let mut unique = name.to_owned();
        let mut number = 2;
        while taken(&unique) {
            unique = format!("{name}_{number}");
            number += 1;
        }
        // Named before it is defined, because it may contain itself.
        self.names.insert(identity.to_owned(), unique.clone());
        let def = def(self);
        self.types.insert(unique.clone(), def);
        Shape::Named(unique)
    }

    fn fields(&mut self, session: &Session, node: NodeId, state: &StructState) -> Fields {
        let own = state.fields.iter().filter(|field| field.alias_of.is_none());
        let fields = own.map(|field| {
            let aliases = state.fields.iter().filter(|alias| alias.alias_of == Some(field.name));
            Field {
                name: field.name.to_owned(),
                aliases: aliases.map(|alias| alias.name.to_owned()).collect(),
                shape: self.part(session, session.find_child(node, Step::Field(field.name))),
                required: field.required,
            }
        });
        Fields { fields: fields.collect(), closed: state.closed }
    }

    fn variants(&mut self, session: &Session, node: NodeId, state: &EnumState) -> Enum {
        let mut variants = Vec::new();
        for (index, variant) in state.variants.iter().enumerate() {
            let child = session.find_child(node, Step::Variant(index));
            let kind = child.map(|child| (child, &session.nodes[child].kind));
            let content = match (variant.form, kind) {
                (Form::Tuple, Some((child, Kind::Tuple(len)))) => {
                    Content::Tuple(self.elements(session, child, *len))
                }
                (Form::Struct, Some((child, Kind::Struct(state)))) => {
                    Content::Struct(self.fields(session, child, state))
                }
                (Form::Value, _) => Content::Value(self.part(session, child)),
                _ => Content::Unit,
            };
            variants.push(Variant { name: variant.name.to_owned(), content });
        }
        Enum { tagging: state.tagging.clone(), variants, open: state.open }
    }
}

/// Returns a value that the type accepts. `minimal` gives the smallest one, inside of a type that contains itself.
pub(super) fn sample(session: &Session, node: NodeId, minimal: bool) -> Option<Value> {
    if session.nodes[node].stuck {
        return None;
    }
    let part = |step| sample(session, session.find_child(node, step)?, minimal);
    // A list or an option of a type that is not known is still a value when it is empty.
    let recurs = |step| {
        let child = session.find_child(node, step);
        child.is_some_and(|child| session.contains_recursion(child))
    };
    Some(match &session.nodes[node].kind {
        Kind::Unseen => return None,
        Kind::Fixed(shape) => fixed(shape),
        Kind::Integer(_, choice) => json!(INTEGERS.get(*choice)?),
        Kind::Text(choice) => json!(TEXTS.get(*choice)?.0),
        Kind::Option if minimal || recurs(Step::Some) => Value::Null,
        Kind::Option => part(Step::Some).unwrap_or(Value::Null),
        Kind::List if minimal || recurs(Step::Item) => json!([]),
        Kind::List => part(Step::Item).map_or_else(|| json!([]), |item| json!([item])),
        Kind::Tuple(len) => {
            let items: Option<Vec<_>> = (0..*len).map(|index| part(Step::Index(index))).collect();
            Value::Array(items?)
        }
        Kind::Map if minimal || recurs(Step::Value) => json!({}),
        Kind::Map => match (part(Step::Key), part(Step::Value)) {
            (Some(key), Some(value)) => json!({ key_text(&key)?: value }),
            _ => json!({}),
        },
        Kind::Recursion(ancestor) => return sample(session, *ancestor, true),
        Kind::Struct(state) => Value::Object(object(session, node, state, minimal)?),
        Kind::Enum(state) => return variant(session, node, state, minimal),
        Kind::Buffered(state) => return state.inferred.as_ref()?.sample.clone(),
    })
}

fn fixed(shape: &Shape) -> Value {
    match shape {
        Shape::Bool => json!(true),
        Shape::Float(_) => json!(1.0),
        Shape::Char => json!("a"),
        Shape::List(_) => json!([1]),
        _ => Value::Null,
    }
}

/// Returns the text of a map's key: JSON has only strings as keys.
fn key_text(key: &Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn object(
    session: &Session,
    node: NodeId,
    state: &StructState,
    minimal: bool,
) -> Option<Map<String, Value>> {
    let mut object = Map::new();
    for field in state.fields.iter().filter(|field| field.alias_of.is_none()) {
        let child = session.find_child(node, Step::Field(field.name));
        match child.and_then(|child| sample(session, child, minimal)) {
            Some(value) => drop(object.insert(field.name.to_owned(), value)),
            None if field.required => return None,
            None => {}
        }
    }
    Some(object)
}

fn variant(session: &Session, node: NodeId, state: &EnumState, minimal: bool) -> Option<Value> {
    state.variants.iter().enumerate().find_map(|(index, variant)| {
        let child = session.find_child(node, Step::Variant(index));
        if variant.form == Form::Unseen
            || (minimal && child.is_some_and(|child| session.contains_recursion(child)))
        {
            return None;
        }
        let name = variant.name;
        let content = child.and_then(|child| sample(session, child, minimal));
        match (&state.tagging, variant.form, content) {
            (Tagging::Adjacent { tag, .. }, Form::Unit, _) => Some(json!({ tag: name })),
            (Tagging::Adjacent { tag, content: field }, _, Some(content)) => {
                Some(json!({ tag: name, field: content }))
            }
            (_, Form::Unit, _) => Some(json!(name)),
            (_, _, Some(content)) => Some(json!({ name: content })),
            _ => None,
        }
    })
}
