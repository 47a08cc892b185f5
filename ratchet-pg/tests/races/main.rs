//! Deterministic races between two operations: one is held at a point while the other one runs.
//!
//! Each test failed before its race was fixed. The `interleaving` tests search for further races.

mod claims;
mod floors;
mod hints;
mod keys;
mod names;
mod outcomes;
mod ranges;
mod runs;
#[path = "../support/mod.rs"]
mod support;
mod world;
