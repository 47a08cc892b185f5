//! The propagation of changes through a graph when a job or group ends, is canceled or is retried.
//!
//! A store keeps the rows. [`propagate`] reads the affected rows through [`GraphRows`], level by level, and returns the
//! [`Changes`]. The store must write them **in the commit of the outcome that caused them**, so that a crash cannot
//! separate the two. Because the rules are pure functions, all stores behave the same.

mod changes;
mod check;
mod digest;
mod link;
mod open;
mod order;
mod propagate;
mod rules;
#[cfg(test)]
mod tests;

pub use changes::{Changes, JobChange};
pub use check::{GraphError, check};
pub(crate) use digest::{digest, digest_of_bytes, identity};
pub use link::link;
pub use order::{held_up_by, sequence, sequence_id, turn_edge};
pub use propagate::{GraphEvent, GraphRows, GroupContents, propagate};
pub use rules::is_new_member;
