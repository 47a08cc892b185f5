//! Where the engine touches the world: time, randomness, threads. Each is a trait, so that tests and simulations decide.

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
pub use spawn::{SingleRuntime, DedicatedEngineThread, Spawn, Task, Tasks};
