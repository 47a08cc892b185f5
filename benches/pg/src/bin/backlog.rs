//! Measures the cost of a claim with different numbers of waiting and ended jobs.

use std::time::Instant;

use ratchet::Store;
use ratchet_bench_pg::backlog::{add_finished, add_pending};
use ratchet_bench_pg::{Server, join, percentile, request, success};
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[tokio::main]
async fn main() {
    let scale: f64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1.0);
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let mut pending = 0;
    let mut first = None;
    for (target, finished) in [(1_000, 0), (100_000, 0), (2_000_000, 0), (2_000_000, 5_000_000)] {
        let scaled = |n: i64| (n as f64 * scale) as i64;
        add_pending(&pool, scaled(target) - pending).await;
        pending = scaled(target);
        add_finished(&pool, scaled(finished)).await;
        sqlx::query("VACUUM ANALYZE").execute(&pool).await.expect("vacuums");
        let node = join(&store).await;
        let mut took = Vec::new();
        for _ in 0..90 {
            let started = Instant::now();
            let reply = store.claim(request(node, "bench.noop", 10)).await.expect("claims");
            took.push(started.elapsed().as_secs_f64() * 1000.0);
            pending -= reply.jobs.len() as i64;
            store.settle(reply.jobs.iter().map(success).collect()).await.expect("settles");
        }
        let (p50, p95) = (percentile(&mut took, 0.5), percentile(&mut took, 0.95));
        let (first50, first95) = *first.get_or_insert((p50, p95));
        println!(
            "pending {target}, finished {finished}: claim of 10 p50 {p50:.2} ms ({:.2}x), p95 {p95:.2} ms ({:.2}x)",
            p50 / first50,
            p95 / first95
        );
    }
    drop(pool);
    store.close().await;
}
