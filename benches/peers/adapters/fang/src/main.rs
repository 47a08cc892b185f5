#[path = "../../common.rs"]
mod common;
use common::*;
use fang::asynk::async_queue::{AsyncQueue, AsyncQueueable};
use fang::asynk::async_worker_pool::AsyncWorkerPool;
use fang::serde::{Deserialize, Serialize};
use fang::{AsyncRunnable, FangError, RetentionMode, SleepParams, async_trait, typetag};
use sqlx::postgres::PgPoolOptions;
use std::time::Duration;

#[derive(Serialize, Deserialize)]
#[serde(crate = "fang::serde")]
struct X {
    id: usize,
    kind: String,
}
#[typetag::serde]
#[async_trait]
impl AsyncRunnable for X {
    async fn run(&self, _q: &dyn AsyncQueueable) -> Result<(), FangError> {
        hit(self.id);
        Ok(())
    }
}
fn x(i: usize) -> X {
    X { id: i, kind: kind() }
}
#[tokio::main]
async fn main() {
    let a = args();
    init(a.total);
    let start = epoch();
    let conns: u32 = std::env::var("CONNS").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    let pool = PgPoolOptions::new().max_connections(2).connect(&a.url).await.unwrap();
    let mut q = AsyncQueue::builder().uri(a.url.clone()).max_pool_size(conns).build();
    q.connect().await.unwrap();
    let keep = std::env::var("KEEPALL").is_ok();
    let wp = |q: AsyncQueue, n: u32| {
        AsyncWorkerPool::<AsyncQueue>::builder()
            .number_of_workers(n)
            .queue(q)
            .sleep_params(SleepParams {
                sleep_period: Duration::from_millis(5),
                max_sleep_period: Duration::from_millis(5),
                min_sleep_period: Duration::from_millis(5),
                sleep_step: Duration::from_millis(1),
            })
            .retention_mode(if keep {
                RetentionMode::KeepAll
            } else {
                RetentionMode::RemoveFinished
            })
            .build()
    };
    match a.cmd.as_str() {
        "setup" => {}
        "enqueue" => {
            enqueue_conc(a.n, 8, move |i| {
                let q = q.clone();
                async move {
                    q.insert_task(&x(i)).await.unwrap();
                }
            })
            .await
        }
        "work" => {
            let mut w = wp(q, a.conc as u32);
            w.start().await;
            let end = wait_drained(|| { let p = pool.clone(); async move { sqlx::query_scalar::<_, bool>("select exists(select 1 from fang_tasks where state in ('new','in_progress','retried'))").fetch_one(&p).await.unwrap() } }).await;
            report_drain(&a, start, end);
            EXIT();
        }
        "latency" => {
            let mut w = wp(
                q.clone(),
                std::env::var("LCONC").ok().and_then(|s| s.parse().ok()).unwrap_or(4),
            );
            w.start().await;
            tokio::time::sleep(Duration::from_secs(1)).await;
            let q = &q;
            let v = latency_loop(a.n, |i| async move {
                q.insert_task(&x(i)).await.unwrap();
            })
            .await;
            report_latency("latency", &v);
            EXIT();
        }
        _ => panic!("cmd"),
    }
}
