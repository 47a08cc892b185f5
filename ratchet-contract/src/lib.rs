//! The contract of jobs: the JSON shapes of their arguments and outputs, and what depends on them.
//!
//! [`Shapes`] traces the shape of a type through serde. Applications use this crate through `ratchet`.

mod check;
mod codegen;
mod compare;
mod compiled;
mod job;
mod lock;
mod notation;
mod review;
mod shape;
mod trace;

pub use check::Mistake;
pub use codegen::Codegen;
pub use compare::{Change, Mismatch};
pub use job::{Argument, Contract, JobContract};
pub use lock::LockError;
pub use notation::ShapeError;
pub use review::{Note, Problem, Review};
pub use shape::{Content, Enum, Field, Fields, Integer, Shape, Tagging, TypeDef, Types, Variant};
pub use trace::{Shapes, TraceError, TraceFn, Traced, Tracer, Warning, traced};
