//! Races between two verbs, each brought about on purpose: one verb is held at a point while the other one runs.
//!
//! Every test here failed before the race that it names was closed. `interleaving` looks for others of the kind.

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
