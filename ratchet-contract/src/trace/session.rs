//! The state of a trace, and what the next pass over the type must do.

use serde_json::Value;

use super::node::{
    EnumState, FieldState, Kind, Node, NodeId, ROOT, Step, StructState, VariantState,
};
use crate::shape::Tagging;

/// How deep a value of the tracer can be.
pub(super) const DEPTH: usize = 100;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) nodes: Vec<Node>,
    /// The node that was touched last: a pass that fails has failed there.
    pub(super) last: NodeId,
    /// The field that was offered last.
    pub(super) field: Option<&'static str>,
    /// The enums of this pass, in order, with the index of the variant.
    pub(super) enums: Vec<(NodeId, usize)>,
    pub(super) plan: Plan,
}

/// What one pass does differently.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Leaves out a field.
    pub(super) omit: Option<(NodeId, &'static str)>,
    /// Adds a field that the type cannot know.
    pub(super) extra: Option<NodeId>,
    /// Names a variant that the type cannot know.
    pub(super) unknown_variant: Option<NodeId>,
    /// Gives this value to a buffered type.
    pub(super) replay: Option<(NodeId, Value)>,
    /// The variants on the way to a node.
    pub(super) forced: Vec<(NodeId, usize)>,
}

/// A name that no type has.
pub(super) const UNKNOWN: &str = "\u{1}";

impl Session {
    pub(super) fn new() -> Self {
        let root = Node {
            parent: ROOT,
            step: Step::Root,
            kind: Kind::Unseen,
            identity: "",
            stuck: false,
            children: Vec::new(),
        };
        Self {
            nodes: vec![root],
            last: ROOT,
            field: None,
            enums: Vec::new(),
            plan: Plan::default(),
        }
    }

