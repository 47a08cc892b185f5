//! One round of the comparison of two versions (`scripts/compare`): bulk submit, drain, drain of jobs with keys, and pick-up by
//! an idle worker, on PostgreSQL or on SQLite. Prints one line per number: what, value, unit.
//!
//! `round pg [jobs]` or `round sqlite [jobs]`. Only the public API is used, so that an older version can be built with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratchet::model::{ConcurrencyKey, Due, JobSpec, NewJob, OnTaken};
use ratchet::{Ratchet, SqliteStore, Store, job};
use ratchet_bench_pg::{Server, fill, ids, join, request, success};
use ratchet_pg::PgStore;
use tokio::sync::Notify;

static RAN: AtomicUsize = AtomicUsize::new(0);
static DONE: Notify = Notify::const_new();

#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
    RAN.fetch_add(1, Ordering::Relaxed);
    DONE.notify_one();
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let store = args.next().unwrap_or_default();
    let jobs = args.next().and_then(|jobs| jobs.parse().ok()).unwrap_or(40_000);
    match store.as_str() {
        "pg" => {
            let server = Server::start();
            let store = PgStore::connect(&server.url()).await.expect("opens");
            let ratchet = Ratchet::builder(store.clone()).concurrency(500);
            let ratchet = ratchet.build().await.expect("builds");
            round(&(Arc::new(store.clone()) as Arc<dyn Store>), &ratchet, jobs).await;
            store.close().await;
        }
        "sqlite" => {
            let folder = std::env::temp_dir().join(format!("ratchet-round-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder");
            let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
            let ratchet = Ratchet::builder(store.clone()).concurrency(500);
            let ratchet = ratchet.build().await.expect("builds");
            round(&(Arc::new(store.clone()) as Arc<dyn Store>), &ratchet, jobs).await;
            drop((ratchet, store));
            let _ = std::fs::remove_dir_all(folder);
        }
        other => panic!("`pg` or `sqlite`, not `{other}`"),
    }
}

async fn round(store: &Arc<dyn Store>, ratchet: &Ratchet, jobs: usize) {
    // Warm.
    fill(&**store, "bench.noop", 2000).await;
    drain(store).await;
    let rate = |jobs: usize, took: Duration| jobs as f64 / took.as_secs_f64();
    let started = Instant::now();
    fill(&**store, "bench.noop", jobs).await;
    println!("bulk_submit {:.1} jobs/s", rate(jobs, started.elapsed()));
    let started = Instant::now();
    drain(store).await;
    println!("drain {:.1} jobs/s", rate(jobs, started.elapsed()));
    fill(&**store, "bench.noop", jobs).await;
    RAN.store(0, Ordering::Relaxed);
    let started = Instant::now();
    let worker = ratchet.start().await.expect("starts");
    while worker.stats().settled < jobs as u64 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    println!("engine_drain {:.1} jobs/s", rate(jobs, started.elapsed()));
    // The worker is idle now.
    let mut waits = Vec::new();
    for id in 0..300 {
        tokio::time::sleep(Duration::from_millis(3)).await;
        let started = Instant::now();
        let done = DONE.notified();
        ratchet.enqueue(Noop { id }).await.expect("enqueues");
        done.await;
        waits.push(started.elapsed().as_secs_f64() * 1e6);
    }
    waits.sort_by(f64::total_cmp);
    println!("pick_up {:.1} us", waits[waits.len() / 2]);
    worker.stop().await;
    let keyed = jobs / 8;
    fill_keyed(&**store, keyed).await;
    let started = Instant::now();
    drain(store).await;
    println!("keyed_drain {:.1} jobs/s", rate(keyed, started.elapsed()));
}

/// Jobs with a business key each, and a concurrency key of fifty.
async fn fill_keyed(store: &dyn Store, count: usize) {
    let ids = ids();
    for start in (0..count).step_by(1000) {
        let batch = (start..count.min(start + 1000)).map(|n| {
            let mut spec = JobSpec::new("bench.noop", format!("{{\"id\":{n}}}").into_bytes());
            spec.business_key = Some(format!("order-{n}"));
            let key = format!("account-{}", n % 50);
            spec.concurrency = Some(ConcurrencyKey { key, limit: 10 });
            NewJob { id: ids.job(), spec, due: Due::Now, on_taken: OnTaken::Refuse }
        });
        store.insert(batch.collect()).await.expect("inserted");
    }
}

async fn drain(store: &Arc<dyn Store>) {
    let claimers = (0..2).map(|_| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let node = join(&*store).await;
            let mut settlements = Vec::new();
            loop {
                let request = request(node, "bench.noop", 500);
                let (_, reply) =
                    store.settle_and_claim(settlements, request).await.expect("goes on");
                if reply.jobs.is_empty() {
                    break;
                }
                settlements = reply.jobs.iter().map(success).collect();
            }
            store.leave(node).await.expect("leaves");
        })
    });
    for claimer in claimers.collect::<Vec<_>>() {
        claimer.await.expect("drains");
    }
}
