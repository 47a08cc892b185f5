//! Measures what an idle worker costs, on PostgreSQL and SQLite: commits per second, processor time, connections and
//! memory. The argument is the duration in seconds.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ratchet::{Ratchet, SqliteStore, job};
use ratchet_bench_pg::cpu::cpu;
use ratchet_bench_pg::{Server, spent};
use ratchet_pg::PgStore;
use sqlx::PgPool;

/// How long the worker runs before the measurement: the claims of an idle worker become less frequent.
const SETTLING: Duration = Duration::from_secs(20);

#[job]
async fn never_submitted() {}

#[tokio::main]
async fn main() {
    let seconds = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(60);
    let time = Duration::from_secs(seconds);
    println!(
        "| store | commits per second | worker, processor time | server, processor time | connections | memory of the worker |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    sqlite(time).await;
    postgres(time).await;
}

async fn postgres(time: Duration) {
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let ratchet = Ratchet::builder(store).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    tokio::time::sleep(SETTLING).await;
    let (commits, used, started) = (spent(&pool).await.1, cpu(&server.data()), Instant::now());
    tokio::time::sleep(time).await;
    let seconds = started.elapsed().as_secs_f64();
    let used = cpu(&server.data()).since(used);
    let commits = (spent(&pool).await.1 - commits) as f64 / seconds;
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
    let connections: i64 = sqlx::query_scalar(sql).fetch_one(&pool).await.expect("counts");
    // One connection is of this program.
    println!(
        "| PostgreSQL | {commits:.1} | {:.2} % of a core | {:.2} % of a core | {} | {} MiB |",
        used.client / seconds * 100.0,
        used.server / seconds * 100.0,
        connections - 1,
        memory()
    );
    worker.stop().await;
}

async fn sqlite(time: Duration) {
    let folder = std::env::temp_dir().join(format!("ratchet-idle-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let store = SqliteStore::open(folder.join("jobs.db")).await.expect("opens");
    let ratchet = Ratchet::builder(store).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    tokio::time::sleep(SETTLING).await;
    let (used, started) = (cpu(Path::new("/nonexistent")), Instant::now());
    tokio::time::sleep(time).await;
    let seconds = started.elapsed().as_secs_f64();
    let used = cpu(Path::new("/nonexistent")).since(used);
    println!(
        "| SQLite | | {:.2} % of a core | | | {} MiB |",
        used.client / seconds * 100.0,
        memory()
    );
    worker.stop().await;
    let _ = fs::remove_dir_all(folder);
}

/// The resident memory of this process in MiB.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or(0);
    kib / 1024
}
