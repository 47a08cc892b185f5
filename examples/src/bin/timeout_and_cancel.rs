//! A run that exceeds its timeout is dropped and retried. A canceled run is notified first and dropped later.

use std::time::Duration;

use ratchet::prelude::*;
use ratchet::{Event, WaitError};
use ratchet_examples::Scratch;

/// Hangs on the first attempt.
#[job(timeout = "200ms", backoff = none, max_retries = 1)]
async fn fetch(#[inject] ctx: JobContext) -> String {
    if ctx.attempt() == 1 {
        std::future::pending::<()>().await;
    }
    "fetched at the second attempt".to_owned()
}

/// Runs until it is canceled.
#[job]
async fn polish(#[inject] ctx: JobContext) {
    ctx.cancellation().cancelled().await;
    println!("polish: asked to stop, putting the cloth away");
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("timeout-and-cancel").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let mut events = ratchet.events();
    let worker = ratchet.start().await?;

    let said = ratchet.enqueue(Fetch {}).await?.wait().await?;
    println!("fetch: {said}");

    let handle = ratchet.enqueue(Polish {}).await?;
    while let Some(event) = events.next().await {
        match event {
            Event::SoftTimeout { .. } => println!("event: most of the time is gone"),
            Event::TimedOut { .. } => println!("event: timed out"),
            Event::Started { job, .. } if job.id == handle.id() => break,
            _ => {}
        }
    }
    let first = handle.cancel().await?;
    let ended = handle.wait_for(Duration::from_secs(5)).await;
    let second = handle.cancel().await?;
    worker.stop().await;
    println!("cancel: {first}, and again: {second}");
    println!("wait: canceled is {}", matches!(ended, Err(WaitError::Canceled(_))));
    Ok(())
}
