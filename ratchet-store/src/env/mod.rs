//! Access to time, randomness and ids. Each source is a trait, so that tests and simulations can replace it.

mod clock;
#[doc(hidden)]
pub mod crash;
mod entropy;
mod ids;
#[cfg(feature = "crash-points")]
#[doc(hidden)]
pub mod pause;

pub use clock::{Clock, Sleep, SystemClock, VirtualClock};
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use ids::IdSource;
