//! How fast a backlog goes: by the store's verbs alone, and by the engine with handlers that do nothing.

use std::time::{Duration, Instant};

use ratchet::{Ratchet, Store, job};
use ratchet_bench_pg::{Server, fill, join, request, spent, success};
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
}

#[tokio::main]
async fn main() {
    let jobs: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(100_000);
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let started = Instant::now();
    fill(&store, "bench.noop", jobs).await;
    report("bulk insert by 1000", jobs, started.elapsed());
    for room in [100, 500] {
        for workers in [1, 2] {
            if room != 100 || workers != 1 {
                fill(&store, "bench.noop", jobs).await;
            }
            let before = spent(&pool).await;
            let started = Instant::now();
            let tasks = (0..workers).map(|_| tokio::spawn(drain(store.clone(), room)));
            for task in tasks.collect::<Vec<_>>() {
                task.await.expect("drains");
            }
            report(&format!("verbs, {workers} claimers, K={room}"), jobs, started.elapsed());
            let after = spent(&pool).await;
            let per = |total: i64| total as f64 / jobs as f64;
            println!("    WAL {:.0} B/job", per(after.0 - before.0));
        }
    }
    let ratchet = Ratchet::builder(store.clone()).concurrency(1000).build().await.expect("builds");
    for round in 0..3 {
        let before = spent(&pool).await;
        fill(&store, "bench.noop", jobs).await;
        let filled = spent(&pool).await;
        let started = Instant::now();
        let worker = ratchet.start().await.expect("starts");
        let mut left = 1;
        while left > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let sql = "SELECT (SELECT count(*) FROM ratchet.ready) + (SELECT COALESCE(sum(remaining), 0) FROM ratchet.lease)";
            left = sqlx::query_scalar::<_, i64>(sql).fetch_one(&pool).await.expect("counts");
        }
        report(&format!("engine, round {round}"), jobs, started.elapsed());
        worker.stop().await;
        let after = spent(&pool).await;
        let per = |total: i64| total as f64 / jobs as f64;
        println!(
            "    WAL {:.0} B/job enqueue to outcome, {:.4} commits/job in the drain",
            per(after.0 - before.0),
            per(after.1 - filled.1)
        );
    }
    drop(pool);
    store.close().await;
}

async fn drain(store: PgStore, room: u32) {
    let node = join(&store).await;
    let mut settlements = Vec::new();
    loop {
        let request = request(node, "bench.noop", room);
        let (_, reply) = store.settle_and_claim(settlements, request).await.expect("goes on");
        if reply.jobs.is_empty() {
            return;
        }
        settlements = reply.jobs.iter().map(success).collect();
    }
}

fn report(what: &str, jobs: usize, took: Duration) {
    println!("{what}: {:.0} jobs/s ({took:?})", jobs as f64 / took.as_secs_f64());
}
