//! Measures the cost of composition: a child of a batch compared with a plain job, on four processes; and the time to
//! the start of the next step of a chain, on an idle cluster of two processes.
//!
//! `cargo run --release --bin composition -- 100000 3` runs three rounds of 100,000 jobs.

use std::process::{Child, Command};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ratchet::model::GroupState;
use ratchet::{Job as _, Ratchet, job};
use ratchet_bench_pg::{Server, percentile};
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[job(name = "bench.leaf")]
async fn leaf(id: u64) {
    let _ = id;
}

/// Returns its start time, in microseconds.
#[job(name = "bench.step")]
async fn step(n: u32) -> i64 {
    let _ = n;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from(now.as_micros()).expect("fits")
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let arg = args.next().unwrap_or_default();
    if arg.starts_with("postgres:") {
        return work(&arg).await;
    }
    let jobs: usize = arg.parse().unwrap_or(100_000);
    let rounds: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone()).build().await.expect("builds");
    let bench = Bench { server, pool, ratchet, jobs };
    bench.chains(5, 100).await;
    let (mut plain, mut batch) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(bench.plain().await);
        batch.push(bench.batch().await);
    }
    let median = |all: &[[f64; 2]], of: fn(&[f64; 2]) -> f64| {
        percentile(&mut all.iter().map(of).collect::<Vec<_>>(), 0.5)
    };
    let ratio = |of| median(&batch, of) / median(&plain, of);
    println!(
        "a child against a plain job, medians: submit {:.2}×, drain {:.2}×, the whole of its life {:.2}×",
        ratio(|took| took[0]),
        ratio(|took| took[1]),
        ratio(|took| took[0] + took[1])
    );
    store.close().await;
}

struct Bench {
    server: Server,
    pool: PgPool,
    ratchet: Ratchet,
    jobs: usize,
}

impl Bench {
    fn workers(&self, count: usize) -> Vec<Child> {
        let program = std::env::current_exe().expect("this program");
        let one = |_| Command::new(&program).arg(self.server.url()).spawn().expect("starts");
        (0..count).map(one).collect()
    }

    async fn ended(&self) -> i64 {
        let sql = "SELECT count(*) FROM ratchet.outcome";
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.expect("counts")
    }

    async fn drain(&self, before: i64) -> f64 {
        let started = Instant::now();
        let workers = self.workers(4);
        while self.ended().await < before + i64::try_from(self.jobs).expect("fits") {
            assert!(started.elapsed() < Duration::from_secs(300), "they do not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let took = started.elapsed().as_secs_f64();
        end(workers);
        took
    }

    fn children(&self) -> impl Iterator<Item = Leaf> {
        (0..self.jobs as u64).map(|id| Leaf { id })
    }

    async fn plain(&self) -> [f64; 2] {
        let (before, started) = (self.ended().await, Instant::now());
        self.ratchet.enqueue_many(self.children()).await.expect("enqueued");
        let submit = started.elapsed().as_secs_f64();
        let drain = self.drain(before).await;
        println!("plain: submit {submit:.2} s, drain {drain:.2} s");
        [submit, drain]
    }

    async fn batch(&self) -> [f64; 2] {
        let (before, started) = (self.ended().await, Instant::now());
        let batch = self.ratchet.batch("children").jobs(self.children()).await.expect("submitted");
        let submit = started.elapsed().as_secs_f64();
        let drain = self.drain(before).await;
        let group = batch.record().await.expect("reads").expect("is there");
        println!(
            "batch: submit {submit:.2} s, drain {drain:.2} s, {:?} {:?}",
            group.state, group.counts
        );
        assert_eq!(group.state, GroupState::Succeeded);
        assert_eq!(group.counts.succeeded, self.jobs as u64, "counted exactly");
        assert_eq!(group.counts.ended(), group.counts.total);
        [submit, drain]
    }

    /// Measures the time from the commit of a step (by the store's clock, before it is durable) to the next start.
    async fn chains(&self, chains: usize, steps: u32) {
        let workers = self.workers(2);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let mut gaps = Vec::new();
        for _ in 0..chains {
            let mut chain = self.ratchet.chain(Step { n: 0 });
            for n in 1..steps {
                chain = chain.then(Step { n });
            }
            let chain = chain.await.expect("submitted");
            chain.wait().await.expect("ends");
            let sql =
                "SELECT o.at, o.output FROM ratchet.outcome o JOIN ratchet.job j ON j.id = o.job
                       WHERE j.name = 'bench.step' ORDER BY o.at DESC LIMIT $1";
            let mut reported: Vec<(i64, String)> = sqlx::query_as(sql)
                .bind(i64::from(steps))
                .fetch_all(&self.pool)
                .await
                .expect("reads");
            reported.reverse();
            for pair in reported.windows(2) {
                let start: i64 = pair[1].1.parse().expect("a time");
                gaps.push((start - pair[0].0) as f64 / 1000.0);
            }
        }
        end(workers);
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|part| percentile(&mut gaps, part));
        println!(
            "{} steps: the next starts after p50 {p50:.2} p95 {p95:.2} p99 {p99:.2} ms",
            gaps.len()
        );
    }
}

fn end(workers: Vec<Child>) {
    for mut worker in workers {
        worker.kill().expect("killed");
        worker.wait().expect("gone");
    }
}

async fn work(url: &str) {
    let store = PgStore::connect(url).await.expect("opens");
    let builder = Ratchet::builder(store).jobs([Leaf::JOB, Step::JOB]).concurrency(500);
    let worker = builder.build().await.expect("builds").start().await.expect("starts");
    worker.stopped().await;
}
