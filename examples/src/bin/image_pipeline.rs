//! An image pipeline with progress: a job that reports how far it is, and resumes after a failure where it stopped.

use ratchet::prelude::*;
use ratchet::{Filter, PageRequest};
use ratchet_examples::Scratch;

const SIZES: [u32; 4] = [128, 256, 512, 1024];

#[derive(Debug, thiserror::Error)]
#[error("out of memory")]
struct OutOfMemory;

/// Makes one image per size. The checkpoint survives a failed attempt, so no size is made twice.
#[job(queue = "images", max_retries = 2, backoff = fixed("10ms"))]
async fn resize(#[inject] ctx: JobContext, image: String) -> Result<Vec<String>, JobError> {
    let mut files: Vec<String> = ctx.checkpoint()?.unwrap_or_default();
    for size in SIZES.into_iter().skip(files.len()) {
        if size == 512 && ctx.attempt() == 1 {
            println!("attempt 1: out of memory at {size} px, {} files are done", files.len());
            return Err(OutOfMemory.into());
        }
        files.push(format!("{image}-{size}.webp"));
        ctx.set_checkpoint(&files)?;
        ctx.set_progress(100.0 * files.len() as f32 / SIZES.len() as f32, format!("{size} px"));
        println!("attempt {}: {size} px", ctx.attempt());
    }
    Ok(files)
}

/// Takes what `resize` returned.
#[job(queue = "images")]
async fn publish(#[input] files: Vec<String>) -> usize {
    println!("published {}", files.join(", "));
    files.len()
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("image-pipeline").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    let pipeline = ratchet.chain(Resize { image: "cat".to_owned() }).then(Publish {}).await?;
    pipeline.wait().await?;
    // Progress is stored with the job. The dashboard shows it while the job runs.
    for job in ratchet.jobs().list(&Filter::any(), PageRequest::default()).await?.jobs {
        if let Some(progress) = &job.progress {
            println!("{}: {:.0} % ({})", job.spec.name, progress.percent, progress.message);
        }
    }
    worker.stop().await;
    Ok(())
}
