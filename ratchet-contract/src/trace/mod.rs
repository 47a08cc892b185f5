//! Traces the JSON shape of a type through its `Deserialize` implementation.
//!
//! A type is deserialized from made-up values, again and again, until every variant and every field was seen. The type
//! needs no other derive. A pass that fails says where, and the next pass offers another value there.

mod build;
mod error;
mod infer;
mod node;
mod replay;
mod samples;
mod session;
mod tracer;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use serde_json::Value;

pub use self::build::Shapes;
pub use self::error::TraceError;
pub use self::tracer::Tracer;

use self::error::Problem;
use self::node::{FieldState, Inferred, InferredForm, Kind, NodeId, ROOT};
use self::samples::{INTEGERS, TEXTS};
use self::session::{Plan, Session};
use crate::shape::Shape;

/// Deserializes a type with a [`Tracer`]: [`traced`] for the type, or the function of `#[serde(with = "module")]`.
pub type TraceFn = fn(Tracer<'_>) -> Result<(), TraceError>;

/// The [`TraceFn`] of a type. One instance per type, and none of it runs outside of a trace.
pub fn traced<T: for<'de> Deserialize<'de>>(tracer: Tracer<'_>) -> Result<(), TraceError> {
    match T::deserialize(tracer) {
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The most passes over one type.
const PASSES: usize = 4000;

/// What is known about a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traced {
    /// The shape of its values.
    pub shape: Shape,
    /// A value that the type accepts, if one was found.
    pub sample: Option<Value>,
    /// What could not be found out, and what to do about it.
    pub warnings: Vec<Warning>,
    /// Whether every part of the type was read. A type that reads a whole value before it looks at it, such as a struct with
    /// `#[serde(flatten)]`, can have fields that were not found.
    pub is_complete: bool,
}

/// What could not be found out about a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The place in the value: `.items[].kind`; empty for the value itself.
    pub path: String,
    /// What is not known, and what to do about it.
    pub text: String,
}

/// Traces a type. Its named types are added to `shapes`.
pub(crate) fn trace(read: TraceFn, shapes: &mut Shapes) -> Traced {
    let mut trace = Trace { read, session: Session::new(), warnings: Vec::new(), passes: 0 };
    trace.explore();
    trace.find_optional_fields();
    trace.find_open_enums();
    let Trace { session, warnings, .. } = trace;
    let shape = shapes.shape(&session, ROOT);
    let sample = build::sample(&session, ROOT, false);
    let is_complete = warnings.is_empty() && !session.has_buffered();
    Traced { shape, sample, warnings, is_complete }
}

struct Trace {
    read: TraceFn,
    session: Session,
    warnings: Vec<Warning>,
    passes: usize,
}

impl Trace {
    /// Deserializes the type once.
    fn pass(&mut self, plan: Plan) -> Result<(), TraceError> {
        self.passes += 1;
        self.session.plan = plan;
        self.session.enums.clear();
        self.session.last = ROOT;
        let (read, session) = (self.read, &mut self.session);
        let tracer = Tracer { session, node: ROOT, minimal: false, depth: 0, tag_of: None };
        // The code of the type may panic for values that it does not expect.
        let result = catch_unwind(AssertUnwindSafe(|| read(tracer)));
        self.session.plan = Plan::default();
        result.unwrap_or_else(|_| Err(TraceError(Problem::Other("it panicked".to_owned()))))
    }

    /// Runs passes until every variant was seen, or no other value can be offered.
    fn explore(&mut self) {
        while self.passes < PASSES {
            let seen = match self.pass(Plan::default()) {
                Ok(()) => true,
                // A place that cannot be passed ends the pass, after everything before it was seen.
                Err(_) if self.session.nodes[self.session.last].stuck => true,
                Err(error) => {
                    self.learn(&error);
                    false
                }
            };
            if seen {
                self.session.mark_done();
                if self.session.is_finished() {
                    return;
                }
            }
        }
        let text = "has more variants than can be traced; its shape is incomplete";
        self.warnings.push(Warning { path: String::new(), text: text.to_owned() });
    }

    /// Changes what the next pass offers at the place where this one failed.
    fn learn(&mut self, error: &TraceError) {
        let (node, field) = (self.session.last, self.session.field);
        match (&mut self.session.nodes[node].kind, &error.0) {
            (Kind::Text(choice), _) if *choice + 1 < TEXTS.len() => *choice += 1,
            (Kind::Integer(_, choice), _) if *choice + 1 < INTEGERS.len() => *choice += 1,
            (Kind::Buffered(state), Problem::Pending) if state.inferred.is_none() => {
                let expecting = state.expecting.clone();
                self.infer(node, &expecting);
            }
            (Kind::Struct(state), Problem::Missing(name))
                if !state.fields.iter().any(|field| field.name == *name) =>
            {
                state.fields.push(FieldState::new(name));
            }
            (Kind::Struct(state), Problem::Duplicate(name)) => {
                let offered = state.fields.iter_mut().find(|state| Some(state.name) == field);
                match offered {
                    Some(offered) if offered.name == *name && !offered.first => {
                        offered.first = true;
                    }
                    Some(offered) if offered.name != *name => offered.alias_of = Some(name),
                    _ => self.give_up(node, error),
                }
            }
            _ => self.give_up(node, error),
        }
    }

    fn give_up(&mut self, node: NodeId, error: &TraceError) {
        self.session.nodes[node].stuck = true;
        let path = self.session.path(node);
        let kind = &mut self.session.nodes[node].kind;
        let (known, remedy) = match kind {
            Kind::Text(_) => {
                ("a string with an unknown format", "its payloads cannot be checked further")
            }
            Kind::Integer(..) => {
                ("a number in an unknown range", "its payloads cannot be checked further")
            }
            Kind::Struct(_) | Kind::Enum(_) => {
                ("checked by its own code", "the lock file has no example of it")
            }
            _ => {
                *kind = Kind::Fixed(Shape::Any);
                (
                    "recorded as `any`",
                    "derive `Deserialize` without `untagged`, or take a type that is",
                )
            }
        };
        let text = format!("is {known} ({error}): {remedy}");
        self.warnings.push(Warning { path, text });
    }

    fn infer(&mut self, node: NodeId, expecting: &str) {
        let mut decode = |value: Value| {
            let mut plan = self.session.plan_for(node);
            plan.replay = Some((node, value));
            match self.pass(plan) {
                // The pass failed further on: this value was accepted.
                Err(_) if self.session.last != node => Ok(()),
                result => result,
            }
        };
        let inferred = infer::infer(expecting, &mut decode);
        let path = self.session.path(node);
        let inferred = match inferred {
            Ok(inferred) => inferred,
            Err(why) => {
                self.session.nodes[node].stuck = true;
                let text = format!(
                    "is recorded as `any` ({expecting}: {why}): give an untagged enum a tag, or take a type that is derived"
                );
                self.warnings.push(Warning { path, text });
                Inferred { form: InferredForm::Shape(Shape::Any), sample: None }
            }
        };
        if let Kind::Buffered(state) = &mut self.session.nodes[node].kind {
            state.inferred = Some(inferred);
        }
    }

    /// Decodes each struct without each of its fields.
    fn find_optional_fields(&mut self) {
        for node in 0..self.session.nodes.len() {
            let Some(state) = self.session.structure(node) else { continue };
            let names: Vec<_> = state
                .fields
                .iter()
                .filter(|field| field.alias_of.is_none())
                .map(|field| field.name)
                .collect();
            let stuck = self.session.is_stuck(node);
            for name in names {
                let mut plan = self.session.plan_for(node);
                plan.omit = Some((node, name));
                let required = match self.pass(plan) {
                    Err(TraceError(Problem::Missing(missing))) => missing == name,
                    Err(_) if stuck => !self.session.is_option(node, name),
                    _ => false,
                };
                let state = self.session.structure(node);
                let field =
                    state.and_then(|state| state.fields.iter_mut().find(|f| f.name == name));
                if let Some(field) = field {
                    field.required = required;
                }
            }
            let mut plan = self.session.plan_for(node);
            plan.extra = Some(node);
            let closed = matches!(self.pass(plan), Err(TraceError(Problem::UnknownField)));
            if let Some(state) = self.session.structure(node) {
                state.closed = closed;
            }
        }
    }

    /// Decodes each enum with a variant that it does not have.
    fn find_open_enums(&mut self) {
        for node in 0..self.session.nodes.len() {
            if self.session.enumeration(node).is_none() {
                continue;
            }
            let mut plan = self.session.plan_for(node);
            plan.unknown_variant = Some(node);
            let refused = matches!(self.pass(plan), Err(TraceError(Problem::UnknownVariant(_))));
            let stuck = self.session.is_stuck(node);
            if let Some(state) = self.session.enumeration(node) {
                state.open = !refused && !stuck;
            }
        }
    }
}
