//! The suite every store of Ratchet must pass: the rules about stores, one named test each.
//!
//! A store brings a [`Harness`] and one line:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use ratchet_conformance::{Harness, async_trait};
//! use ratchet_core::store::Store;
//! use ratchet_core::{MemoryStore, VirtualClock};
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
//! No case sleeps: time moves only through [`Harness::advance`]. [`differential`] runs random operations against two
//! stores side by side.

#[doc(hidden)]
pub mod cases;
pub mod composition;
pub mod damage;
pub mod differential;
pub mod engine;
mod fixture;
mod run;
mod suite;

use std::sync::Arc;
use std::time::Duration;

pub use async_trait::async_trait;
use ratchet_core::store::Store;

#[doc(hidden)]
pub use engine::run_engine;
#[doc(hidden)]
pub use fixture::World;
#[doc(hidden)]
pub use run::run;

/// How the suite gets a store and moves its clock.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// A store without jobs. What must outlive the store, such as a temporary folder, lives in `Self`.
    async fn fresh() -> Self
    where
        Self: Sized;

    /// The store. Every call gives a handle to the same one.
    fn store(&self) -> Arc<dyn Store>;

    /// Moves the store's clock on. Stores on a real clock add an offset to it.
    async fn advance(&self, by: Duration);

    /// Whether the store sends hints at all. One that only polls says no, and the cases about hints pass it by.
    fn sends_wakes(&self) -> bool {
        true
    }
}
