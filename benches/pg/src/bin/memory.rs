//! Measures the memory of a worker while it drains a million jobs, and with ten million more jobs waiting.
//!
//! `cargo run --release --bin memory -- 1000000 10000000`

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ratchet::{Job as _, Ratchet, job};
use ratchet_bench_pg::Server;
use ratchet_bench_pg::backlog::add_pending;
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
}

/// The limit, in MiB.
const MOST: f64 = 150.0;

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let first = args.next().unwrap_or_default();
    if first.starts_with("postgres:") {
        return work(&first, args.next().and_then(|n| n.parse().ok()).expect("a count")).await;
    }
    let jobs: u64 = first.parse().unwrap_or(1_000_000);
    let pending: i64 = args.next().and_then(|n| n.parse().ok()).unwrap_or(10_000_000);
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let drained = i64::try_from(jobs).expect("fits");
    let mut peaks = Vec::new();
    for waiting in [drained, drained + pending] {
        add_pending(&pool, waiting).await;
        sqlx::query("VACUUM ANALYZE").execute(&pool).await.expect("vacuums");
        let (took, samples) = drain(&server.url(), jobs);
        // Skip the first tenth, in which threads, connections and statements are created.
        let steady = &samples[samples.len() / 10..];
        let (half, rest) = steady.split_at(steady.len() / 2);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
        let peak = samples.iter().copied().fold(0.0, f64::max);
        println!(
            "{jobs} of {waiting} drained in {took:.1?}: resident at most {peak:.1} MiB, mean of the first half \
             {:.1}, of the second {:.1} MiB",
            mean(half),
            mean(rest)
        );
        assert!(peak < MOST, "more than {MOST} MiB");
        assert!(mean(rest) <= mean(half) * 1.05 + 1.0, "it grows");
        peaks.push(peak);
    }
    println!("{pending} more that wait: {:.2}x", peaks[1] / peaks[0]);
    assert!(peaks[1] <= peaks[0] * 1.1 + 1.0, "what waits costs memory");
    drop(pool);
    store.close().await;
}

/// Lets a worker process drain `jobs` jobs. Returns the duration and the memory samples.
fn drain(url: &str, jobs: u64) -> (Duration, Vec<f64>) {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.arg(url).arg(jobs.to_string()).stdout(Stdio::piped());
    let (started, mut worker) = (Instant::now(), command.spawn().expect("starts"));
    let output = BufReader::new(worker.stdout.take().expect("piped"));
    let samples = output.lines().map(|line| line.expect("a line").parse().expect("MiB")).collect();
    assert!(worker.wait().expect("ends").success());
    (started.elapsed(), samples)
}

/// Runs the worker. Prints its memory ten times per second until it has settled `jobs` jobs.
async fn work(url: &str, jobs: u64) {
    let store = PgStore::connect(url).await.expect("opens");
    let builder = Ratchet::builder(store).jobs([Noop::JOB]).concurrency(500);
    let worker = builder.build().await.expect("builds").start().await.expect("starts");
    while worker.stats().settled < jobs {
        println!("{:.1}", resident());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    worker.stop().await;
}

/// Returns the resident memory, in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("VmRSS");
    let kib = line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok());
    kib.expect("a number") / 1024.0
}
