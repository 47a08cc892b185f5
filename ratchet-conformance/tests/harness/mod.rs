//! The store in memory, on a clock that stands still.

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::{Harness, async_trait};
use ratchet_core::store::Store;
use ratchet_core::{MemoryStore, VirtualClock};

pub(crate) struct Memory {
    store: MemoryStore,
    clock: VirtualClock,
}

#[async_trait]
impl Harness for Memory {
    async fn fresh() -> Self {
        let clock = VirtualClock::new();
        Self { store: MemoryStore::with_clock(Arc::new(clock.clone())), clock }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}
