#[path = "../../common.rs"]
mod common;
use apalis::prelude::*;
use apalis_sqlite::{Config, SqliteStorage};
use common::*;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use std::str::FromStr;
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
    let full = std::env::var("SYNC").as_deref() == Ok("full");
    let conns: u32 = std::env::var("CONNS").ok().and_then(|s| s.parse().ok()).unwrap_or(4);
    let o = SqliteConnectOptions::from_str(&a.url)
        .unwrap()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(if full { SqliteSynchronous::Full } else { SqliteSynchronous::Normal })
        .busy_timeout(Duration::from_secs(30));
    let pool = SqlitePoolOptions::new().max_connections(conns).connect_with(o).await.unwrap();
    if a.cmd == "setup" {
        SqliteStorage::setup(&pool).await.unwrap();
        return;
    }
    let lock = std::env::var("LOCK").is_ok();
    let cfg = Config::default().queue("bench").batch_size(a.batch).lock_tasks(lock);
    let st: SqliteStorage<X> = SqliteStorage::new(&pool).with_config(cfg);
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
            for c in ids.chunks(1000) {
                st.push_bulk(c.iter().map(|i| x(*i)).collect()).await.unwrap();
            }
            report_rate("bulk", a.n, t.elapsed().as_secs_f64());
        }
        "work" => {
            let b = st.poll_with_interval(Duration::from_millis(20));
            let w = WorkerBuilder::new(a.name.as_str())
                .backend(b)
                .concurrency(a.conc)
                .parallelize(tokio::spawn)
                .build(handle);
            let dr = wait_drained(|| {
                let p = pool.clone();
                async move {
                    sqlx::query_scalar::<_, i64>("select exists(select 1 from Jobs where status in ('Pending','Queued','Running'))").fetch_one(&p).await.unwrap() != 0
                }
            });
            let end = tokio::select! { r = w.run() => { r.unwrap(); panic!("worker ended") }, e = dr => e };
            report_drain(&a, start, end);
            EXIT();
        }
        _ => panic!("cmd"),
    }
}
