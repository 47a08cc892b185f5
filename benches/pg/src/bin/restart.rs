//! Restarts the server 20 times under load, alternating between `fast` and `immediate`. Every job must end once.

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
    let jobs = 60_000;
    let server = Server::start();
    let store = PgStore::connect(&server.url()).await.expect("opens");
    fill(&store, "bench.nap", jobs).await;
    let ratchet = Ratchet::builder(store.clone()).concurrency(100).build().await.expect("builds");
    let started = Instant::now();
    let worker = ratchet.start().await.expect("starts");
    for round in 0..20 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.down(if round % 2 == 0 { "fast" } else { "immediate" });
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.up();
    }
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let one = async |sql: &'static str| -> i64 {
        sqlx::query_scalar(sql).fetch_one(&pool).await.expect("counts")
    };
    let mut ended = 0;
    while ended < jobs as i64 && started.elapsed() < Duration::from_secs(180) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        ended = one("SELECT count(*) FROM ratchet.outcome").await;
    }
    println!("20 restarts, {jobs} jobs in {:?}: ended {ended}", started.elapsed());
    let reruns = one("SELECT COALESCE(sum(run - 1), 0)::bigint FROM ratchet.outcome").await;
    let gaps = one("SELECT count(*) FROM ratchet.outcome o WHERE o.run - 1 <>
        (SELECT count(*) FROM ratchet.attempt a WHERE a.job = o.job AND a.run < o.run)")
    .await;
    println!(
        "re-runs {reruns}, runs without a line or with two ends {gaps}, stats {:?}",
        worker.stats()
    );
    worker.stop().await;
    assert!(ended == jobs as i64 && gaps == 0);
    drop(pool);
    store.close().await;
}
