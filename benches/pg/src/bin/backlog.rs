//! What a claim costs, whatever waits and whatever has ended.

use std::time::Instant;

use ratchet::Store;
use ratchet_bench_pg::{Server, join, percentile, request, success};
use ratchet_pg::PgStore;
use sqlx::PgPool;

const ADD: &str = "WITH n AS (
    SELECT gen_random_uuid() AS id, ratchet.now_micros() - 1000000 + g AS due FROM generate_series(1, $1) g
), j AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload)
    SELECT id, due, due, 1800000000, 1, 2, 'bench.noop', 'default', '{}' FROM n
)
INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
    keyed, queue, name)
SELECT id, due - 1800000000, due, 0, 0, 1, 0, 0, 0, 1, false, 'default', 'bench.noop' FROM n";

const FINISH: &str = "WITH n AS (
    SELECT gen_random_uuid() AS id, ratchet.now_micros() AS at FROM generate_series(1, $1) g
), j AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload)
    SELECT id, at, at, 1800000000, 1, 2, 'bench.noop', 'default', '{}' FROM n
)
INSERT INTO ratchet.outcome (job, at, due, version, run, attempts, crashes, deferrals, generation, state)
SELECT id, at, at, 2, 1, 0, 0, 0, 1, 2 FROM n";

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
        add(&pool, ADD, scaled(target) - pending).await;
        pending = scaled(target);
        add(&pool, FINISH, scaled(finished)).await;
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

async fn add(pool: &PgPool, sql: &'static str, count: i64) {
    let mut left = count;
    while left > 0 {
        let some = left.min(500_000);
        sqlx::query(sql)
            .bind(i32::try_from(some).expect("fits"))
            .execute(pool)
            .await
            .expect("added");
        left -= some;
    }
}
