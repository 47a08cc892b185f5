//! A worker with a health server, for `scripts/dashboards`: `observed ADDRESS`. Reads commands from its input:
//!
//! - `fail`, `succeed`: the payment service fails or works again
//! - `block`, `unblock`: the runs of queue `slow` do not end, or go on
//! - `redrive`: retries the dead letters
//! - `stop`: stops the worker

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratchet::manage::Redrive;
use ratchet::prelude::*;
use ratchet::{Filter, MemoryStore};
use tokio::io::{AsyncBufReadExt as _, BufReader};

static FAILS: AtomicBool = AtomicBool::new(false);
static BLOCKS: AtomicBool = AtomicBool::new(false);

/// Has a breaker, which opens when the service fails.
#[circuit_breaker(service = "payments", open_for = "2s", min_calls = 5)]
#[job(name = "observed.pay", queue = "payments", max_retries = 0)]
async fn pay(number: u32) -> Result<u32, JobError> {
    tokio::time::sleep(Duration::from_millis(u64::from(number % 20))).await;
    if FAILS.load(Ordering::Relaxed) {
        Err(JobError::msg("the gateway is down"))
    } else {
        Ok(number)
    }
}

#[job(name = "observed.charge", queue = "charges", max_retries = 0)]
async fn charge() -> Result<(), JobError> {
    if FAILS.load(Ordering::Relaxed) {
        Err(JobError::msg("the card reader is down"))
    } else {
        Ok(())
    }
}

#[job(name = "observed.slow", queue = "slow")]
async fn slow() {
    while BLOCKS.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).expect("usage: observed ADDRESS");
    let ratchet = Ratchet::builder(MemoryStore::new())
        .program("observed")
        .binary_version("1.0.0")
        .queue("slow", |queue| queue.concurrency(2))
        .build()
        .await?;
    let worker = ratchet.start().await?;
    let health = ratchet.serve_health(&*address)?;
    println!("listens on {}", health.addr());
    let submitting = ratchet.clone();
    let load = tokio::spawn(async move {
        for number in 0.. {
            submitting.enqueue(Pay { number }).await.expect("enqueues");
            if number % 10 == 0 {
                submitting.enqueue(Charge {}).await.expect("enqueues");
                submitting.enqueue(Slow {}).await.expect("enqueues");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    while let Some(command) = commands.next_line().await? {
        match command.as_str() {
            "fail" | "succeed" => FAILS.store(command == "fail", Ordering::Relaxed),
            "block" | "unblock" => BLOCKS.store(command == "block", Ordering::Relaxed),
            "redrive" => {
                let all = Redrive::new(Filter::any()).limit(100_000).pace(Duration::ZERO);
                println!(
                    "{} dead letters are retried",
                    ratchet.jobs().redrive(all).await?.retried.len()
                );
            }
            "stop" => break,
            other => eprintln!("`{other}` is not known"),
        }
    }
    load.abort();
    BLOCKS.store(false, Ordering::Relaxed);
    worker.stop().await;
    Ok(())
}
