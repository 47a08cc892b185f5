//! Harnesses for the memory store: with a virtual clock and with a real one.

// Each test file uses only one of the harnesses.
#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use ratchet_conformance::{Harness, async_trait};
use ratchet_core::{Clock, Sleep, SystemClock, VirtualClock};
use ratchet_memory::MemoryStore;
use ratchet_store::Store;

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

/// A harness with a running clock, like that of a database. `advance` adds an offset.
pub(crate) struct Ticking {
    store: MemoryStore,
    clock: Arc<Shifted>,
}

#[derive(Debug, Default)]
struct Shifted {
    machine: SystemClock,
    micros: AtomicU64,
}

impl Shifted {
    fn shift(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::SeqCst))
    }
}

impl Clock for Shifted {
    fn now(&self) -> Timestamp {
        self.machine.now() + self.shift()
    }

    fn monotonic(&self) -> Duration {
        self.machine.monotonic() + self.shift()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.machine.sleep(duration)
    }
}

#[async_trait]
impl Harness for Ticking {
    async fn fresh() -> Self {
        let clock = Arc::new(Shifted::default());
        let shared: Arc<dyn Clock> = Arc::<Shifted>::clone(&clock);
        Self { store: MemoryStore::with_clock(shared), clock }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    async fn advance(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).expect("a case passes no ages");
        self.clock.micros.fetch_add(micros, Ordering::SeqCst);
    }
}
