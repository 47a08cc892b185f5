//! The cases about the engine, for any store. They use real workers and handlers, and no sleeps for synchronization.

mod bench;
#[doc(hidden)]
pub mod cases;
pub mod compose;
mod flaky;
mod hostile;
mod script;
mod suite;

#[doc(hidden)]
pub use bench::Bench;
pub use flaky::{Flaky, Switches};
#[doc(hidden)]
pub use suite::run_engine;
