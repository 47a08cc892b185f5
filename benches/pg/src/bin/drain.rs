//! Measures how fast a backlog is drained, in one interleaved run: the raw baseline, the store's calls alone, the
//! engine with empty handlers, and graphile_worker if `GRAPHILE` is the path of its adapter. With `ENGINE_ALONE=1`,
//! only the engine runs, for profiling.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ratchet::{Ratchet, Store, job};
use ratchet_bench_pg::cpu::{Cpu, cpu};
use ratchet_bench_pg::{Server, fill, join, raw, request, spent, success};
use ratchet_pg::PgStore;
use sqlx::PgPool;

static RAN: AtomicUsize = AtomicUsize::new(0);

#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
    RAN.fetch_add(1, Ordering::Relaxed);
}

struct Bench {
    server: Server,
    pool: PgPool,
    store: PgStore,
    ratchet: Ratchet,
    jobs: usize,
    /// The claim size of the baseline and of the store's calls alone.
    limit: u32,
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = |or| args.next().and_then(|n| n.parse().ok()).unwrap_or(or);
    let (jobs, rounds, concurrency) = (number(100_000), number(3), number(500));
    let limit = u32::try_from(number(500)).expect("fits");
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let handlers = u32::try_from(concurrency).expect("fits");
    let ratchet =
        Ratchet::builder(store.clone()).concurrency(handlers).build().await.expect("builds");
    raw::tables(&pool).await;
    let bench = Bench { server, pool, store, ratchet, jobs, limit };
    for _ in 0..rounds {
        if std::env::var_os("ENGINE_ALONE").is_some() {
            bench.engine().await;
            continue;
        }
        bench.raw().await;
        bench.enqueue(8).await;
        bench.insert().await;
        bench.verbs(1).await;
        fill(&bench.store, "bench.noop", jobs).await;
        bench.verbs(2).await;
        bench.engine().await;
        if let Ok(program) = std::env::var("GRAPHILE") {
            bench.graphile(&program);
        }
    }
    bench.store.close().await;
}

impl Bench {
    fn cpu(&self) -> Cpu {
        cpu(&self.server.data())
    }

    fn report(&self, what: &str, took: Duration, cpu: Cpu) {
        self.report_of(None, what, took, cpu);
    }

    fn report_of(&self, jobs: Option<usize>, what: &str, took: Duration, cpu: Cpu) {
        let jobs = jobs.unwrap_or(self.jobs) as f64;
        let rate = jobs / took.as_secs_f64();
        let per = |seconds: f64| seconds * 1e6 / jobs;
        println!(
            "{what:<28} {rate:>8.0} jobs/s   client {:>5.1} µs/job   server {:>5.1} µs/job",
            per(cpu.client),
            per(cpu.server)
        );
    }

    async fn raw(&self) {
        let (before, started) = (self.cpu(), Instant::now());
        raw::fill(&self.pool, self.jobs).await;
        self.report("raw bulk insert by 1000", started.elapsed(), self.cpu().since(before));
        let (before, started) = (self.cpu(), Instant::now());
        assert_eq!(raw::drain(&self.pool, 2, i64::from(self.limit)).await, self.jobs);
        let what = format!("raw BA, 2 claimers, K={}", self.limit);
        self.report(&what, started.elapsed(), self.cpu().since(before));
    }

    async fn insert(&self) {
        let (before, started) = (self.cpu(), Instant::now());
        fill(&self.store, "bench.noop", self.jobs).await;
        self.report("ours bulk insert by 1000", started.elapsed(), self.cpu().since(before));
    }

    /// Enqueues jobs one at a time, from several tasks.
    async fn enqueue(&self, tasks: usize) {
        let each = self.jobs / 10 / tasks;
        let (before, started) = (self.cpu(), Instant::now());
        let tasks: Vec<_> = (0..tasks)
            .map(|_| {
                let ratchet = self.ratchet.clone();
                tokio::spawn(async move {
                    for id in 0..each {
                        ratchet.enqueue(Noop { id: id as i64 }).await.expect("enqueues");
                    }
                })
            })
            .collect();
        let jobs = each * tasks.len();
        for task in tasks {
            task.await.expect("enqueues");
        }
        let some = Some(jobs);
        self.report_of(
            some,
            "ours single enqueue, 8 tasks",
            started.elapsed(),
            self.cpu().since(before),
        );
    }

    async fn verbs(&self, claimers: usize) {
        let (before, started) = (self.cpu(), Instant::now());
        let tasks = (0..claimers).map(|_| tokio::spawn(drain(self.store.clone(), self.limit)));
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("drains");
        }
        let what = format!("ours verbs, {claimers} claimers, K={}", self.limit);
        self.report(&what, started.elapsed(), self.cpu().since(before));
    }

    async fn engine(&self) {
        let first = spent(&self.pool).await;
        fill(&self.store, "bench.noop", self.jobs).await;
        let filled = spent(&self.pool).await;
        RAN.store(0, Ordering::Relaxed);
        let (before, started) = (self.cpu(), Instant::now());
        let worker = self.ratchet.start().await.expect("starts");
        while worker.stats().settled < self.jobs as u64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.report("ours engine", started.elapsed(), self.cpu().since(before));
        worker.stop().await;
        assert_eq!(RAN.load(Ordering::Relaxed), self.jobs, "each ran once");
        let last = spent(&self.pool).await;
        let per = |total: i64| total as f64 / self.jobs as f64;
        println!(
            "    WAL {:.0} B/job enqueue, {:.0} B/job enqueue to outcome, {:.4} commits/job in the drain",
            per(filled.0 - first.0),
            per(last.0 - first.0),
            per(last.1 - filled.1)
        );
    }

    /// Runs the fastest peer, through its adapter.
    fn graphile(&self, program: &str) {
        for phase in ["setup", "enqueue", "work", "bulk", "work"] {
            let jobs = if phase == "enqueue" { self.jobs / 50 } else { self.jobs }.to_string();
            let output = Command::new(program)
                .arg(phase)
                .env("DATABASE_URL", self.server.url())
                .envs([("N", jobs.as_str()), ("TOTAL", &jobs), ("CONC", "50"), ("BATCH", "1000")])
                .output()
                .expect("the peer runs");
            print!("graphile_worker {}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

async fn drain(store: PgStore, limit: u32) {
    let node = join(&store).await;
    let mut settlements = Vec::new();
    loop {
        let request = request(node, "bench.noop", limit);
        let (_, reply) = store.settle_and_claim(settlements, request).await.expect("goes on");
        if reply.jobs.is_empty() {
            return;
        }
        settlements = reply.jobs.iter().map(success).collect();
    }
}
