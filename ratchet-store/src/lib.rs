//! The contract between the engine of Ratchet and a database: the [`Store`] trait, the data that passes through it
//! ([`model`]), and the rules that every store applies ([`rules`]).
//!
//! An author of a store needs this crate and the test suite in `ratchet-conformance`, and nothing else. Applications
//! depend on the facade crate `ratchet`.
//!
//! # Stability
//!
//! [`Store`] is the interface between the engine and the stores of this project. Until version 1.0, minor releases may
//! add methods to it and fields to its data. A store outside of this project must depend on an exact version.

pub mod env;
mod in_tx;
pub mod model;
pub mod rules;
mod store;

pub use in_tx::{InsertInTx, Submission};
pub use model::{StoreError, StoreErrorKind};
pub use store::{MAX_LOG_LINES, Store, Wake};
