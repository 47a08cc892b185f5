//! One side of the comparison of two versions (`scripts/compare`): bulk submit, drain, drain of jobs with keys, and
//! pick-up by an idle worker, on PostgreSQL or SQLite.
//!
//! It runs in short turns, so that two versions can alternate: it reads `WHAT COUNT` from its input and prints the wall
//! and CPU time in microseconds per job. It uses only the public API, so that older versions can be built with it.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratchet::model::{ConcurrencyKey, Due, JobSpec, NewJob, OnConflict};
use ratchet::{Ratchet, SqliteStore, Store, job};
use ratchet_bench_pg::cpu::{Cpu, cpu};
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
    let store = std::env::args().nth(1).unwrap_or_default();
    match store.as_str() {
        "pg" => {
            let server = Server::start();
            let store = PgStore::connect(&server.url()).await.expect("opens");
            let ratchet = Ratchet::builder(store.clone()).concurrency(500);
            let ratchet = ratchet.build().await.expect("builds");
            let data = Some(server.data());
            Side { store: Arc::new(store), ratchet, data }.obey().await;
        }
        "sqlite" => {
            let folder = std::env::temp_dir().join(format!("ratchet-round-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder");
            let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
            let ratchet = Ratchet::builder(store.clone()).concurrency(500);
            let ratchet = ratchet.build().await.expect("builds");
            Side { store: Arc::new(store), ratchet, data: None }.obey().await;
            let _ = std::fs::remove_dir_all(folder);
        }
        other => panic!("`pg` or `sqlite`, not `{other}`"),
    }
}

struct Side {
    store: Arc<dyn Store>,
    ratchet: Ratchet,
    /// The data folder of the server; `None` for SQLite.
    data: Option<PathBuf>,
}

impl Side {
    async fn obey(self) {
        for line in std::io::stdin().lines() {
            let line = line.expect("readable");
            let (what, count) = line.split_once(' ').expect("what and how many");
            let count: usize = count.parse().expect("a number");
            let (clock, spent) = self.turn(what, count).await;
            println!("{clock:.3} {spent:.3}");
        }
    }

    /// Runs one turn. Returns the wall and CPU time in microseconds per job.
    async fn turn(&self, what: &str, count: usize) -> (f64, f64) {
        match what {
            "bulk_submit" => self.lap(count, fill(&*self.store, "bench.noop", count)).await,
            "drain" => self.lap(count, drain(&self.store, count)).await,
            "keyed_submit" => self.lap(count, fill_keyed(&*self.store, count)).await,
            "engine_drain" => {
                fill(&*self.store, "bench.noop", count).await;
                RAN.store(0, Ordering::Relaxed);
                self.lap(count, async {
                    let worker = self.ratchet.start().await.expect("starts");
                    while worker.stats().settled < count as u64 {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                    worker.stop().await;
                })
                .await
            }
            "pick_up" => self.pick_up(count).await,
            other => panic!("`{other}` is not known"),
        }
    }

    /// Returns the median time from a submit to an idle worker until the handler has run.
    async fn pick_up(&self, count: usize) -> (f64, f64) {
        let worker = self.ratchet.start().await.expect("starts");
        let mut waits = Vec::new();
        let before = self.data.as_deref().map(cpu);
        for id in 0..count {
            tokio::time::sleep(Duration::from_millis(3)).await;
            let started = Instant::now();
            let done = DONE.notified();
            self.ratchet.enqueue(Noop { id: id as i64 }).await.expect("enqueues");
            done.await;
            waits.push(started.elapsed().as_secs_f64() * 1e6);
        }
        let spent = self.spent(before, count);
        worker.stop().await;
        waits.sort_by(f64::total_cmp);
        (waits[waits.len() / 2], spent)
    }

    async fn lap(&self, jobs: usize, work: impl Future<Output = ()>) -> (f64, f64) {
        let (before, started) = (self.data.as_deref().map(cpu), Instant::now());
        work.await;
        let clock = started.elapsed().as_secs_f64() * 1e6 / jobs as f64;
        (clock, self.spent(before, jobs))
    }

    fn spent(&self, before: Option<Cpu>, jobs: usize) -> f64 {
        let spent = self.data.as_deref().zip(before).map(|(data, before)| cpu(data).since(before));
        spent.map_or(0.0, |spent| (spent.client + spent.server) * 1e6 / jobs as f64)
    }
}

/// Inserts jobs with a business key each and one of 50 concurrency keys.
async fn fill_keyed(store: &dyn Store, count: usize) {
    let ids = ids();
    for start in (0..count).step_by(1000) {
        let batch = (start..count.min(start + 1000)).map(|n| {
            let mut spec = JobSpec::new("bench.noop", format!("{{\"id\":{n}}}").into_bytes());
            spec.business_key = Some(format!("order-{n}"));
            let key = format!("account-{}", n % 50);
            spec.concurrency = Some(ConcurrencyKey { key, limit: 10 });
            NewJob::new(ids.job(), spec)
        });
        store.insert(batch.collect()).await.expect("inserted");
    }
}

/// Runs two claimers that settle and claim until `jobs` jobs are done.
async fn drain(store: &Arc<dyn Store>, jobs: usize) {
    let done = Arc::new(AtomicUsize::new(0));
    let claimers = (0..2).map(|_| {
        let (store, done) = (Arc::clone(store), Arc::clone(&done));
        tokio::spawn(async move {
            let node = join(&*store).await;
            let mut settlements = Vec::new();
            loop {
                let settled = settlements.len();
                let request = request(node, "bench.noop", 250);
                let (_, reply) =
                    store.settle_and_claim(settlements, request).await.expect("goes on");
                let done = done.fetch_add(settled, Ordering::Relaxed) + settled;
                if reply.jobs.is_empty() {
                    if done >= jobs {
                        break;
                    }
                    // The other claimer holds the keys or the last jobs.
                    tokio::time::sleep(Duration::from_micros(200)).await;
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
