//! Runs 16 concurrent claimers. No job may be held by two of them.

use std::collections::HashSet;
use std::time::Instant;

use ratchet::Store;
use ratchet_bench_pg::{Server, fill, join, request, success};
use ratchet_pg::{PgOptions, PgStore};

const CLAIMERS: usize = 16;

#[tokio::main]
async fn main() {
    let jobs: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let server = Server::start();
    let options = PgOptions::new(&server.url()).expect("a URL").connections(24);
    let store = PgStore::open(options).await.expect("opens");
    fill(&store, "bench.noop", jobs).await;
    let started = Instant::now();
    let tasks: Vec<_> = (0..CLAIMERS).map(|_| tokio::spawn(claim(store.clone()))).collect();
    let mut seen = HashSet::new();
    let mut claims = 0;
    for task in tasks {
        for run in task.await.expect("claims") {
            claims += 1;
            assert!(seen.insert(run), "{run:?} was held twice");
        }
    }
    let counts = store.counts().await.expect("counts");
    println!(
        "{claims} claims by {CLAIMERS} claimers in {:?}; (job, run) unique: {}",
        started.elapsed(),
        seen.len()
    );
    println!("succeeded: {}", counts.state(ratchet::JobState::Succeeded));
    assert_eq!(claims, jobs);
    store.close().await;
}

async fn claim(store: PgStore) -> Vec<(ratchet::JobId, u64)> {
    let node = join(&store).await;
    let mut runs = Vec::new();
    let mut idle = 0;
    while idle < 3 {
        let reply = store.claim(request(node, "bench.noop", 100)).await.expect("claims");
        idle = if reply.jobs.is_empty() { idle + 1 } else { 0 };
        runs.extend(reply.jobs.iter().map(|run| (run.id(), run.run)));
        store.settle(reply.jobs.iter().map(success).collect()).await.expect("settles");
    }
    runs
}
