//! A server that jobs call is down for half a minute, under load, with three worker processes.
//!
//! `outage [pg|sqlite]`. Checks that the outage uses retries once per cluster and not once per node, that failed probes
//! use none, and that all jobs succeed when the server is back.

use std::process::Child;
use std::time::{Duration, Instant};

use ratchet::model::AttemptOutcome;
use ratchet::{JobError, JobState, Ratchet, job};
use ratchet_bench_guards::{Scratch, all_ended, end, every_run, everything, open, worker_arguments};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const WORKERS: usize = 3;
const CONCURRENCY: u32 = 10;
const WINDOW: u32 = 20;
const UP: Duration = Duration::from_secs(8);
const DOWN: Duration = Duration::from_secs(30);
const RATE: u64 = 100;

#[job(name = "bench.call", max_retries = 4, backoff = fixed("1s"))]
#[circuit_breaker(service = "echo", window = 20, min_calls = 5, failure_rate = 50, open_for = "5s", probes = 3)]
async fn call(port: u16) -> Result<u8, JobError> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    tokio::time::sleep(Duration::from_millis(20)).await;
    stream.write_all(&[7]).await?;
    let answer = stream.read_u8().await?;
    Ok(answer)
}

#[tokio::main]
async fn main() {
    if let Some((address, _)) = worker_arguments() {
        return work(&address).await;
    }
    let scratch = Scratch::new();
    let ratchet = Ratchet::builder_shared(open(&scratch.address()).await).build().await.expect("builds");
    let mut server = Echo::start(0).await;
    let port = server.port;
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| scratch.worker(&[])).collect();

    let started = Instant::now();
    let (mut submitted, mut seen, mut down_at, mut up_at) = (0_u64, None, None, None);
    while started.elapsed() < UP + DOWN + Duration::from_secs(5) {
        let now = started.elapsed();
        if now >= UP && down_at.is_none() {
            server.stop();
            down_at = Some(jiff::Timestamp::now());
            println!("{:6.1} s  the server is gone", now.as_secs_f64());
        }
        if now >= UP + DOWN && up_at.is_none() {
            server = Echo::start(port).await;
            up_at = Some(jiff::Timestamp::now());
            println!("{:6.1} s  the server is back", now.as_secs_f64());
        }
        // Submit at a constant rate.
        let due = now.as_millis() as u64 * RATE / 1000;
        if due > submitted {
            let jobs = (submitted..due).map(|_| Call { port });
            submitted += ratchet.enqueue_many(jobs).await.expect("enqueues").len() as u64;
        }
        tell(&ratchet, &started, &mut seen).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let ended = all_ended(&ratchet, submitted, Duration::from_secs(60)).await;
    tell(&ratchet, &started, &mut seen).await;
    let jobs = everything(&ratchet).await;
    let runs = every_run(&ratchet, &jobs).await;
    end(&mut workers);
    let (down_at, up_at) = (down_at.expect("down"), up_at.expect("up"));
    let during = |line: &&ratchet::model::AttemptRecord| line.finished_at >= down_at;
    let failed = runs.iter().filter(during).filter(|line| line.outcome == AttemptOutcome::Failure);
    let failed = failed.count();
    let probes = runs.iter().filter(|line| line.outcome == AttemptOutcome::BreakerOpen).count();
    let succeeded = jobs.iter().filter(|job| job.state == JobState::Succeeded).count() as u64;
    let most = jobs.iter().map(|job| job.attempts).max().unwrap_or(0);
    let touched = jobs.iter().filter(|job| job.attempts > 0).count();
    let recovered = runs.iter().map(|line| line.finished_at).max().expect("runs");
    // Half a window of failures opens the breaker. More can fail: they were in flight or claimed before it opened.
    let in_flight = WORKERS * CONCURRENCY as usize;
    let bound = (WINDOW as usize).div_ceil(2) + 2 * in_flight;
    println!("{submitted} jobs, {succeeded} succeeded; last one {:.1} s after the server was back",
        recovered.duration_since(up_at).as_secs_f64());
    println!("attempts used by the outage: {failed} (bound {bound} = half a window {} + 2 × {in_flight} in flight), \
        on {touched} jobs, at most {most} each; failed trial runs, which used none: {probes}", WINDOW / 2);
    assert!(ended && succeeded == submitted && failed <= bound && failed >= 5 && probes > 0);
    drop(server);
}

/// Prints the state of the breaker if it has changed.
async fn tell(ratchet: &Ratchet, started: &Instant, seen: &mut Option<String>) {
    let Some(record) = ratchet.breakers().get("echo").await.expect("reads") else { return };
    let state = format!("{:?}", record.state);
    let kind = state.split([' ', '{']).next().unwrap_or_default().to_owned();
    if seen.as_ref() != Some(&kind) {
        println!("{:6.1} s  breaker: {kind}", started.elapsed().as_secs_f64());
        *seen = Some(kind);
    }
}

async fn work(address: &str) {
    let builder = Ratchet::builder_shared(open(address).await).concurrency(CONCURRENCY);
    let worker = builder.build().await.expect("builds").start().await.expect("starts");
    worker.stopped().await;
}

/// A TCP echo server.
struct Echo {
    port: u16,
    task: tokio::task::JoinHandle<()>,
}

impl Echo {
    async fn start(port: u16) -> Self {
        let listener = loop {
            match TcpListener::bind(("127.0.0.1", port)).await {
                Ok(listener) => break listener,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        let port = listener.local_addr().expect("bound").port();
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                open.spawn(async move {
                    while let Ok(byte) = stream.read_u8().await {
                        if stream.write_all(&[byte]).await.is_err() {
                            break;
                        }
                    }
                });
                while open.try_join_next().is_some() {}
            }
        });
        Self { port, task }
    }

    fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop();
    }
}
