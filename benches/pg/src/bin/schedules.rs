//! Runs three schedules that fire every second on five nodes, one of which is repeatedly killed. There must be exactly
//! one job per occurrence.
//!
//! `cargo run --release --bin schedules -- 60` runs for a minute.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use ratchet::schedule::Missed;
use ratchet::{Job as _, Ratchet, job};
use ratchet_bench_pg::Server;
use ratchet_pg::PgStore;
use sqlx::PgPool;

const NODES: usize = 5;
const NAMES: [&str; 3] = ["first", "second", "third"];

#[job(name = "bench.tick")]
async fn tick(schedule: String) {
    drop(schedule);
}

#[tokio::main]
async fn main() {
    let arg = std::env::args().nth(1).unwrap_or_default();
    if arg.starts_with("postgres:") {
        return work(&arg).await;
    }
    let seconds: u64 = arg.parse().unwrap_or(60);
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone()).build().await.expect("builds");
    for name in NAMES {
        let tick = Tick { schedule: name.to_owned() };
        let declared = ratchet.schedules().declare(name, "* * * * * *", tick);
        declared.missed(Missed::CatchUp(1000)).await.expect("declared");
    }
    let worker = || {
        let program = std::env::current_exe().expect("this program");
        Command::new(program).arg(server.url()).spawn().expect("starts")
    };
    let mut workers: Vec<Child> = (0..NODES).map(|_| worker()).collect();
    let (started, mut kills) = (Instant::now(), 0);
    while started.elapsed() < Duration::from_secs(seconds) {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(300..1500))).await;
        let victim = fastrand::usize(..NODES);
        workers[victim].kill().expect("killed");
        workers[victim].wait().expect("gone");
        workers[victim] = worker();
        kills += 1;
    }
    for name in NAMES {
        ratchet.schedules().pause(name).await.expect("paused");
    }
    let counted = "SELECT count(*), count(DISTINCT (payload, due)), count(DISTINCT due),
            ((max(due) - min(due)) / 1000000 + 1)::bigint FROM ratchet.job";
    let open = "SELECT count(*) FROM ratchet.job j WHERE NOT EXISTS
        (SELECT FROM ratchet.outcome o WHERE o.job = j.id AND o.state = 2)";
    let deadline = Instant::now() + Duration::from_secs(60);
    while sqlx::query_scalar::<_, i64>(open).fetch_one(&pool).await.expect("counts") > 0 {
        assert!(Instant::now() < deadline, "some do not end");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for mut worker in workers {
        worker.kill().expect("killed");
        worker.wait().expect("gone");
    }
    let (jobs, unique, instants, span): (i64, i64, i64, i64) =
        sqlx::query_as(counted).fetch_one(&pool).await.expect("counts");
    println!(
        "{seconds} s, {kills} kills: {jobs} jobs of {} schedules, {unique} unique, \
         {instants} instants in {span} s",
        NAMES.len()
    );
    assert_eq!(jobs, unique, "an occurrence fired twice");
    assert_eq!(instants, span, "an occurrence is missing");
    assert!(jobs > NAMES.len() as i64 * (span - 2), "a schedule left some out");
    store.close().await;
}

async fn work(url: &str) {
    let store = PgStore::connect(url).await.expect("opens");
    let ratchet = Ratchet::builder(store)
        .jobs([Tick::JOB])
        .concurrency(10)
        .config(|config| {
            config.lease = Duration::from_secs(2);
            config.heartbeat = Duration::from_millis(400);
            config.maintenance_interval = Duration::from_millis(400);
        })
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    worker.stopped().await;
}
