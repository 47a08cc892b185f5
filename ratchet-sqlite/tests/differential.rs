//! Runs random operations on the store in memory and on SQLite. All answers must be the same.

mod harness;

use std::sync::Arc;
use std::time::Duration;

use harness::SqliteHarness;
use ratchet_conformance::differential::{Op, generate, generate_graphs, run_both};
use ratchet_conformance::{Harness, async_trait};
use ratchet_core::VirtualClock;
use ratchet_memory::MemoryStore;
use ratchet_store::Store;

struct Memory {
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

/// The number of sequences per test. The default keeps the suite fast.
fn sequences() -> u64 {
    std::env::var("RATCHET_SEQUENCES").ok().and_then(|text| text.parse().ok()).unwrap_or(25)
}

async fn agree(first: u64, max_skipped: usize) {
    agree_on(generate, first, max_skipped).await;
}

async fn agree_on(generate: fn(u64, usize) -> Vec<Op>, first: u64, max_skipped: usize) {
    for seed in first..first + sequences() {
        let sqlite = SqliteHarness::with_max_skipped(max_skipped).await;
        let same = run_both(&Memory::fresh().await, &sqlite, &generate(seed, 100)).await;
        if let Err(divergence) = same {
            panic!("seed {seed}: {divergence}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree() {
    agree(0, 64).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree_on_other_operations() {
    agree(1_000_000, 64).await;
}

/// Every job that cannot run is set aside at once. The answers must not change.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree_when_jobs_are_set_aside() {
    agree(2_000_000, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree_when_jobs_are_set_aside_now_and_then() {
    agree(3_000_000, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree_on_graphs() {
    agree_on(generate_graphs, 0, 64).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree_on_graphs_when_jobs_are_set_aside() {
    agree_on(generate_graphs, 1_000_000, 0).await;
}
