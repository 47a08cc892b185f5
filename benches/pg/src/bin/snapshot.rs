//! Measures claims while a transaction holds an old snapshot and 200,000 jobs run. They must not get slower.

use std::time::{Duration, Instant};

use ratchet::Store;
use ratchet_bench_pg::{Server, fill, join, percentile, request, success};
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[tokio::main]
async fn main() {
    let seconds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(120);
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let mut old = pool.begin().await.expect("begins");
    sqlx::raw_sql(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ratchet.job",
    )
    .execute(&mut *old)
    .await
    .expect("a snapshot");
    let node = join(&store).await;
    let (started, mut flowed, mut took) = (Instant::now(), 0, Vec::new());
    let pace = Duration::from_secs(seconds) / 200;
    for round in 0..200 {
        fill(&store, "bench.noop", 1000).await;
        for _ in 0..10 {
            let began = Instant::now();
            let reply = store.claim(request(node, "bench.noop", 100)).await.expect("claims");
            took.push(began.elapsed().as_secs_f64() * 1000.0);
            flowed += reply.jobs.len();
            store.settle(reply.jobs.iter().map(success).collect()).await.expect("settles");
        }
        tokio::time::sleep((pace * (round + 1)).saturating_sub(started.elapsed())).await;
    }
    let (first, last) = (200, took.len() - 200);
    let (mut early, mut late) = (took[20..first].to_vec(), took[last..].to_vec());
    let (a, b) = (percentile(&mut early, 0.95), percentile(&mut late, 0.95));
    println!(
        "{flowed} jobs in {:?}: claim of 100 p95 {a:.2} ms at the start, {b:.2} ms at the end: {:.2}x",
        started.elapsed(),
        b / a
    );
    println!("p50 {:.2} and {:.2} ms", percentile(&mut early, 0.5), percentile(&mut late, 0.5));
    old.rollback().await.expect("ends");
    drop(pool);
    store.close().await;
}
