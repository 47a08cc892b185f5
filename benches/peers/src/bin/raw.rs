//! The adapter for the baseline: bulk insert and drain in hand-written SQL.

#[path = "../../adapters/common.rs"]
mod common;

use std::time::Instant;

use common::{args, cpu, epoch, report_rate, rss};
use ratchet_bench_pg::raw;
use sqlx::PgPool;

#[tokio::main]
async fn main() {
    let a = args();
    let start = epoch();
    let pool = PgPool::connect(&a.url).await.expect("connects");
    match a.cmd.as_str() {
        "setup" => raw::tables(&pool).await,
        "bulk" => {
            let started = Instant::now();
            raw::fill(&pool, a.n).await;
            report_rate("bulk", a.n, started.elapsed().as_secs_f64());
        }
        "work" => {
            let done = raw::drain(&pool, 2, i64::try_from(a.batch).expect("fits")).await;
            assert_eq!(done, a.n);
            let (secs, (user, system)) = (epoch() - start, cpu());
            println!(
                "{{\"phase\":\"drain\",\"secs\":{secs:.4},\"once\":{done},\"dup\":0,\"none\":0,\"rate\":{:.0},\"cpu\":{:.2},\"rss\":{:.0}}}",
                done as f64 / secs,
                user + system,
                rss()
            );
        }
        other => panic!("no phase {other}"),
    }
}
