//! The rules about the engine, on any store: real workers, real handlers, no sleeps as synchronisation.

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
