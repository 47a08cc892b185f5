//! The cases, by theme.

#![allow(missing_docs, clippy::missing_panics_doc)] // the name of a case says it all, and to panic is to fail

pub mod batch;
pub mod cancel_graph;
pub mod chain;
pub mod graph_insert;
pub mod graph_key;
pub mod graph_spawn;
pub mod items;
pub mod nesting;
pub mod random;
pub mod reopen;
pub mod schedules;
pub mod workflow;
