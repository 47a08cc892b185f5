//! Runs random operations on this store and on the store in memory. All answers must be the same.

// The budget of new seeds is real time.
#![allow(clippy::disallowed_methods)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratchet_conformance::differential::{Op, generate, generate_graphs, run_both};
use ratchet_conformance::{Harness, async_trait};
use ratchet_core::VirtualClock;
use ratchet_memory::MemoryStore;
use ratchet_store::Store;
use support::PgHarness;
use tokio::runtime::Builder;

struct Memory(MemoryStore, VirtualClock);

#[async_trait]
impl Harness for Memory {
    async fn fresh() -> Self {
        let clock = VirtualClock::new();
        Self(MemoryStore::with_clock(Arc::new(clock.clone())), clock)
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.clone())
    }

    async fn advance(&self, by: Duration) {
        self.1.advance(by);
    }
}

/// Returns the number in an environment variable.
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// `RATCHET_SEED` selects one sequence, which is printed step by step.
fn one_seed() -> Option<u64> {
    number("RATCHET_SEED")
}

/// The seeds of fixed sequences, the same in every run. `RATCHET_SEQUENCES` sets the number over all parts. There are few,
/// because a sequence that passed before seldom fails: new seeds find more.
fn fixed(part: u64, parts: u64, usually: u64) -> Box<dyn Iterator<Item = u64>> {
    let each = number("RATCHET_SEQUENCES").unwrap_or(usually) / parts;
    let all = part * each..(part + 1) * each;
    Box::new(one_seed().map_or(all, |seed| seed..seed + 1))
}

/// New seeds in every run, for `RATCHET_SECONDS` (30 by default), so that a slow machine tries fewer of them. A failure
/// names its seed.
fn fresh() -> Box<dyn Iterator<Item = u64>> {
    let end = Instant::now() + Duration::from_secs(number("RATCHET_SECONDS").unwrap_or(30));
    let until = move |_: &u64| Instant::now() < end && one_seed().is_none();
    Box::new(std::iter::repeat_with(|| fastrand::u64(1 << 32..1 << 48)).take_while(until))
}

/// The number of operations of most sequences.
const SHORT: usize = 24;

/// Short sequences often test an almost empty store, long ones reach deeper states.
fn length(seed: u64) -> usize {
    if seed.is_multiple_of(100) { 400 } else { SHORT }
}

fn operations(seed: u64) -> Vec<Op> {
    generate(seed, length(seed))
}

/// Graphs need longer sequences to interact, so there are fewer of them.
fn graphs(seed: u64) -> Vec<Op> {
    generate_graphs(seed, length(seed) + 24)
}

fn agree(generate: fn(u64) -> Vec<Op>, seeds: impl Iterator<Item = u64>) {
    agree_on(PgHarness::fresh(), generate, seeds);
}

fn agree_on(
    pg: impl Future<Output = PgHarness>,
    generate: fn(u64) -> Vec<Op>,
    seeds: impl Iterator<Item = u64>,
) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let pg = pg.await;
        for seed in seeds {
            pg.database.empty().await;
            let ops = generate(seed);
            let same = run_both(&Memory::fresh().await, &pg, &ops).await;
            if let Err(divergence) = same {
                let steps = if one_seed().is_some() { ops.as_slice() } else { &[] };
                panic!("RATCHET_SEED={seed}: {divergence}\n{steps:#?}");
            }
        }
    });
}

#[test]
fn agrees_with_memory_part_0() {
    agree(operations, fixed(0, 2, 40));
}

#[test]
fn agrees_with_memory_part_1() {
    agree(operations, fixed(1, 2, 40));
}

#[test]
fn agrees_with_memory_on_new_seeds() {
    agree(operations, fresh());
}

#[test]
fn agrees_with_memory_on_graphs_0() {
    agree(graphs, fixed(0, 2, 16));
}

#[test]
fn agrees_with_memory_on_graphs_1() {
    agree(graphs, fixed(1, 2, 16));
}

#[test]
fn agrees_with_memory_on_graphs_with_new_seeds() {
    agree(graphs, fresh());
}

/// The first: a settlement that the fast path leaves for later must not change the order in which a breaker counts its
/// batch. The second: a command on an archived job is refused with the time of the archive, which is normalized. The third:
/// the oldest due job of a queue may wait for the rate of its key.
#[test]
fn agrees_with_memory_on_seeds_that_found_a_difference() {
    agree(graphs, [196_938_047_294_614, 281_048_556_316_464, 71_301_336_625_790].into_iter());
}

/// Like [`fixed`], for a store behind a pooler. There, no statement is prepared, and a step takes ten times as long. So only
/// `scripts/proof rounds`, which sets `RATCHET_SEQUENCES`, runs the long sequences.
fn short(usually: u64) -> impl Iterator<Item = u64> {
    let all = one_seed().is_some() || number("RATCHET_SEQUENCES").is_some();
    fixed(0, 1, usually).filter(move |seed| all || length(*seed) == SHORT)
}

/// Every operation behind a transaction pooler. `scripts/proof rounds` runs the conformance suites there too.
#[test]
fn s_09_agrees_with_memory_behind_a_pooler() {
    agree_on(PgHarness::pooled(), operations, short(12));
}

#[test]
fn s_09_agrees_with_memory_on_graphs_behind_a_pooler() {
    agree_on(PgHarness::pooled(), graphs, short(6));
}
