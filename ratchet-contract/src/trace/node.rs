//! What the tracer knows about the values of a type: a tree with one node per place in the JSON.

use serde_json::Value;

use crate::shape::{Enum, Fields, Shape, Tagging};

/// The index of a node.
pub(super) type NodeId = usize;

pub(super) const ROOT: NodeId = 0;

/// The way from a node to one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Root,
    /// The value of an `Option`.
    Some,
    /// The elements of a list.
    Item,
    /// An element of a tuple.
    Index(usize),
    /// The keys of a map.
    Key,
    /// The values of a map.
    Value,
    Field(&'static str),
    /// The content of a variant, by the index of the variant.
    Variant(usize),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: NodeId,
    pub(super) step: Step,
    pub(super) kind: Kind,
    /// The visitor of the type, which tells types with the same name apart.
    pub(super) identity: &'static str,
    /// No value of the tracer gets past this node.
    pub(super) stuck: bool,
    pub(super) children: Vec<NodeId>,
}

#[derive(Debug)]
pub(super) enum Kind {
    Unseen,
    Fixed(Shape),
    /// The values in [`samples`](super::samples) before this one were refused.
    Integer(crate::shape::Integer, usize),
    Text(usize),
    Option,
    List,
    Tuple(usize),
    Map,
    Struct(StructState),
    Enum(EnumState),
    /// The type of an ancestor.
    Recursion(NodeId),
    /// The type reads a whole value before it looks at it.
    Buffered(Buffered),
}

#[derive(Debug)]
pub(super) struct StructState {
    /// The name of the type; `None` for the content of a variant.
    pub(super) name: Option<&'static str>,
    pub(super) fields: Vec<FieldState>,
    pub(super) closed: bool,
}

#[derive(Debug)]
pub(super) struct FieldState {
    pub(super) name: &'static str,
    pub(super) alias_of: Option<&'static str>,
    /// Offered before the others, so that its aliases are found.
    pub(super) first: bool,
    pub(super) required: bool,
}

impl FieldState {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, alias_of: None, first: false, required: true }
    }
}

#[derive(Debug)]
pub(super) struct EnumState {
    pub(super) name: &'static str,
    pub(super) tagging: Tagging,
    pub(super) variants: Vec<VariantState>,
    pub(super) open: bool,
}

#[derive(Debug)]
pub(super) struct VariantState {
    pub(super) name: &'static str,
    pub(super) form: Form,
    /// The variant and everything in it has been traced.
    pub(super) done: bool,
}

/// How the content of a variant is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Unseen,
    Unit,
    Value,
    Tuple,
    Struct,
}

#[derive(Debug)]
pub(super) struct Buffered {
    /// What serde says that the type expects.
    pub(super) expecting: String,
    pub(super) inferred: Option<Inferred>,
}

/// What trying values has shown about a buffered type.
#[derive(Debug)]
pub(super) struct Inferred {
    pub(super) form: InferredForm,
    /// A value that the type accepts.
    pub(super) sample: Option<Value>,
}

#[derive(Debug)]
pub(super) enum InferredForm {
    Shape(Shape),
    Struct(String, Fields),
    Enum(String, Enum),
}
