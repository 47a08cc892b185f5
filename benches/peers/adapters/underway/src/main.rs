#[path = "../../common.rs"]
mod common;
use common::*;
use serde::{Deserialize, Serialize};
use sqlx::{Postgres, Transaction, postgres::PgPoolOptions};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use underway::{Queue, Task, Worker, task::Result as TaskResult};

#[derive(Deserialize, Serialize, Clone)]
struct In {
    id: usize,
    kind: String,
}
#[derive(Clone)]
struct X;
impl Task for X {
    type Input = In;
    type Output = ();
    async fn execute(&self, _tx: Transaction<'_, Postgres>, i: In) -> TaskResult<()> {
        hit(i.id);
        Ok(())
    }
}
fn x(i: usize) -> In {
    In { id: i, kind: kind() }
}
#[tokio::main]
async fn main() {
    let a = args();
    init(a.total);
    let start = epoch();
    let conns: u32 = std::env::var("CONNS").ok().and_then(|s| s.parse().ok()).unwrap_or(40);
    let pool = PgPoolOptions::new().max_connections(conns).connect(&a.url).await.unwrap();
    if a.cmd == "setup" {
        underway::run_migrations(&pool).await.unwrap();
    }
    let q: Arc<Queue<X>> =
        Arc::new(Queue::builder().name("q").pool(pool.clone()).build().await.unwrap());
    match a.cmd.as_str() {
        "setup" => {}
        "enqueue" => {
            enqueue_conc(a.n, 8, move |i| {
                let (q, p) = (q.clone(), pool.clone());
                async move {
                    q.enqueue(&p, &X, &x(i)).await.unwrap();
                }
            })
            .await
        }
        "bulk" => {
            let t = Instant::now();
            let v: Vec<In> = (0..a.n).map(x).collect();
            q.enqueue_multi(&pool, &X, &v).await.unwrap();
            report_rate("bulk", a.n, t.elapsed().as_secs_f64());
        }
        "work" => {
            // documented run loop spawns one processing chain per notify/poll tick; start `conc` workers so that the limit is reached at once
            for _ in 0..a.conc {
                let mut w = Worker::new(q.clone(), X);
                w.set_concurrency_limit(1);
                tokio::spawn(async move {
                    loop {
                        match w.process_next_task().await {
                            Ok(Some(_)) => {}
                            _ => tokio::time::sleep(Duration::from_millis(5)).await,
                        }
                    }
                });
            }
            let end = wait_drained(|| { let p = pool.clone(); async move { sqlx::query_scalar::<_, bool>("select exists(select 1 from underway.task where state in ('pending','in_progress'))").fetch_one(&p).await.unwrap() } }).await;
            report_drain(&a, start, end);
            EXIT();
        }
        "latency" => {
            let mut w = Worker::new(q.clone(), X);
            w.set_concurrency_limit(a.conc);
            tokio::spawn(async move { w.run().await.unwrap() });
            tokio::time::sleep(Duration::from_secs(1)).await;
            let (q, p) = (&q, &pool);
            let v = latency_loop(a.n, |i| async move {
                q.enqueue(p, &X, &x(i)).await.unwrap();
            })
            .await;
            report_latency("latency", &v);
            EXIT();
        }
        _ => panic!("cmd"),
    }
}
