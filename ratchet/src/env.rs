//! The sources of time, randomness and threads that a runtime uses. Tests and simulations replace them.

pub use ratchet_core::{
    Clock, DedicatedEngineThread, Entropy, IdSource, OsEntropy, SeededEntropy, SingleRuntime,
    Sleep, Spawn, SystemClock, Task, Tasks, VirtualClock,
};
