//! Measures a queue whose first 100,000 jobs wait for a full concurrency key. Other jobs must run nearly as fast as
//! without them.
//!
//! `blocked [pg|sqlite] [rounds]`. Also measures jobs behind an open breaker and jobs with an unknown name.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ratchet::model::{Due, JobSpec, NewJob, OnConflict};
use ratchet::{Job as _, Ratchet, job};
use ratchet_bench_guards::{Scratch, open};
use ratchet_bench_pg::ids;

const BLOCKED: usize = 100_000;
const FREE: usize = 30_000;

static DONE: AtomicU64 = AtomicU64::new(0);

#[job(name = "bench.free")]
async fn free(id: i64) {
    let _ = id;
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// Holds the key until the program ends.
#[job(name = "bench.holder", concurrency_key = "full", concurrency_limit = 1)]
async fn holder() {
    std::future::pending::<()>().await;
}

/// Never runs in this program.
#[job(name = "bench.waiter", concurrency_key = "full", concurrency_limit = 1)]
async fn waiter() {}

#[job(name = "bench.broken")]
#[circuit_breaker(service = "broken")]
async fn broken() {}

#[tokio::main]
async fn main() {
    let rounds: usize = std::env::args().nth(2).and_then(|rounds| rounds.parse().ok()).unwrap_or(3);
    let causes = ["nothing", "a full key", "an open breaker", "an unknown name"];
    let mut rates = vec![Vec::new(); causes.len()];
    for round in 1..=rounds {
        for (at, cause) in causes.iter().enumerate() {
            let rate = measure(cause).await;
            println!("round {round}: behind {cause}: {rate:.0} jobs/s");
            rates[at].push(rate);
        }
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let base = median(&mut rates[0]);
    let mut held = true;
    for (at, cause) in causes.iter().enumerate().skip(1) {
        let ratio = median(&mut rates[at]) / base;
        held &= ratio >= 0.8;
        println!("behind {BLOCKED} jobs of {cause}: {ratio:.2}× of {base:.0} jobs/s (bar 0.8×)");
    }
    assert!(held);
}

async fn measure(cause: &str) -> f64 {
    let scratch = Scratch::new();
    let store = open(&scratch.address()).await;
    let jobs = [Free::JOB, Holder::JOB, Waiter::JOB, Broken::JOB];
    let ratchet = Ratchet::builder_shared(store.clone()).jobs(jobs).concurrency(500).build().await;
    let ratchet = ratchet.expect("builds");
    let blocked = match cause {
        "a full key" => Some("bench.waiter"),
        "an open breaker" => Some("bench.broken"),
        "an unknown name" => Some("bench.unknown"),
        _ => None,
    };
    let worker = ratchet.start().await.expect("starts");
    let holder = ratchet.enqueue(Holder {}).await.expect("enqueues");
    while ratchet.jobs().get(holder.id()).await.expect("reads").is_none_or(|job| job.started_at.is_none()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    ratchet.breakers().open("broken", None).await.expect("opens");
    ratchet.queues().pause("default").await.expect("pauses");
    let ids = ids();
    for start in (0..BLOCKED).step_by(5000).filter(|_| blocked.is_some()) {
        let batch = (start..start + 5000).map(|_| {
            let mut spec = JobSpec::new(blocked.unwrap_or_default(), b"{}".to_vec());
            if cause == "a full key" {
                spec.concurrency =
                    Some(ratchet::model::ConcurrencyKey { key: "full".to_owned(), limit: 1 });
            }
            if cause == "an open breaker" {
                spec.service = Some("broken".to_owned());
            }
            NewJob::new(ids.job(), spec)
        });
        store.insert(batch.collect()).await.expect("inserts");
    }
    for start in (0..FREE).step_by(5000) {
        let jobs = (start..start + 5000).map(|id| Free { id: id as i64 });
        ratchet.enqueue_many(jobs).await.expect("enqueues");
    }
    DONE.store(0, Ordering::Relaxed);
    let started = Instant::now();
    ratchet.queues().resume("default").await.expect("resumes");
    while DONE.load(Ordering::Relaxed) < FREE as u64 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(started.elapsed() < Duration::from_secs(180), "too slow: {}", DONE.load(Ordering::Relaxed));
    }
    let rate = FREE as f64 / started.elapsed().as_secs_f64();
    worker.stop_now().await;
    rate
}
