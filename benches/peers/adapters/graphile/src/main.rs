#[path = "../../common.rs"]
mod common;
use common::*;
use graphile_worker::{
    IntoTaskHandlerResult, JobSpec, LocalQueueConfig, TaskHandler, WorkerContext, WorkerOptions,
};
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;
use std::time::{Duration, Instant};

#[derive(Deserialize, Serialize, Clone)]
struct X {
    id: usize,
    kind: String,
}
impl TaskHandler for X {
    const IDENTIFIER: &'static str = "x";
    async fn run(self, _c: WorkerContext) -> impl IntoTaskHandlerResult {
        hit(self.id);
        Ok::<(), String>(())
    }
}
fn x(i: usize) -> X {
    X { id: i, kind: kind() }
}

#[tokio::main]
async fn main() {
    let a = args();
    init(a.total);
    let conns: u32 = std::env::var("CONNS").ok().and_then(|s| s.parse().ok()).unwrap_or(10);
    let start = epoch();
    let pool = PgPoolOptions::new().max_connections(conns).connect(&a.url).await.unwrap();
    let mut o = WorkerOptions::default()
        .concurrency(a.conc)
        .schema("gw")
        .define_job::<X>()
        .pg_pool(pool.clone())
        .listen_os_shutdown_signals(false);
    if ["work", "latency", "sustained", "paced"].contains(&a.cmd.as_str()) {
        let qc: usize = std::env::var("QC").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
        if a.batch > 1 {
            o = o.local_queue(LocalQueueConfig::default().with_size(a.batch).with_queue_count(qc));
        }
        if std::env::var("CBATCH").as_deref() != Ok("0") {
            o = o.complete_job_batch_delay(Duration::from_millis(1));
        }
    }
    let w = o.init().await.unwrap();
    let u = w.create_utils();
    match a.cmd.as_str() {
        "setup" => {}
        "enqueue" => {
            let u = std::sync::Arc::new(u);
            enqueue_conc(a.n, 8, move |i| {
                let u = u.clone();
                async move {
                    u.add_job(x(i), JobSpec::default()).await.unwrap();
                }
            })
            .await
        }
        "bulk" => {
            let t = Instant::now();
            let spec = JobSpec::default();
            let ids: Vec<usize> = (0..a.n).collect();
            for c in ids.chunks(5000) {
                let v: Vec<(X, &JobSpec)> = c.iter().map(|i| (x(*i), &spec)).collect();
                u.add_jobs::<X>(&v).await.unwrap();
            }
            report_rate("bulk", a.n, t.elapsed().as_secs_f64());
        }
        "work" => {
            tokio::spawn(async move { w.run().await.unwrap() });
            let end = wait_drained(|| {
                let p = pool.clone();
                async move {
                    sqlx::query_scalar::<_, bool>("select exists(select 1 from gw._private_jobs)")
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
            tokio::spawn(async move { w.run().await.unwrap() });
            tokio::time::sleep(Duration::from_secs(1)).await;
            let u = &u;
            let v = latency_loop(a.n, |i| async move {
                u.add_job(x(i), JobSpec::default()).await.unwrap();
            })
            .await;
            report_latency("latency", &v);
            EXIT();
        }
        "sustained" | "paced" => {
            tokio::spawn(async move { w.run().await.unwrap() });
            tokio::time::sleep(Duration::from_secs(1)).await;
            let (u, spec) = (&u, JobSpec::default());
            let spec = &spec;
            let bulk = |ids: std::ops::Range<usize>| async move {
                let v: Vec<(X, &JobSpec)> = ids.map(|i| (x(i), spec)).collect();
                u.add_jobs::<X>(&v).await.unwrap();
            };
            if a.cmd == "paced" {
                paced(&a, bulk).await
            } else {
                sustained(&a, bulk).await
            }
            EXIT();
        }
        _ => panic!("cmd"),
    }
}
