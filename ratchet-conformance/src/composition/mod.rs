//! Chains, batches, workflows and what belongs to them: what a store must do about them, as [`suite!`](crate::suite) is
//! for single jobs.

#[doc(hidden)]
pub mod cases;
mod predict;
mod suite;

#[doc(hidden)]
pub use predict::{Fate, fate, predict, predict_told};
