//! The propagation of changes through a graph when a job or group ends, is canceled or is retried.
//!
//! A store keeps the rows; [`propagate`] reads what it touches through [`GraphRows`], wave by wave, and answers with
//! [`Changes`] that the store writes **in the commit of the outcome that set them off**. So no store can decide
//! otherwise than another, and there is no gap for a crash to fall into.

mod changes;
mod check;
mod digest;
mod link;
mod open;
mod propagate;
mod rules;
#[cfg(test)]
mod tests;

pub use changes::{Changes, JobChange};
pub use check::{GraphError, check};
pub(crate) use digest::{digest, identity};
pub use link::link;
pub use propagate::{GraphRows, GroupContents, GraphEvent, propagate};
pub use rules::is_new_member;
