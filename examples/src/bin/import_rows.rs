//! An import of 100,000 rows as a batch: one job per 1,000 rows, rejected rows in groups, and a report at the end.

use ratchet::model::RejectFilter;
use ratchet::prelude::*;
use ratchet_examples::Scratch;

const ROWS: u64 = 100_000;
const CHUNK: u64 = 1_000;

/// Imports the rows from `start` on. One row in a hundred may be invalid; more is a failure.
#[job(queue = "imports", max_retries = 0)]
async fn import_rows(#[inject] ctx: JobContext, start: u64) -> u64 {
    ctx.allow_reject_rate(0.01, CHUNK);
    let mut imported = 0;
    for row in start..start + CHUNK {
        // The source of this example writes "n/a" into every 5,000th row.
        let cell = if row % 5_000 == 0 { "n/a".to_owned() } else { row.to_string() };
        match cell.parse::<u64>() {
            Ok(_) => imported += 1,
            Err(error) => ctx.reject_item(row, error),
        }
    }
    imported
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("import-rows").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    let starts = (0..ROWS).step_by(CHUNK as usize);
    let batch =
        ratchet.batch("customers.csv").jobs(starts.map(|start| ImportRows { start })).await?;
    let report = batch.wait().await?;
    let counts = report.counts;
    println!("{} of {} chunks imported: {}", counts.succeeded, counts.total, report.state);
    for group in ratchet.rejects().groups(&RejectFilter::any()).await? {
        println!("rejected: {} × {}", group.count, group.error_type);
    }
    worker.stop().await;
    Ok(())
}
