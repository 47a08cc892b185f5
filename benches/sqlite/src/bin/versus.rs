//! Compares Ratchet with `apalis-sqlite` in one interleaved run: single enqueue, bulk enqueue, drain, pick-up latency.
//!
//! `versus [rounds] [drain jobs of ours] [drain jobs of theirs] [concurrency]`, or Ratchet alone:
//! `versus drain [jobs] [concurrency]`, `versus bulk [jobs]`. Both sides sync every commit (`synchronous = FULL`).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use apalis::prelude::*;
use apalis_sqlite::SqliteStorage;
use ratchet::{JobState, Ratchet};
use ratchet_bench_sqlite::{DONE, Noop, argument, hit, median, nanos, quantile, reset, started};
use ratchet_core::Job as _;
use ratchet_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

const TASKS: usize = 8;
const BULK: u64 = 1000;

#[derive(Default)]
struct Samples {
    single: Vec<f64>,
    bulk: Vec<f64>,
    drain: Vec<f64>,
    pick_up: Vec<[f64; 3]>,
}

#[tokio::main]
async fn main() {
    if argument(1, String::new()) == "drain" {
        // Ratchet alone, for profiling.
        let rate = drain_ours_of(argument(2, 100_000), argument(3, 50)).await;
        println!("{rate:.0} jobs/s");
        return;
    }
    if argument(1, String::new()) == "bulk" {
        println!("{:.0} jobs/s", bulk_ours(argument(2, 300_000)).await);
        return;
    }
    let rounds: usize = argument(1, 3);
    let (drain_ours, drain_theirs): (u64, u64) = (argument(2, 100_000), argument(3, 5_000));
    let concurrency: u32 = argument(4, 50);
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for round in 1..=rounds {
        eprintln!("round {round}");
        ours.single.push(single_ours(20_000).await);
        theirs.single.push(single_theirs(8_000).await);
        ours.bulk.push(bulk_ours(100_000).await);
        theirs.bulk.push(bulk_theirs(50_000).await);
        ours.drain.push(drain_ours_of(drain_ours, concurrency).await);
        theirs.drain.push(drain_theirs_of(drain_theirs, concurrency as usize).await);
        ours.pick_up.push(pick_up_ours(300).await);
        theirs.pick_up.push(pick_up_theirs(150).await);
    }
    table(&mut ours, &mut theirs);
    std::process::exit(0);
}

fn table(ours: &mut Samples, theirs: &mut Samples) {
    println!("| | ratchet-sqlite | apalis-sqlite | ratio | bar | |");
    println!("|---|---|---|---|---|---|");
    let mut row = |what: &str, ours: &mut [f64], theirs: &mut [f64], bar: f64| {
        let (a, b) = (median(ours), median(theirs));
        let verdict = if a / b >= bar { "ok" } else { "MISSED" };
        println!("| {what} /s | {a:.0} | {b:.0} | {:.1}× | ≥ {bar}× | {verdict} |", a / b);
    };
    row("single enqueue, 8 tasks, FULL", &mut ours.single, &mut theirs.single, 2.0);
    row("bulk enqueue, 1000 each", &mut ours.bulk, &mut theirs.bulk, 4.0);
    row("drain of no-op jobs", &mut ours.drain, &mut theirs.drain, 40.0);
    let at = |samples: &[[f64; 3]], place: usize| {
        median(&mut samples.iter().map(|sample| sample[place]).collect::<Vec<_>>())
    };
    let of = |samples: &[[f64; 3]]| {
        format!("{:.2} / {:.2} / {:.2}", at(samples, 0), at(samples, 1), at(samples, 2))
    };
    let verdict = if at(&ours.pick_up, 1) <= 3.0 { "ok" } else { "MISSED" };
    println!(
        "| pick-up after commit, p50 / p95 / p99 ms | {} | {} | | p95 ≤ 3 | {verdict} |",
        of(&ours.pick_up),
        of(&theirs.pick_up)
    );
}

fn job(id: u64) -> Noop {
    Noop { id, kind: "x".to_owned() }
}

