//! The wait of a tenant beside the backlog of another one: `fair pg|sqlite [seconds] [handlers] [milliseconds]`.
//!
//! A worker runs 16 jobs at once, each of which takes 20 ms, unless other numbers are given. One tenant submits a job per second, first to an empty queue,
//! then beside 100,000 waiting jobs of another tenant, in a fair queue and in a plain one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use ratchet::model::{JobSpec, NewJob};
use ratchet::{Ratchet, SqliteStore, Store, Worker, job};
use ratchet_bench_pg::{Server, ids};
use ratchet_pg::PgStore;

const BACKLOG: usize = 100_000;

/// How long the jobs of the small tenant have waited for their start.
static WAITS: Mutex<Vec<Duration>> = Mutex::new(Vec::new());

/// How long a job takes, in milliseconds.
static TAKES: AtomicU64 = AtomicU64::new(20);

#[job(name = "bench.fair")]
async fn deliver(submitted: Option<u64>) {
    if let Some(submitted) = submitted {
        let waited = micros().saturating_sub(submitted);
        WAITS.lock().expect("no panic").push(Duration::from_micros(waited));
    }
    tokio::time::sleep(Duration::from_millis(TAKES.load(Ordering::Relaxed))).await;
}

fn micros() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    u64::try_from(now.as_micros()).expect("in range")
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let store = args.next().unwrap_or_default();
    let mut number =
        |default| args.next().map_or(default, |text| text.parse::<u64>().expect("a number"));
    let (seconds, handlers) = (number(60), number(16));
    TAKES.store(number(20), Ordering::Relaxed);
    let handlers = u32::try_from(handlers).expect("a number of handlers");
    println!(
        "| queue | jobs of the other tenant | submits | p50 | p95 | most | started meanwhile |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    match store.as_str() {
        "pg" => {
            let server = Server::start();
            let store = PgStore::connect(&server.url()).await.expect("opens");
            measure(store, seconds, handlers).await;
        }
        "sqlite" => {
            let folder = std::env::temp_dir().join(format!("ratchet-fair-{}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a folder");
            let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
            measure(store, seconds, handlers).await;
            let _ = std::fs::remove_dir_all(folder);
        }
        other => panic!("`pg` or `sqlite`, not `{other}`"),
    }
}

async fn measure<S: Store + Clone + 'static>(store: S, seconds: u64, handlers: u32) {
    let ratchet =
        Ratchet::builder(store.clone()).concurrency(handlers).queue("fair", |queue| queue.fair());
    let ratchet = ratchet.queue("plain", |queue| queue).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    row(&ratchet, &worker, "fair", 0, seconds).await;
    row(&ratchet, &worker, "plain", 0, seconds).await;
    worker.stop().await;
    for queue in ["fair", "plain"] {
        fill(&store, queue).await;
        let only = Ratchet::builder(store.clone()).concurrency(handlers).only_queues([queue]);
        let only = only.queue("fair", |queue| queue.fair()).build().await.expect("builds");
        let worker = only.start().await.expect("starts");
        row(&only, &worker, queue, BACKLOG, seconds).await;
        worker.stop().await;
    }
}

/// Submits one job per second and prints how long they waited.
async fn row(ratchet: &Ratchet, worker: &Worker, queue: &str, backlog: usize, seconds: u64) {
    WAITS.lock().expect("no panic").clear();
    let before = worker.stats().settled;
    let started = Instant::now();
    for second in 1..=seconds {
        let job =
            ratchet.enqueue(Deliver { submitted: Some(micros()) }).tenant("small").queue(queue);
        job.await.expect("enqueues");
        let next = Duration::from_secs(second).saturating_sub(started.elapsed());
        tokio::time::sleep(next).await;
    }
    let mut waits = std::mem::take(&mut *WAITS.lock().expect("no panic"));
    waits.sort_unstable();
    let at = |part: f64| match waits.get(((waits.len() as f64 - 1.0) * part) as usize) {
        Some(wait) if waits.len() as u64 + 1 >= seconds => {
            format!("{:.2} ms", wait.as_secs_f64() * 1e3)
        }
        _ => format!("more than {seconds} s"),
    };
    let settled = worker.stats().settled - before;
    println!(
        "| {queue} | {backlog} | {seconds} | {} | {} | {} | {settled} |",
        at(0.5),
        at(0.95),
        at(1.0)
    );
}

/// Inserts the jobs of the large tenant.
async fn fill(store: &impl Store, queue: &str) {
    let ids = ids();
    for _ in 0..BACKLOG / 1000 {
        let batch = (0..1000).map(|_| {
            let mut spec = JobSpec::new("bench.fair", b"{\"submitted\":null}".to_vec());
            (spec.queue, spec.tenant) = (queue.to_owned(), Some("large".to_owned()));
            NewJob::new(ids.job(), spec)
        });
        store.insert(batch.collect()).await.expect("inserted");
    }
}
