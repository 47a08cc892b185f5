//! Compares the drain of a queue with metering and tracing on and off, in one run: `metering pg|sqlite [turns] [jobs]`.
//!
//! One process per variant. They take short turns, so that other load on the machine affects all of them:
//!
//! - `off`: no metering, no subscriber
//! - `on`: metering
//! - `filtered`: metering, and a subscriber that filters the spans of runs out
//! - `logged`: metering, and a subscriber that keeps the spans of runs and discards its output

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratchet::{Ratchet, SqliteStore, Store, job};
use ratchet_bench_pg::cpu::cpu;
use ratchet_bench_pg::{Server, fill};
use ratchet_pg::PgStore;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;

const VARIANTS: [&str; 4] = ["off", "on", "filtered", "logged"];

#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
}

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["child", variant, address] => child(variant, address),
        [store, ref rest @ ..] => {
            let number =
                |at: usize, default| rest.get(at).and_then(|n| n.parse().ok()).unwrap_or(default);
            compare(store, number(0, 40), number(1, 5000));
        }
        [] => panic!("usage: metering pg|sqlite [turns] [jobs]"),
    }
}

/// A process that drains on command.
struct Side {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Side {
    fn start(variant: &str, address: &str) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut process = Command::new(program)
            .args(["child", variant, address])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let commands = process.stdin.take().expect("is piped");
        let answers = BufReader::new(process.stdout.take().expect("is piped"));
        Self { process, commands, answers }
    }

    /// Drains this many jobs. Returns the wall time and the CPU time of the process in microseconds per job.
    fn turn(&mut self, jobs: usize) -> (f64, f64) {
        writeln!(self.commands, "{jobs}").expect("writes");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("reads");
        let (clock, spent) = answer.trim().split_once(' ').expect("two numbers");
        (clock.parse().expect("a number"), spent.parse().expect("a number"))
    }
}

fn compare(store: &str, turns: usize, jobs: usize) {
    let server = (store == "pg").then(Server::start);
    let folder = std::env::temp_dir().join(format!("ratchet-metering-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut sides = VARIANTS.map(|variant| {
        let address = match &server {
            Some(server) => {
                server.create(variant);
                server.url_of(variant)
            }
            None => folder.join(format!("{variant}.db")).display().to_string(),
        };
        Side::start(variant, &address)
    });
    let mut times: [Vec<f64>; VARIANTS.len()] = Default::default();
    let mut cpu = [0.0; VARIANTS.len()];
    // The first turns are warm-up.
    for turn in 0..turns + 3 {
        for position in 0..VARIANTS.len() {
            // Each variant is equally often first, second and so on.
            let variant = (position + turn) % VARIANTS.len();
            let (took, spent) = sides[variant].turn(jobs);
            if turn >= 3 {
                times[variant].push(took);
                cpu[variant] += spent / turns as f64;
            }
        }
    }
    for Side { mut process, commands, .. } in sides {
        drop(commands);
        process.wait().expect("ends");
    }
    println!("{store}, {turns} turns of {jobs} jobs each");
    println!(
        "| variant | µs per job, median | speed, compared with `off` | middle half of the ratios | CPU time of the worker, µs per job | `off` divided by it |"
    );
    println!("|---|---:|---:|---|---:|---:|");
    for ((variant, took), spent) in VARIANTS.iter().zip(&times).zip(cpu) {
        let mut ratios: Vec<_> = times[0].iter().zip(took).map(|(off, took)| off / took).collect();
        ratios.sort_by(f64::total_cmp);
        let quarter = ratios.len() / 4;
        println!(
            "| {variant} | {:.2} | {:.3} | {:.2} to {:.2} | {spent:.2} | {:.3} |",
            median(took),
            median(&ratios),
            ratios[quarter],
            ratios[ratios.len() - quarter - 1],
            cpu[0] / spent
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

#[tokio::main]
async fn child(variant: &str, address: &str) {
    let spans = if variant == "logged" { LevelFilter::TRACE } else { LevelFilter::OFF };
    if matches!(variant, "filtered" | "logged") {
        let filter =
            Targets::new().with_default(LevelFilter::WARN).with_target("ratchet::run", spans);
        let output = tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        let subscriber = tracing_subscriber::registry().with(filter).with(output);
        tracing::subscriber::set_global_default(subscriber).expect("the first");
    }
    let store: Arc<dyn Store> = if address.starts_with("postgres:") {
        Arc::new(PgStore::connect(address).await.expect("opens"))
    } else {
        Arc::new(SqliteStore::open(address).await.expect("opens"))
    };
    let ratchet = Ratchet::builder_shared(Arc::clone(&store)).concurrency(500);
    let ratchet = ratchet.metering(variant != "off").build().await.expect("builds");
    for line in std::io::stdin().lines() {
        let jobs: usize = line.expect("readable").parse().expect("a number");
        fill(&*store, "bench.noop", jobs).await;
        // Only the time of this process is used.
        let spent = || cpu(Path::new("")).client;
        let (before, started) = (spent(), Instant::now());
        let worker = ratchet.start().await.expect("starts");
        while worker.stats().settled < jobs as u64 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let (took, spent) = (started.elapsed().as_secs_f64(), spent() - before);
        worker.stop().await;
        let per_job = 1e6 / jobs as f64;
        println!("{} {}", took * per_job, spent * per_job);
    }
}
