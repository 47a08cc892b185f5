#[path = "../../common.rs"]
mod common;
use common::*;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;
use sqlxmq::{CurrentJob, JobRegistry, job};
use std::{error::Error, time::Duration};

#[derive(Deserialize, Serialize, Clone)]
struct In {
    id: usize,
    kind: String,
}
fn x(i: usize) -> In {
    In { id: i, kind: kind() }
}
#[job(channel_name = "bench")]
async fn xjob(mut j: CurrentJob) -> Result<(), Box<dyn Error + Send + Sync + 'static>> {
    let p: In = j.json()?.unwrap();
    hit(p.id);
    j.complete().await?;
    Ok(())
}
#[tokio::main]
async fn main() {
    let a = args();
    init(a.total);
    let start = epoch();
    let conns: u32 = std::env::var("CONNS").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    let pool = PgPoolOptions::new().max_connections(conns).connect(&a.url).await.unwrap();
    match a.cmd.as_str() {
        "setup" => {} // driver runs the crate's migrations with psql
        "enqueue" => {
            enqueue_conc(a.n, 8, move |i| {
                let p = pool.clone();
                async move {
                    xjob.builder().set_json(&x(i)).unwrap().spawn(&p).await.unwrap();
                }
            })
            .await
        }
        "work" => {
            let reg = JobRegistry::new(&[xjob]);
            let _r = reg
                .runner(&pool)
                .set_concurrency(a.conc / 2, a.conc)
                .set_keep_alive(std::env::var("KEEP").is_ok())
                .run()
                .await
                .unwrap();
            let end = wait_drained(|| {
                let p = pool.clone();
                async move {
                    sqlx::query_scalar::<_, bool>(
                        "select exists(select 1 from mq_msgs where id <> uuid_nil())",
                    )
                    .fetch_one(&p)
                    .await
                    .unwrap()
                }
            })
            .await;
            report_drain(&a, start, end);
            EXIT();
        }
        "latency" => {
            let reg = JobRegistry::new(&[xjob]);
            let _r = reg.runner(&pool).set_concurrency(a.conc / 2, a.conc).run().await.unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
            let p = &pool;
            let v = latency_loop(a.n, |i| async move {
                xjob.builder().set_json(&x(i)).unwrap().spawn(p).await.unwrap();
            })
            .await;
            report_latency("latency", &v);
            EXIT();
        }
        _ => panic!("cmd"),
    }
}
