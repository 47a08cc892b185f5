//! The engine's access to time, randomness and threads. Each is a trait, so that tests and simulations can replace it.

mod clock;
pub mod crash;
mod entropy;
mod ids;
#[cfg(feature = "crash-points")]
pub mod pause;
mod spawn;

pub use clock::{Clock, Sleep, SystemClock, VirtualClock};
pub use entropy::{Entropy, OsEntropy, SeededEntropy};
pub use ids::IdSource;
pub use spawn::{DedicatedEngineThread, SingleRuntime, Spawn, Task, Tasks};
