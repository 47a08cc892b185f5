//! Callbacks are durable jobs that run once when another job has ended. They receive its arguments and outcome.

use std::time::Duration;

use ratchet::prelude::*;
use ratchet_examples::Scratch;

/// Ships a parcel, or fails if it is lost.
#[job(max_retries = 2, backoff = none, on_success = Thank, on_failure = Apologise)]
async fn ship(#[inject] ctx: JobContext, parcel: u32, lost: bool) -> Result<String, JobError> {
    println!("ship: parcel {parcel}, attempt {}", ctx.attempt());
    if lost { Err(JobError::msg("the lorry is gone")) } else { Ok(format!("TRACK-{parcel}")) }
}

/// Runs after `ship` has succeeded.
#[job]
async fn thank(#[inject] finished: Finished<Ship>) {
    println!(
        "thank: parcel {} travels as {}",
        finished.args.parcel,
        finished.outcome.unwrap_or_default()
    );
}

/// Runs after `ship` has failed permanently. It does not run before a retry.
#[job]
async fn apologise(#[inject] finished: Finished<Ship>) {
    let Err(envelope) = finished.outcome else { return };
    println!(
        "apologise: parcel {} after {} attempts: {}",
        finished.args.parcel, finished.attempts, envelope.failure.message
    );
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("callbacks").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    for (parcel, lost) in [(1, false), (2, true)] {
        let mut events = ratchet.events();
        let handle = ratchet.enqueue(Ship { parcel, lost }).await?;
        let _ = handle.wait_for(Duration::from_secs(10)).await;
        // Wait for the callback: it is the next job that succeeds.
        while let Some(event) = events.next().await {
            if matches!(&event, ratchet::Event::Succeeded { job, .. } if job.id != handle.id()) {
                break;
            }
        }
    }
    worker.stop().await;
    Ok(())
}
