//! Runs random operations on the store in memory and on SQLite. All answers must be the same.

// The budget of new seeds is real time.
#![allow(clippy::disallowed_methods)]

mod harness;

use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// Returns the number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// The number of fixed sequences per test. There are few, because a sequence that passed before seldom fails: new seeds
/// find more.
fn sequences() -> u64 {
    number("RATCHET_SEQUENCES").unwrap_or(8)
}

async fn agree(first: u64, max_skipped: usize) {
    agree_on(generate, first, max_skipped).await;
}

async fn agree_on(generate: fn(u64, usize) -> Vec<Op>, first: u64, max_skipped: usize) {
    for seed in first..first + sequences() {
        agree_on_seed(generate, seed, max_skipped).await;
    }
}

async fn agree_on_seed(generate: fn(u64, usize) -> Vec<Op>, seed: u64, max_skipped: usize) {
    let sqlite = SqliteHarness::with_max_skipped(max_skipped).await;
    let same = run_both(&Memory::fresh().await, &sqlite, &generate(seed, 100)).await;
    if let Err(divergence) = same {
        panic!("RATCHET_SEED={seed}, max_skipped {max_skipped}: {divergence}");
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

/// New seeds in every run, for `RATCHET_SECONDS` (30 by default), so that a slow machine tries fewer of them. A failure
/// names its seed, and `RATCHET_SEED` repeats it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_and_sqlite_agree_on_new_seeds() {
    let end = Instant::now() + Duration::from_secs(number("RATCHET_SECONDS").unwrap_or(30));
    let one = number("RATCHET_SEED");
    loop {
        let seed = one.unwrap_or_else(|| fastrand::u64(1 << 32..1 << 48));
        for max_skipped in [0, 2, 64] {
            agree_on_seed(generate, seed, max_skipped).await;
            agree_on_seed(generate_graphs, seed, max_skipped).await;
        }
        if one.is_some() || Instant::now() >= end {
            break;
        }
    }
}
