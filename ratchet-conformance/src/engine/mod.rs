//! The cases about the engine, for any store. They use real workers and handlers, and no sleeps for synchronization.

#[doc(hidden)]
pub mod cases;
pub mod composition;
mod fixture;
mod flaky;
mod hostile;
mod keys;
mod script;
#[doc(hidden)]
pub mod suite;
#[doc(hidden)]
pub mod unregistered;

#[doc(hidden)]
pub use fixture::EngineFixture;
pub use flaky::{Flaky, Switches};
#[doc(hidden)]
pub use suite::run_engine;
