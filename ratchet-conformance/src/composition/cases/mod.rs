//! The cases about composition, by theme.

#![allow(missing_docs, clippy::missing_panics_doc)] // cases are documented by their names, and fail by panicking

pub mod batch;
pub mod cancel_graph;
pub mod chain;
pub mod graph_insert;
pub mod graph_key;
pub mod graph_spawn;
pub mod items;
pub mod nesting;
pub mod pipelines;
pub mod random;
pub mod reopen;
pub mod schedules;
pub mod workflow;
