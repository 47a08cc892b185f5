//! The cases about chains, batches, workflows and schedules. They complement [`suite!`](crate::suite), which covers
//! single jobs.

#[doc(hidden)]
pub mod cases;
mod predict;
#[doc(hidden)]
pub mod suite;

#[doc(hidden)]
pub use predict::{Fate, fate, predict, predict_told};
