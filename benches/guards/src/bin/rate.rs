//! A rate of 200 claims per second over three processes, for 20 seconds. It must never be exceeded in any second, and
//! must nearly be reached.
//!
//! `rate [pg|sqlite]`.

use std::process::Child;
use std::time::{Duration, Instant};

use ratchet::{Ratchet, job};
use ratchet_bench_guards::{Scratch, end, every_run, everything, open, worker_arguments};

const LIMIT: usize = 200;
const SECONDS: u64 = 20;

#[job(name = "bench.tick")]
async fn tick(id: i64) {
    tokio::time::sleep(Duration::from_millis(5 + id.unsigned_abs() % 10)).await;
}

#[tokio::main]
async fn main() {
    if let Some((address, _)) = worker_arguments() {
        return work(&address).await;
    }
    let scratch = Scratch::new();
    let ratchet = Ratchet::builder_shared(open(&scratch.address()).await).build().await.expect("builds");
    let jobs = (0..10_000).map(|id| Tick { id });
    ratchet.enqueue_many(jobs).await.expect("enqueues");
    let mut workers: Vec<Child> = (0..3).map(|_| scratch.worker(&[])).collect();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(SECONDS + 3) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    end(&mut workers);
    let jobs = everything(&ratchet).await;
    let runs = every_run(&ratchet, &jobs).await;
    // Jobs that were running when the processes were killed have no history line yet.
    let unfinished = jobs.iter().filter(|job| job.state == ratchet::JobState::Running);
    let mut claims: Vec<i64> = runs.iter().map(|line| line.started_at.as_microsecond()).collect();
    claims.extend(unfinished.filter_map(|job| job.started_at).map(|at| at.as_microsecond()));
    claims.sort_unstable();
    // Include both ends of the second: the strictest interpretation of "any second".
    let most = claims.iter().enumerate().map(|(at, first)| {
        claims[at..].partition_point(|claim| *claim <= first + 1_000_000)
    });
    let most = most.max().unwrap_or(0);
    let first = claims.first().copied().unwrap_or_default();
    let window = SECONDS as i64 * 1_000_000;
    let in_window = claims.partition_point(|claim| *claim < first + window);
    let share = in_window as f64 / (LIMIT as f64 * SECONDS as f64);
    println!("{} claims; most in any second {most} (limit {LIMIT}); {in_window} in the first {SECONDS} s: {:.1} % of the limit",
        claims.len(), share * 100.0);
    assert!(most <= LIMIT && share >= 0.95);
}

async fn work(address: &str) {
    let builder = Ratchet::builder_shared(open(address).await)
        .concurrency(50)
        .queue("default", |queue| queue.rate(LIMIT as u32, Duration::from_secs(1)));
    let worker = builder.build().await.expect("builds").start().await.expect("starts");
    worker.stopped().await;
}
