//! The conformance suite for stores: one named test for each rule that a store must follow.
//!
//! To run the suite, implement [`Harness`] and call [`suite!`]:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use ratchet_conformance::{Harness, async_trait};
//! use ratchet_store::Store;
//! use ratchet_core::VirtualClock;
//! use ratchet_memory::MemoryStore;
//!
//! struct Memory {
//!     store: MemoryStore,
//!     clock: VirtualClock,
//! }
//!
//! #[async_trait]
//! impl Harness for Memory {
//!     async fn fresh() -> Self {
//!         let clock = VirtualClock::new();
//!         Self { store: MemoryStore::with_clock(Arc::new(clock.clone())), clock }
//!     }
//!
//!     fn store(&self) -> Arc<dyn Store> {
//!         Arc::new(self.store.clone())
//!     }
//!
//!     async fn advance(&self, by: Duration) {
//!         self.clock.advance(by);
//!     }
//! }
//!
//! ratchet_conformance::suite!(Memory);
//! ```
//!
//! The cases do not sleep; they move time with [`Harness::advance`]. [`differential`] runs random operations against
//! two stores and compares the results.

#[doc(hidden)]
pub mod cases;
pub mod composition;
pub mod damage;
pub mod differential;
pub mod engine;
mod fixture;
pub mod older;
pub mod planted_secrets;
pub mod restored;
mod run;
#[doc(hidden)]
pub mod suite;
pub mod views;

use std::sync::Arc;
use std::time::Duration;

pub use async_trait::async_trait;
use ratchet_store::Store;

#[doc(hidden)]
pub use engine::run_engine;
#[doc(hidden)]
pub use fixture::World;
#[doc(hidden)]
pub use run::run;

/// Creates the store under test and controls its clock.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Creates an empty store. `Self` must own everything that has to outlive the store, such as a temporary folder.
    async fn fresh() -> Self
    where
        Self: Sized;

    /// Returns a handle to the store. Every call must return the same store.
    fn store(&self) -> Arc<dyn Store>;

    /// Advances the store's clock. A store with a real clock must add an offset to it.
    async fn advance(&self, by: Duration);

    /// Returns whether the store sends wake-ups. If it is polled only, return `false`; wake-ups are then not checked.
    fn sends_wakes(&self) -> bool {
        true
    }

    /// Returns how many rounds of a random case to play, of those that it has. A harness whose store is slow, or is tested
    /// by another harness too, may play some of them. [`some_rounds`] plays all of them on request.
    fn rounds(&self, all: usize) -> usize {
        all
    }
}

/// Returns a quarter of the rounds of a random case, or all of them if `RATCHET_ALL_ROUNDS` is set.
pub fn some_rounds(all: usize) -> usize {
    if std::env::var_os("RATCHET_ALL_ROUNDS").is_some() { all } else { all.div_ceil(4) }
}
