//! The contract between the engine of Ratchet and a database: the [`Store`] trait, the data that passes through it
//! ([`model`]), and the rules that every store applies ([`rules`]).
//!
//! An author of a store needs this crate and the test suite in `ratchet-conformance`, and nothing else. Applications
//! depend on the facade crate `ratchet`.
//!
//! # Stability
//!
//! [`Store`] is the seam between the engine and the stores of this project. It gains methods and its data gains fields
//! in minor releases, until version 1.0. A store outside of this project should depend on an exact version.

pub mod env;
mod in_tx;
pub mod model;
pub mod rules;
mod store;

pub use in_tx::{InsertInTx, Submission};
pub use model::{StoreError, StoreErrorKind};
pub use store::{MAX_LOG_LINES, Store, Wake};
