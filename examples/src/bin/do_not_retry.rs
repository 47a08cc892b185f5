//! An error marked `#[do_not_retry]` is not retried, at any depth of the source chain.

use anyhow::Context as _;
use ratchet::WaitError;
use ratchet::prelude::*;
use ratchet_examples::Scratch;

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error("the file is locked")]
    Locked,
    #[error("line {line} is not CSV")]
    #[do_not_retry(reason = "the file must be mended first")]
    NotCsv { line: u32 },
}

fn parse(attempt: u32) -> Result<(), ImportError> {
    if attempt == 1 { Err(ImportError::Locked) } else { Err(ImportError::NotCsv { line: 7 }) }
}

/// Imports a file. The first attempt finds it locked, which is retried; the second finds it broken, which is not.
#[job(max_retries = 10, backoff = fixed("50ms"))]
async fn import(#[inject] ctx: JobContext, file: String) -> anyhow::Result<()> {
    println!("attempt {}", ctx.attempt());
    parse(ctx.attempt()).with_context(|| format!("cannot read {file}")).context("the import failed")
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("do-not-retry").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    let handle = ratchet.enqueue(Import { file: "orders.csv".to_owned() }).await?;
    if let Err(WaitError::Failed(envelope)) = handle.wait().await {
        println!("{} after {} attempts", envelope.reason, envelope.attempts);
        println!("{}", envelope.failure.message);
        println!("reason: {}", envelope.explanation.as_deref().unwrap_or_default());
    }
    worker.stop().await;
    Ok(())
}
