//! The adapter for Ratchet itself.

#[path = "../../adapters/common.rs"]
mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{
    Args, EXIT, args, enqueue_conc, epoch, hit, init, kind, latency_loop, paced, report_drain,
    report_latency, report_rate, sustained, wait_drained,
};
use ratchet::{Backoff, Ratchet, job};

/// One in this many jobs fails on its first attempt.
static FAILING: std::sync::OnceLock<usize> = std::sync::OnceLock::new();

#[job(name = "x")]
async fn work(id: usize, kind: String) -> Result<(), std::io::Error> {
    drop(kind);
    static FAILED: std::sync::OnceLock<Vec<AtomicBool>> = std::sync::OnceLock::new();
    let one_in = FAILING.get().copied().unwrap_or(usize::MAX);
    if one_in < usize::MAX && id % one_in == 0 {
        let failed =
            FAILED.get_or_init(|| (0..1_000_000).map(|_| AtomicBool::new(false)).collect());
        if !failed[id].swap(true, Ordering::Relaxed) {
            return Err(std::io::Error::other("for the first time"));
        }
    }
    hit(id);
    Ok(())
}

fn one(id: usize) -> Work {
    Work { id, kind: kind() }
}

async fn open(a: &Args) -> Ratchet {
    let concurrency = u32::try_from(a.conc).expect("fits");
    let builder = match std::env::var("STORE").as_deref() {
        Ok("sqlite") => Ratchet::builder(ratchet::SqliteStore::open(&a.url).await.expect("opens")),
        _ => Ratchet::builder(ratchet::PgStore::connect(&a.url).await.expect("opens")),
    };
    builder.concurrency(concurrency).build().await.expect("builds")
}

#[tokio::main]
async fn main() {
    let a = args();
    init(a.total.max(1));
    if let Some(one_in) = std::env::var("FAILING").ok().and_then(|n| n.parse().ok()) {
        let _ = FAILING.set(one_in);
    }
    let start = epoch();
    let ratchet = open(&a).await;
    match a.cmd.as_str() {
        "setup" => {}
        "enqueue" => {
            enqueue_conc(a.n, 8, move |id| {
                let ratchet = ratchet.clone();
                async move { drop(ratchet.enqueue(one(id)).await.expect("enqueued")) }
            })
            .await;
        }
        "bulk" => {
            let started = Instant::now();
            for first in (0..a.n).step_by(5000) {
                let ids = first..a.n.min(first + 5000);
                let retry = FAILING.get().is_some();
                // A drain must not wait for backoffs.
                let jobs = ratchet
                    .enqueue_many(ids.map(one))
                    .each(|_, job| if retry { job.backoff(Backoff::none()) } else { job });
                jobs.await.expect("enqueued");
            }
            report_rate("bulk", a.n, started.elapsed().as_secs_f64());
        }
        "work" => {
            let worker = ratchet.start().await.expect("starts");
            let end = wait_drained(|| async {
                let counts = ratchet.store().counts().await.expect("counts");
                counts.state(ratchet::JobState::Pending) + counts.state(ratchet::JobState::Running)
                    > 0
            })
            .await;
            drop(worker);
            report_drain(&a, start, end);
            EXIT();
        }
        "latency" => {
            let _worker = ratchet.start().await.expect("starts");
            tokio::time::sleep(Duration::from_secs(1)).await;
            let ratchet = &ratchet;
            let latencies = latency_loop(a.n, |id| async move {
                ratchet.enqueue(one(id)).await.expect("enqueued");
            });
            report_latency("latency", &latencies.await);
            EXIT();
        }
        "sustained" | "paced" => {
            let _worker = ratchet.start().await.expect("starts");
            tokio::time::sleep(Duration::from_secs(1)).await;
            let ratchet = &ratchet;
            let bulk = |ids: std::ops::Range<usize>| async move {
                ratchet.enqueue_many(ids.map(one)).await.expect("enqueued");
            };
            if a.cmd == "paced" {
                paced(&a, bulk).await
            } else {
                sustained(&a, bulk).await
            }
            EXIT();
        }
        other => panic!("no phase {other}"),
    }
}
