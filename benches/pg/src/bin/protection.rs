//! What signatures and encryption cost (`docs/proof/protection-cost.md`): the drain of plain, signed and encrypted jobs on
//! PostgreSQL, in short turns that alternate.
//!
//! `protection [TURNS] [JOBS]` prints one table for arguments of 64 bytes and one for 1 KiB. Each variant has its own
//! database on one server, and all of them run in this process, one at a time. With `--bars` the program fails if signed jobs
//! reach less than 0.9 of the speed of plain ones, or encrypted jobs less than 0.8, with 64 bytes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratchet::{Ratchet, job};
use ratchet_bench_pg::cpu::cpu;
use ratchet_bench_pg::{Server, percentile};
use ratchet_core::{Encrypt, Key, Keyring, Purpose};
use ratchet_pg::PgStore;
use sqlx::PgPool;

/// The variants, with the part of the speed of plain jobs that each must reach.
const VARIANTS: [(&str, f64); 3] = [("plain", 1.0), ("signed", 0.9), ("encrypted", 0.8)];

/// Turns that are not counted.
const WARM_UP: usize = 2;

#[job(name = "bench.carry")]
async fn carry(text: String) {
    let _ = text;
}

#[tokio::main]
async fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let bars = args.iter().any(|arg| arg == "--bars");
    let mut numbers = args.iter().filter_map(|arg| arg.parse::<usize>().ok());
    let (turns, jobs) = (numbers.next().unwrap_or(40), numbers.next().unwrap_or(2000));
    let server = Server::start();
    let mut missed = Vec::new();
    for bytes in [64, 1024] {
        let mut sides = Vec::new();
        for (variant, _) in VARIANTS {
            sides.push(Side::open(&server, variant, bytes).await);
        }
        // The first turns are warm-up.
        for turn in 0..turns + WARM_UP {
            for position in 0..sides.len() {
                // Each variant is equally often first, second and third.
                let at = (position + turn) % sides.len();
                sides[at].turn(jobs, turn >= WARM_UP).await;
            }
        }
        println!("\n{bytes} bytes, {turns} turns of {jobs} jobs each\n");
        let ratios = report(&mut sides).await;
        let below = VARIANTS.iter().zip(ratios).filter(|((_, bar), ratio)| ratio < bar);
        missed.extend(below.filter(|_| bytes == 64).map(|((variant, _), _)| *variant));
    }
    assert!(!bars || missed.is_empty(), "below the bar: {missed:?}");
}

/// One variant with its database.
struct Side {
    variant: &'static str,
    ratchet: Ratchet,
    pool: PgPool,
    text: String,
    data: PathBuf,
    /// Wall time, and CPU time of worker and server, in microseconds per job.
    wall: Vec<f64>,
    spent: Vec<f64>,
    submit: Vec<f64>,
    submitted: usize,
    empty: i64,
}

impl Side {
    async fn open(server: &Server, variant: &'static str, bytes: usize) -> Self {
        let database = format!("{variant}_{bytes}");
        server.create(&database);
        let url = server.url_of(&database);
        let store = PgStore::connect(&url).await.expect("opens");
        let builder = Ratchet::builder_shared(Arc::new(store)).concurrency(500);
        let sign = Key::from_bytes("s1", Purpose::Sign, [1; 32]).expect("a key");
        let encrypt = Key::from_bytes("e1", Purpose::Encrypt, [2; 32]).expect("a key");
        let keyring = |keys: Vec<Key>| Keyring::new(keys).expect("a keyring");
        let builder = match variant {
            "signed" => builder.keyring(keyring(vec![sign])),
            // Encrypted jobs are signed too, as in the guide.
            "encrypted" => builder.keyring(keyring(vec![sign, encrypt])).encrypt(Encrypt::All),
            _ => builder,
        };
        let ratchet = builder.build().await.expect("builds");
        let pool = PgPool::connect(&url).await.expect("connects");
        let empty = size(&pool).await;
        // `{"text":"` and `"}`
        let text = "x".repeat(bytes - 11);
        let (wall, spent, submit) = (Vec::new(), Vec::new(), Vec::new());
        let data = server.data();
        Self { variant, ratchet, pool, text, data, wall, spent, submit, submitted: 0, empty }
    }

    /// Submits and drains this many jobs.
    async fn turn(&mut self, jobs: usize, counts: bool) {
        let per_job = 1e6 / jobs as f64;
        let started = Instant::now();
        for start in (0..jobs).step_by(500) {
            let batch = (start..jobs.min(start + 500)).map(|_| Carry { text: self.text.clone() });
            self.ratchet.enqueue_many(batch).await.expect("enqueues");
        }
        let submit = started.elapsed().as_secs_f64() * per_job;
        self.submitted += jobs;
        let (before, started) = (cpu(&self.data), Instant::now());
        let worker = self.ratchet.start().await.expect("starts");
        while worker.stats().settled < jobs as u64 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let wall = started.elapsed().as_secs_f64() * per_job;
        let spent = cpu(&self.data).since(before);
        worker.stop().await;
        if counts {
            self.submit.push(submit);
            self.wall.push(wall);
            self.spent.push((spent.client + spent.server) * per_job);
        }
    }
}

/// Returns the size of a database in bytes.
async fn size(pool: &PgPool) -> i64 {
    let sql = "SELECT pg_database_size(current_database())";
    sqlx::query_scalar(sql).fetch_one(pool).await.expect("an answer")
}

/// Prints the table. Returns the drain speed of each variant, compared with plain jobs.
async fn report(sides: &mut [Side]) -> Vec<f64> {
    println!(
        "| variant | drain, µs per job | drain, speed compared with plain | middle half of the ratios | CPU time of worker and server, µs per job | bulk submit, µs per job | payload, bytes | database, bytes per finished job |"
    );
    println!("|---|---:|---:|---|---:|---:|---:|---:|");
    let plain = sides[0].wall.clone();
    let mut speeds = Vec::new();
    for side in sides {
        // Turns that follow each other are compared, because the load of the machine changes.
        let mut ratios: Vec<_> =
            plain.iter().zip(&side.wall).map(|(plain, it)| plain / it).collect();
        let payload: f64 = sqlx::query_scalar(
            "SELECT avg(octet_length(payload))::float8 FROM (SELECT payload FROM ratchet.job LIMIT 1000) job",
        )
        .fetch_one(&side.pool)
        .await
        .expect("an answer");
        let stored = (size(&side.pool).await - side.empty) / side.submitted as i64;
        let speed = percentile(&mut ratios, 0.5);
        println!(
            "| {} | {:.1} | {speed:.2} | {:.2} to {:.2} | {:.1} | {:.1} | {payload:.0} | {stored} |",
            side.variant,
            percentile(&mut side.wall, 0.5),
            percentile(&mut ratios, 0.25),
            percentile(&mut ratios, 0.75),
            percentile(&mut side.spent, 0.5),
            percentile(&mut side.submit, 0.5),
        );
        speeds.push(speed);
    }
    speeds
}
