#[path = "../../common.rs"]
mod common;
use apalis::prelude::*;
use apalis_postgres::{Config, PostgresStorage};
use common::*;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;
use std::time::{Duration, Instant};

#[derive(Deserialize, Serialize, Clone, Debug)]
struct X {
    id: usize,
    kind: String,
}
fn x(i: usize) -> X {
    X { id: i, kind: kind() }
}
async fn handle(j: X) -> Result<(), BoxDynError> {
    hit(j.id);
    Ok(())
}
#[tokio::main]
async fn main() {
    let a = args();
    init(a.total);
    let start = epoch();
    let conns: u32 = std::env::var("CONNS").ok().and_then(|s| s.parse().ok()).unwrap_or(10);
    let pool = PgPoolOptions::new().max_connections(conns).connect(&a.url).await.unwrap();
    if a.cmd == "setup" {
        PostgresStorage::setup(&pool).await.unwrap();
        return;
    }
    let lock = std::env::var("LOCK").is_ok();
    let cfg = Config::default().queue("bench").batch_size(a.batch).lock_tasks(lock);
    let st: PostgresStorage<X> = PostgresStorage::new(&pool).with_config(cfg);
    match a.cmd.as_str() {
        "enqueue" => {
            enqueue_conc(a.n, 8, move |i| {
                let mut s = st.clone();
                async move {
                    s.push(x(i)).await.unwrap();
                }
            })
            .await
        }
        "bulk" => {
            let mut st = st;
            let t = Instant::now();
            let ids: Vec<usize> = (0..a.n).collect();
            for c in ids.chunks(5000) {
                st.push_bulk(c.iter().map(|i| x(*i)).collect()).await.unwrap();
            }
            report_rate("bulk", a.n, t.elapsed().as_secs_f64());
        }
        "work" => {
            let b = st.with_pubsub().poll_with_interval(Duration::from_millis(20));
            let w = WorkerBuilder::new(a.name.as_str())
                .backend(b)
                .concurrency(a.conc)
                .parallelize(tokio::spawn)
                .build(handle);
            let dr = wait_drained(|| {
                let p = pool.clone();
                async move {
                    sqlx::query_scalar::<_, bool>("select exists(select 1 from apalis.jobs where status in ('Pending','Queued','Running'))").fetch_one(&p).await.unwrap()
                }
            });
            let end = tokio::select! { r = w.run() => { r.unwrap(); panic!("worker ended") }, e = dr => e };
            report_drain(&a, start, end);
            EXIT();
        }
        "latency" => {
            let mut s2 = st.clone();
            let b = st.with_pubsub();
            let w = WorkerBuilder::new("lat")
                .backend(b)
                .concurrency(a.conc)
                .parallelize(tokio::spawn)
                .build(handle);
            let n = a.n;
            let h = tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                let mut v = vec![];
                let mut iv = tokio::time::interval(Duration::from_millis(20));
                for i in 0..n {
                    iv.tick().await;
                    let s = ns();
                    s2.push(x(i)).await.unwrap();
                    v.push((s, ns()));
                }
                tokio::time::sleep(Duration::from_secs(3)).await;
                v
            });
            let v = tokio::select! { r = w.run() => { r.unwrap(); panic!("worker ended") }, v = h => v.unwrap() };
            report_latency("latency", &v);
            EXIT();
        }
        "sustained" | "paced" => {
            let s2 = st.clone();
            let b = st.with_pubsub().poll_with_interval(Duration::from_millis(20));
            let w = WorkerBuilder::new("flow")
                .backend(b)
                .concurrency(a.conc)
                .parallelize(tokio::spawn)
                .build(handle);
            let bulk = |ids: std::ops::Range<usize>| {
                let mut s = s2.clone();
                async move {
                    s.push_bulk(ids.map(x).collect()).await.unwrap();
                }
            };
            let flow = async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if a.cmd == "paced" { paced(&a, bulk).await } else { sustained(&a, bulk).await }
            };
            tokio::select! { r = w.run() => { r.unwrap(); panic!("worker ended") }, () = flow => {} }
            EXIT();
        }
        _ => panic!("cmd"),
    }
}
