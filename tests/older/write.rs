//! Fills a store with version 0.1.0: `write sqlite:FILE|postgres://… everything|waiting`.
//!
//! `everything` is one job or group of each kind, in each state. `waiting` is what the crash matrix needs: jobs and a
//! chain that have not started. The program ends without stopping its worker, so one job is left running.

use std::time::Duration;

use ratchet::prelude::*;
use ratchet::{Filter, JobState, PageRequest, QueueLimits, Store};
use std::sync::Arc;

#[job(name = "older.echo", max_retries = 3, backoff = fixed("10ms"))]
async fn echo(#[inject] ctx: JobContext, text: String, fails: u32) -> Result<String, JobError> {
    ctx.info(format!("attempt {}", ctx.attempt()));
    ctx.progress(50.0, "half");
    if ctx.attempt() <= fails { Err(JobError::msg("as requested")) } else { Ok(text) }
}

#[job(name = "older.next")]
async fn next(#[input] text: String) -> String {
    format!("{text}!")
}

#[job(name = "older.join")]
async fn join(#[input(step = "left")] left: String, #[input(step = "right")] right: String) -> String {
    format!("{left}{right}")
}

#[job(name = "older.report")]
async fn report(#[inject] group: ratchet::GroupReport) -> u64 {
    group.counts.succeeded
}

#[job(name = "older.thank")]
async fn thank(#[inject] finished: Finished<Parent>) -> String {
    finished.outcome.unwrap_or_default()
}

#[job(name = "older.parent", on_success = Thank)]
async fn parent(text: String) -> String {
    text
}

#[job(name = "older.items")]
async fn items(#[inject] ctx: JobContext) -> Result<(), JobError> {
    ctx.reject_item_with(7, JobError::msg("not a number"), &"seven")?;
    ctx.save_checkpoint(&7)?;
    ctx.hand_off("older-pages", "page-1", &"first page")?;
    Ok(())
}

#[job(name = "older.stuck", queue = "stuck")]
async fn stuck(#[inject] ctx: JobContext) {
    ctx.cancellation().cancelled().await;
}

#[job(name = "older.tick")]
async fn tick() {}

#[job(name = "proof.work", max_retries = 5, backoff = fixed("50ms"))]
async fn work(nap: u64, fails: u32) -> u32 {
    u32::try_from(nap).unwrap_or(fails)
}

#[job(name = "proof.first")]
async fn first(from: u32) -> u32 {
    from
}

#[job(name = "proof.next")]
async fn count(#[input] count: u32) -> u32 {
    count + 1
}

const YEARS: Duration = Duration::from_secs(100 * 365 * 86_400);

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let store: Arc<dyn Store> = match args[1].strip_prefix("sqlite:") {
        Some(file) => Arc::new(ratchet::SqliteStore::open(file).await?),
        None => Arc::new(ratchet::PgStore::connect(&args[1]).await?),
    };
    let ratchet = Ratchet::builder_over(store)
        .queue("default", |queue| queue)
        .queue("stuck", |queue| queue)
        .concurrency(2)
        .build()
        .await?;
    match args[2].as_str() {
        "waiting" => waiting(&ratchet).await?,
        _ => everything(&ratchet).await?,
    }
    // The process ends with a job that it has claimed.
    std::process::exit(0);
}

/// Prints the label and the id of each submit, as the diary of the crash tests wants them.
async fn waiting(ratchet: &Ratchet) -> anyhow::Result<()> {
    for n in 0..6 {
        println!("ack {n} {}", ratchet.enqueue(Work { nap: 10, fails: 0 }).await?.id().uuid());
    }
    let chain = ratchet.chain(First { from: 1 }).then(Count {}).then(Count {}).await?;
    println!("ack 6 {}", chain.id().uuid());
    Ok(())
}

async fn everything(ratchet: &Ratchet) -> anyhow::Result<()> {
    let echo = |text: &str, fails| Echo { text: text.into(), fails };
    let worker = ratchet.start().await?;
    // What has ended: with an output, after a retry, as a dead letter, canceled.
    ratchet.enqueue(echo("done", 0)).idempotency_key("older-done").tag("old").tenant("acme").await?.wait().await?;
    ratchet.enqueue(echo("retried", 1)).correlation_id("trip-1").await?.wait().await?;
    let dead = ratchet.enqueue(echo("dead", 9)).await?;
    assert!(dead.wait().await.is_err());
    let again = ratchet.enqueue(echo("paused dead", 9)).await?;
    assert!(again.wait().await.is_err());
    ratchet.pause(again.id()).await?;
    let canceled = ratchet.enqueue(echo("canceled", 0)).delay(YEARS).await?;
    canceled.cancel().await?;
    ratchet.enqueue(Items {}).await?.wait().await?;
    ratchet.enqueue(Parent { text: "called back".into() }).await?.wait().await?;
    ratchet.chain(echo("chained", 0)).then(Next {}).await?.wait().await?;
    let batch = ratchet.batch("older-batch").jobs([echo("a", 0), echo("b", 0)]);
    batch.on_complete(Report {}).await?.wait().await?;
    let quiet = || async {
        let pending = Filter::any().state(JobState::Pending);
        let page = PageRequest { before: None, limit: 10 };
        anyhow::Ok(ratchet.list(&pending, page).await?.jobs.is_empty())
    };
    while !quiet().await? {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // What waits: from now on the queue is paused.
    ratchet.queues().pause("default").await?;
    ratchet.enqueue(echo("waiting", 0)).business_key("order-1").priority(Priority::High).await?;
    ratchet.enqueue(echo("tagged", 0)).tags(["a", "b"]).tenant("acme").await?;
    ratchet.enqueue(echo("later", 0)).delay(YEARS).await?;
    let paused = ratchet.enqueue(echo("paused", 0)).await?;
    ratchet.pause(paused.id()).await?;
    for _ in 0..2 {
        ratchet.enqueue(echo("one at a time", 0)).concurrency_key("one", 1).await?;
    }
    ratchet.chain(echo("chain", 0)).then(Next {}).then(Next {}).await?;
    let mut flow = ratchet.workflow("older-flow");
    let left = flow.step("left", echo("l", 0), |step| step);
    let right = flow.step("right", echo("r", 0), |step| step);
    flow.step("join", Join {}, |step| step.after(&left).after(&right));
    flow.await?;
    let batch = ratchet.batch("older-open").jobs([echo("c", 0), echo("d", 0), echo("e", 0)]);
    batch.on_complete(Report {}).await?;
    ratchet.enqueue(Parent { text: "calls back later".into() }).await?;
    ratchet.schedules().declare("older-tick", "0 30 2 * * *", Tick {}).zone("Europe/Berlin").await?;
    ratchet.schedules().declare("older-paused", "0 0 0 1 1 *", Tick {}).await?;
    ratchet.schedules().pause("older-paused").await?;
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(4);
    ratchet.queues().limit("limited", limits).await?;
    ratchet.breakers().open("older-service", Some(YEARS)).await?;
    // What runs: its process is about to end.
    let stuck = ratchet.enqueue(Stuck {}).await?;
    while stuck.status().await? != Some(JobState::Running) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(worker);
    Ok(())
}