async fn ratchet(folder: &Path, concurrency: u32) -> Ratchet {
    let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
    let builder = Ratchet::builder(store).jobs([Noop::JOB]).concurrency(concurrency);
    builder.build().await.expect("builds")
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Theirs {
    id: u64,
    kind: String,
}

fn their_job(id: u64) -> Theirs {
    Theirs { id, kind: "x".to_owned() }
}

async fn handle(job: Theirs) -> Result<(), BoxDynError> {
    hit(job.id);
    Ok(())
}

async fn their_pool(folder: &Path) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("jobs.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(30));
    let pool =
        SqlitePoolOptions::new().max_connections(4).connect_with(options).await.expect("connects");
    SqliteStorage::setup(&pool).await.expect("their tables");
    pool
}

fn their_storage(pool: &SqlitePool) -> SqliteStorage<Theirs> {
    let config = apalis_sqlite::Config::default().queue("bench").batch_size(100).lock_tasks(false);
    SqliteStorage::new(pool).with_config(config)
}

/// Returns the jobs per second of `TASKS` tasks that enqueue one by one.
async fn single<F, G>(jobs: usize, enqueue: F) -> f64
where
    F: Fn(u64) -> G + Clone + Send + 'static,
    G: Future<Output = ()> + Send,
{
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let tasks: Vec<_> = (0..TASKS)
        .map(|_| {
            let (next, enqueue) = (Arc::clone(&next), enqueue.clone());
            tokio::spawn(async move {
                loop {
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    if id >= jobs {
                        break;
                    }
                    enqueue(id as u64).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("enqueues");
    }
    jobs as f64 / began.elapsed().as_secs_f64()
}

async fn single_ours(jobs: usize) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let ratchet = ratchet(folder.path(), 50).await;
    single(jobs, move |id| {
        let ratchet = ratchet.clone();
        async move {
            ratchet.enqueue(job(id)).await.expect("enqueues");
        }
    })
    .await
}

async fn single_theirs(jobs: usize) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let storage = their_storage(&their_pool(folder.path()).await);
    single(jobs, move |id| {
        let mut storage = storage.clone();
        async move {
            storage.push(their_job(id)).await.expect("pushes");
        }
    })
    .await
}

async fn fill_ours(ratchet: &Ratchet, jobs: u64) -> f64 {
    let began = Instant::now();
    for first in (0..jobs).step_by(BULK as usize) {
        let ids = first..(first + BULK).min(jobs);
        ratchet.enqueue_many(ids.map(job)).await.expect("enqueues");
    }
    jobs as f64 / began.elapsed().as_secs_f64()
}

async fn fill_theirs(pool: &SqlitePool, jobs: u64) -> f64 {
    let mut storage = their_storage(pool);
    let began = Instant::now();
    for first in (0..jobs).step_by(BULK as usize) {
        let ids = first..(first + BULK).min(jobs);
        storage.push_bulk(ids.map(their_job).collect()).await.expect("pushes");
    }
    jobs as f64 / began.elapsed().as_secs_f64()
}

async fn bulk_ours(jobs: u64) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    fill_ours(&ratchet(folder.path(), 50).await, jobs).await
}

async fn bulk_theirs(jobs: u64) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    fill_theirs(&their_pool(folder.path()).await, jobs).await
}

/// Returns the jobs per second until the store has no jobs left.
async fn drain_ours_of(jobs: u64, concurrency: u32) -> f64 {
    reset();
    let folder = tempfile::tempdir().expect("a folder");
    let ratchet = ratchet(folder.path(), concurrency).await;
    fill_ours(&ratchet, jobs).await;
    let began = Instant::now();
    let worker = ratchet.start().await.expect("starts");
    while ratchet.store().counts().await.expect("counts").state(JobState::Succeeded) < jobs {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rate = jobs as f64 / began.elapsed().as_secs_f64();
    assert_eq!(DONE.load(Ordering::SeqCst) as u64, jobs, "every handler ran once");
    worker.stop().await;
    rate
}

async fn drain_theirs_of(jobs: u64, concurrency: usize) -> f64 {
    reset();
    let folder = tempfile::tempdir().expect("a folder");
    let pool = their_pool(folder.path()).await;
    fill_theirs(&pool, jobs).await;
    let began = Instant::now();
    let backend = their_storage(&pool).poll_with_interval(Duration::from_millis(20));
    let worker = WorkerBuilder::new("w")
        .backend(backend)
        .concurrency(concurrency)
        .parallelize(tokio::spawn)
        .build(handle);
    let drained = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if (DONE.load(Ordering::SeqCst) as u64) < jobs {
                continue;
            }
            let left: i64 = sqlx::query_scalar(
                "select exists(select 1 from Jobs where status in ('Pending','Queued','Running'))",
            )
            .fetch_one(&pool)
            .await
            .expect("counts");
            if left == 0 {
                break began.elapsed().as_secs_f64();
            }
        }
    };
    let took =
        tokio::select! { _ = worker.run() => panic!("their worker ended"), took = drained => took };
    jobs as f64 / took
}

/// Measures the time from the end of the enqueue to the start of the handler, in milliseconds.
async fn pick_up(jobs: u64, enqueue: impl AsyncFn(u64)) -> [f64; 3] {
    let mut committed = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    for id in 0..jobs {
        ticks.tick().await;
        enqueue(id).await;
        committed.push(nanos());
    }
    while (DONE.load(Ordering::SeqCst) as u64) < jobs {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let waits =
        committed.iter().enumerate().map(|(id, at)| (started(id) as f64 - *at as f64) / 1e6);
    let mut waits: Vec<_> = waits.collect();
    [0.5, 0.95, 0.99].map(|q| quantile(&mut waits, q))
}

async fn pick_up_ours(jobs: u64) -> [f64; 3] {
    reset();
    let folder = tempfile::tempdir().expect("a folder");
    let ratchet = ratchet(folder.path(), 50).await;
    let worker = ratchet.start().await.expect("starts");
    let waits = pick_up(jobs, async |id| {
        ratchet.enqueue(job(id)).await.expect("enqueues");
    })
    .await;
    worker.stop().await;
    waits
}

async fn pick_up_theirs(jobs: u64) -> [f64; 3] {
    reset();
    let folder = tempfile::tempdir().expect("a folder");
    let pool = their_pool(folder.path()).await;
    let backend = their_storage(&pool).poll_with_interval(Duration::from_millis(20));
    let worker = WorkerBuilder::new("w")
        .backend(backend)
        .concurrency(50)
        .parallelize(tokio::spawn)
        .build(handle);
    let storage = their_storage(&pool);
    let waits = pick_up(jobs, async |id| {
        storage.clone().push(their_job(id)).await.expect("pushes");
    });
    tokio::select! { _ = worker.run() => panic!("their worker ended"), waits = waits => waits }
}
