#[path = "../../common.rs"]
mod common;
use awa::{
    Client, InsertOpts, JobArgs, JobResult, QueueConfig, QueueStorage, QueueStorageConfig,
    insert_with, migrations,
};
use common::*;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;
use std::time::{Duration, Instant};

#[derive(Debug, Serialize, Deserialize)]
struct X {
    id: usize,
    kind: String,
}
impl JobArgs for X {
    fn kind() -> &'static str {
        "x"
    }
}
fn x(i: usize) -> X {
    X { id: i, kind: kind() }
}
fn opts() -> InsertOpts {
    InsertOpts { queue: "q".into(), ..Default::default() }
}

#[tokio::main]
async fn main() {
    let a = args();
    init(a.total);
    let start = epoch();
    let pool = PgPoolOptions::new().max_connections(20).connect(&a.url).await.unwrap();
    if a.cmd == "setup" {
        migrations::run(&pool).await.unwrap();
    }
    let qs = || {
        let mut c = QueueStorageConfig::default();
        if let Ok(s) = std::env::var("STRIPES") {
            c.queue_stripe_count = s.parse().unwrap();
        }
        c
    };
    let client = || {
        let mut b = Client::builder(pool.clone())
            .queue(
                "q",
                QueueConfig {
                    max_workers: a.conc as u32,
                    claim_batch_size: a.batch,
                    deadline_duration: Duration::ZERO,
                    ..Default::default()
                },
            )
            .register::<X, _, _>(|args, _| async move {
                hit(args.id);
                Ok(JobResult::Completed)
            });
        let _ = &mut b;
        b.build().unwrap()
    };
    match a.cmd.as_str() {
        "setup" => {
            let c = client();
            c.start().await.unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
            c.shutdown(Duration::from_secs(5)).await;
        }
        "enqueue" => {
            let p = pool.clone();
            enqueue_conc(a.n, 8, move |i| {
                let p = p.clone();
                async move {
                    insert_with(&p, &x(i), opts()).await.unwrap();
                }
            })
            .await
        }
        "bulk" => {
            let s = QueueStorage::new(qs()).unwrap();
            let t = Instant::now();
            let ids: Vec<usize> = (0..a.n).collect();
            for c in ids.chunks(5000) {
                let v: Vec<_> = c
                    .iter()
                    .map(|i| awa::awa_model::insert::params_with(&x(*i), opts()).unwrap())
                    .collect();
                s.enqueue_params_copy(&pool, &v).await.unwrap();
            }
            report_rate("bulk", a.n, t.elapsed().as_secs_f64());
        }
        "work" => {
            let c = client();
            c.start().await.unwrap();
            let n = std::env::var("STOP").ok().and_then(|n| n.parse().ok()).unwrap_or(a.n);
            let end = loop {
                tokio::time::sleep(Duration::from_millis(5)).await;
                if DONE.load(std::sync::atomic::Ordering::Relaxed) >= n {
                    break epoch();
                }
                if epoch() - start > 120.0 {
                    break epoch();
                }
            };
            report_drain(&a, start, end);
            c.shutdown(Duration::from_secs(10)).await;
        }
        "latency" => {
            let c = client();
            c.start().await.unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
            let p = &pool;
            let v = latency_loop(a.n, |i| async move {
                insert_with(p, &x(i), opts()).await.unwrap();
            })
            .await;
            report_latency("latency", &v);
            c.shutdown(Duration::from_secs(5)).await;
        }
        "sustained" | "paced" => {
            let c = client();
            c.start().await.unwrap();
            tokio::time::sleep(Duration::from_secs(2)).await;
            let storage = QueueStorage::new(qs()).unwrap();
            let (s, p) = (&storage, &pool);
            let bulk = |ids: std::ops::Range<usize>| async move {
                let v: Vec<_> = ids
                    .map(|i| awa::awa_model::insert::params_with(&x(i), opts()).unwrap())
                    .collect();
                s.enqueue_params_copy(p, &v).await.unwrap();
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
