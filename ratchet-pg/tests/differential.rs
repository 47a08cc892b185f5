//! Runs random operations on this store and on the store in memory. All answers must be the same.

mod support;

use std::sync::Arc;
use std::time::Duration;

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

/// The total number of sequences, unless `RATCHET_SEQUENCES` sets another one. Each test runs a part of them.
fn sequences(usually: u64) -> u64 {
    let asked = std::env::var("RATCHET_SEQUENCES").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(usually)
}

/// `RATCHET_SEED` selects one sequence, which is printed step by step.
fn one_seed() -> Option<u64> {
    std::env::var("RATCHET_SEED").ok().and_then(|text| text.parse().ok())
}

const PARTS: u64 = 8;

/// Short sequences often test an almost empty store, long ones reach deeper states.
fn length(seed: u64) -> usize {
    if seed.is_multiple_of(100) { 400 } else { 24 }
}

fn part(number: u64) {
    part_of(generate, number, sequences(2000) / PARTS);
}

/// Graphs need longer sequences to interact, so there are fewer of them.
fn graphs(number: u64) {
    let longer = |seed, count| generate_graphs(seed, count + 24);
    part_of(longer, number, sequences(500) / GRAPH_PARTS);
}

const GRAPH_PARTS: u64 = 4;

fn part_of(generate: fn(u64, usize) -> Vec<Op>, number: u64, per_part: u64) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let pg = PgHarness::fresh().await;
        let all = number * per_part..(number + 1) * per_part;
        for seed in one_seed().map_or(all, |seed| seed..seed + 1) {
            pg.database.empty().await;
            let ops = generate(seed, length(seed));
            let same = run_both(&Memory::fresh().await, &pg, &ops).await;
            if let Err(divergence) = same {
                let steps = if one_seed().is_some() { ops.as_slice() } else { &[] };
                panic!("seed {seed}: {divergence}\n{steps:#?}");
            }
        }
    });
}

#[test]
fn agrees_with_memory_part_0() {
    part(0);
}

#[test]
fn agrees_with_memory_part_1() {
    part(1);
}

#[test]
fn agrees_with_memory_part_2() {
    part(2);
}

#[test]
fn agrees_with_memory_part_3() {
    part(3);
}

#[test]
fn agrees_with_memory_part_4() {
    part(4);
}

#[test]
fn agrees_with_memory_part_5() {
    part(5);
}

#[test]
fn agrees_with_memory_part_6() {
    part(6);
}

#[test]
fn agrees_with_memory_part_7() {
    part(7);
}

#[test]
fn agrees_with_memory_on_graphs_0() {
    graphs(0);
}

#[test]
fn agrees_with_memory_on_graphs_1() {
    graphs(1);
}

#[test]
fn agrees_with_memory_on_graphs_2() {
    graphs(2);
}

#[test]
fn agrees_with_memory_on_graphs_3() {
    graphs(3);
}
