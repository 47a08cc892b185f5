//! Runs four worker processes and kills one every second. Every job must end, and only jobs held by a killed process
//! may run again.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use ratchet::{Ratchet, job};
use ratchet_bench_pg::{Server, fill};
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[job(name = "bench.nap")]
async fn nap(id: i64) {
    tokio::time::sleep(Duration::from_millis(20 + id.unsigned_abs() % 60)).await;
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    if let Some(url) = args.next().filter(|arg| arg.starts_with("postgres:")) {
        return work(&url).await;
    }
    let jobs: i64 = 100_000;
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    fill(&store, "bench.nap", 100_000).await;
    let worker = || {
        let program = std::env::current_exe().expect("this program");
        Command::new(program).arg(server.url()).spawn().expect("starts")
    };
    let mut workers: Vec<Child> = (0..4).map(|_| worker()).collect();
    let (started, mut kills, mut held, mut last) = (Instant::now(), 0, 0, None);
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        // Count with a delay: the server still commits requests of the killed process. Its lease expires later.
        if let Some(pid) = last.take() {
            held += held_by(&pool, pid).await;
        }
        let ended: i64 =
            sqlx::query_scalar("SELECT COALESCE(sum(change), 0)::bigint FROM ratchet.tally")
                .fetch_one(&pool)
                .await
                .expect("counts");
        if ended >= jobs || started.elapsed() > Duration::from_secs(240) {
            break;
        }
        let victim = fastrand::usize(..workers.len());
        let pid = workers[victim].id();
        workers[victim].kill().expect("killed");
        workers[victim].wait().expect("gone");
        kills += 1;
        last = Some(pid);
        workers[victim] = worker();
    }
    let took = started.elapsed();
    for mut worker in workers {
        worker.kill().expect("killed");
        worker.wait().expect("gone");
    }
    let one = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql).fetch_one(&pool).await.expect("counts")
    };
    let succeeded = one("SELECT count(*) FROM ratchet.outcome WHERE state = 2").await;
    let lost = one("SELECT count(*) FROM ratchet.job j WHERE NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = j.id)").await;
    let reruns = one("SELECT COALESCE(sum(run - 1), 0)::bigint FROM ratchet.outcome").await;
    let lines = one("SELECT count(*) FROM ratchet.attempt").await;
    let gaps = one("SELECT count(*) FROM ratchet.outcome o WHERE o.run - 1 <>
        (SELECT count(*) FROM ratchet.attempt a WHERE a.job = o.job AND a.run < o.run)")
    .await;
    println!("{jobs} jobs, {kills} kills, {took:?}: succeeded {succeeded}, without an end {lost}");
    println!(
        "held by the killed {held}, re-runs {reruns}, lines of crashed runs {lines}, runs without a line or with two ends {gaps}"
    );
    assert!(succeeded == jobs && lost == 0 && reruns <= held && gaps == 0);
    drop(pool);
    store.close().await;
}

/// Returns the number of runs that a process holds.
async fn held_by(pool: &PgPool, pid: u32) -> i64 {
    let sql = "SELECT COALESCE(sum(l.remaining), 0)::bigint FROM ratchet.lease l
               JOIN ratchet.node n ON n.id = l.node WHERE n.pid = $1";
    sqlx::query_scalar(sql).bind(i64::from(pid)).fetch_one(pool).await.expect("counts")
}

async fn work(url: &str) {
    let store = PgStore::connect(url).await.expect("opens");
    let ratchet = Ratchet::builder(store)
        .concurrency(50)
        .config(|config| {
            config.lease = Duration::from_secs(3);
            config.heartbeat = Duration::from_millis(500);
            config.maintenance_interval = Duration::from_millis(500);
        })
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    worker.stopped().await;
}
