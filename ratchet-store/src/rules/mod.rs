//! The rules that every store applies, as pure functions: they use neither a clock nor a database.
//!
//! A store looks up the rows that a rule needs, calls it, and writes its result in one commit. All stores therefore
//! decide the same way, and the conformance suite has to test each rule only once.

pub mod admission;
mod apply;
pub mod arguments;
pub mod audit;
pub mod breaker;
pub mod canonical;
pub mod catalog;
pub mod claim;
pub mod erasure;
pub mod explain;
pub mod failure;
pub mod graph;
pub mod insert;
pub mod node;
pub mod operation;
pub mod queue;
pub mod rate;
pub mod recurring;
pub mod search;
pub mod stats;
pub mod successor;
pub mod turns;

pub use apply::Standing;
pub use breaker::Admission;
pub use claim::ClaimPlan;
pub use explain::{ClaimContext, Explanation, Waiting};