    /// Returns whether a type reads a whole value before it looks at it.
    pub(super) fn has_buffered(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node.kind, Kind::Buffered(_)))
    }

    /// Returns the part of a node, which is added if it is new.
    pub(super) fn child(&mut self, parent: NodeId, step: Step) -> NodeId {
        let known = self.nodes[parent].children.iter().find(|id| self.nodes[**id].step == step);
        if let Some(known) = known {
            return *known;
        }
        let id = self.nodes.len();
        self.nodes.push(Node {
            parent,
            step,
            kind: Kind::Unseen,
            identity: "",
            stuck: false,
            children: Vec::new(),
        });
        self.nodes[parent].children.push(id);
        id
    }

    pub(super) fn find_child(&self, parent: NodeId, step: Step) -> Option<NodeId> {
        self.nodes[parent].children.iter().copied().find(|id| self.nodes[*id].step == step)
    }

    /// Touches a node, and sets its kind if it was not seen before.
    pub(super) fn touch(&mut self, node: NodeId, kind: impl FnOnce() -> Kind) {
        self.last = node;
        if matches!(self.nodes[node].kind, Kind::Unseen) {
            self.nodes[node].kind = kind();
        }
    }

    /// Returns the ancestor with the same type.
    pub(super) fn recursion(&self, node: NodeId, identity: &str) -> Option<NodeId> {
        let mut at = node;
        while at != ROOT {
            at = self.nodes[at].parent;
            if self.nodes[at].identity == identity {
                return Some(at);
            }
        }
        None
    }

    /// Returns whether the node is inside of the other one.
    pub(super) fn is_inside(&self, node: NodeId, outer: NodeId) -> bool {
        let mut at = node;
        while at != ROOT {
            at = self.nodes[at].parent;
            if at == outer {
                return true;
            }
        }
        false
    }

    pub(super) fn structure(&mut self, node: NodeId) -> Option<&mut StructState> {
        match &mut self.nodes[node].kind {
            Kind::Struct(state) => Some(state),
            _ => None,
        }
    }

    pub(super) fn enumeration(&mut self, node: NodeId) -> Option<&mut EnumState> {
        match &mut self.nodes[node].kind {
            Kind::Enum(state) => Some(state),
            _ => None,
        }
    }

    /// Returns the fields to offer: those with aliases first, those that cannot be passed last.
    pub(super) fn offered(&self, node: NodeId) -> Vec<&'static str> {
        let Kind::Struct(state) = &self.nodes[node].kind else { return Vec::new() };
        let omitted = |name| self.plan.omit == Some((node, name));
        let mut fields: Vec<&FieldState> = state
            .fields
            .iter()
            .filter(|field| field.alias_of.is_none() && !omitted(field.name))
            .collect();
        fields.sort_by_key(|field| {
            let child = self.find_child(node, Step::Field(field.name));
            let stuck = child.is_some_and(|child| self.is_stuck(child));
            // Of those that cannot be passed, one that was not seen comes first.
            (stuck, child.is_some() && stuck, !field.first)
        });
        fields.into_iter().map(|field| field.name).collect()
    }

    /// Returns whether the node or a part of it cannot be passed.
    pub(super) fn is_stuck(&self, node: NodeId) -> bool {
        self.nodes[node].stuck
            || self.nodes[node].children.iter().any(|child| self.is_stuck(*child))
    }

    /// Returns whether the node contains the type of one of its ancestors.
    pub(super) fn contains_recursion(&self, node: NodeId) -> bool {
        let Node { kind, children, .. } = &self.nodes[node];
        matches!(kind, Kind::Recursion(_))
            || children.iter().any(|child| self.contains_recursion(*child))
    }

    /// Chooses the variant for this pass.
    pub(super) fn choose(&mut self, node: NodeId, minimal: bool, depth: usize) -> usize {
        let forced = self.plan.forced.iter().find(|(id, _)| *id == node).map(|(_, index)| *index);
        let Kind::Enum(state) = &self.nodes[node].kind else { return 0 };
        let count = state.variants.len().max(1);
        if minimal {
            let ends = |index| {
                let content = self.find_child(node, Step::Variant(index));
                content.is_none_or(|id| !self.is_stuck(id) && !self.contains_recursion(id))
            };
            let mut done =
                (0..state.variants.len()).filter(|i| state.variants[*i].done && ends(*i));
            return done.next().unwrap_or(depth % count);
        }
        let chosen = forced.unwrap_or_else(|| {
            let open = state.variants.iter().position(|variant| !variant.done);
            let passable = (0..state.variants.len()).find(|index| {
                self.find_child(node, Step::Variant(*index)).is_none_or(|id| !self.is_stuck(id))
            });
            open.or(passable).unwrap_or(0)
        });
        self.enums.push((node, chosen));
        chosen
    }

    pub(super) fn new_enum(
        name: &'static str,
        tagging: Tagging,
        variants: &'static [&'static str],
    ) -> Kind {
        let variant = |name: &&'static str| VariantState {
            name,
            form: super::node::Form::Unseen,
            done: false,
        };
        Kind::Enum(EnumState {
            name,
            tagging,
            variants: variants.iter().map(variant).collect(),
            open: false,
        })
    }

    pub(super) fn new_struct(name: Option<&'static str>, fields: &[&'static str]) -> Kind {
        let fields = fields.iter().map(|name| FieldState::new(name)).collect();
        Kind::Struct(StructState { name, fields, closed: false })
    }

    /// Plans a pass that reaches the node.
    pub(super) fn plan_for(&self, node: NodeId) -> Plan {
        let mut forced = Vec::new();
        let mut at = node;
        while at != ROOT {
            if let Step::Variant(index) = self.nodes[at].step {
                forced.push((self.nodes[at].parent, index));
            }
            at = self.nodes[at].parent;
        }
        Plan { forced, ..Plan::default() }
    }

    /// Marks the variants of this pass in which nothing is left to trace.
    pub(super) fn mark_done(&mut self) {
        let enums = std::mem::take(&mut self.enums);
        for (at, (node, index)) in enums.iter().enumerate().rev() {
            let complete = enums[at + 1..]
                .iter()
                .filter(|(inner, _)| self.is_inside(*inner, *node))
                .all(|(inner, _)| self.is_complete(*inner));
            if complete
                && let Some(state) = self.enumeration(*node)
                && let Some(variant) = state.variants.get_mut(*index)
            {
                variant.done = true;
            }
        }
    }

    fn is_complete(&self, node: NodeId) -> bool {
        match &self.nodes[node].kind {
            Kind::Enum(state) => state.variants.iter().all(|variant| variant.done),
            _ => true,
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        (0..self.nodes.len()).all(|node| self.is_complete(node))
    }

    /// Returns whether the field is an `Option`.
    pub(super) fn is_option(&self, node: NodeId, field: &'static str) -> bool {
        let child = self.find_child(node, Step::Field(field));
        child.is_some_and(|child| matches!(self.nodes[child].kind, Kind::Option))
    }

    /// Returns the way to a node, for warnings.
    pub(super) fn path(&self, node: NodeId) -> String {
        if node == ROOT {
            return String::new();
        }
        let parent = self.nodes[node].parent;
        let part = match self.nodes[node].step {
            Step::Root | Step::Some => String::new(),
            Step::Item => "[]".to_owned(),
            Step::Index(index) => format!("[{index}]"),
            Step::Key => "{key}".to_owned(),
            Step::Value => "{}".to_owned(),
            Step::Field(name) => format!(".{name}"),
            Step::Variant(index) => match &self.nodes[parent].kind {
                Kind::Enum(state) => {
                    format!("::{}", state.variants.get(index).map_or("?", |variant| variant.name))
                }
                _ => String::new(),
            },
        };
        self.path(parent) + &part
    }
}
