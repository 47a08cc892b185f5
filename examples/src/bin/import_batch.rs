//! A batch of imports: invalid rows are rejected, the other rows are imported, and a report runs at the end.

use ratchet::model::RejectFilter;
use ratchet::prelude::*;
use ratchet_examples::Scratch;

/// Imports one file. It fails if more than two rows are invalid.
#[job(max_retries = 0)]
async fn import_file(#[inject] ctx: JobContext, rows: Vec<String>) -> usize {
    ctx.allow_rejects(2);
    let mut good = 0;
    for (index, row) in (0..).zip(&rows) {
        match row.parse::<u32>() {
            Ok(_) => good += 1,
            Err(error) => ctx.reject_item(index, error),
        }
    }
    good
}

/// Runs when all imports have ended, whether they succeeded or failed.
#[job]
async fn report(#[inject] batch: GroupReport) {
    let counts = batch.counts;
    println!(
        "report: {} {}, {} of {} files imported",
        batch.name, batch.state, counts.succeeded, counts.total
    );
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("import_batch").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let mut events = ratchet.events();
    let files = ["1 2 3", "4 five 6", "x y z"];
    let rows = files.map(|file| file.split(' ').map(str::to_owned).collect());
    let batch = ratchet
        .batch("monday")
        .jobs(rows.map(|rows| ImportFile { rows }))
        .on_complete(Report {})
        .await?;
    let worker = ratchet.start().await?;
    batch.wait().await?;
    while let Some(event) = events.next().await {
        if matches!(&event, ratchet::Event::Succeeded { job, .. } if job.name.ends_with("report")) {
            break;
        }
    }
    for group in ratchet.rejects().groups(&RejectFilter::any()).await? {
        println!("rejects: {} × {}", group.count, group.error_type);
    }
    worker.stop().await;
    Ok(())
}
