//! The jobs of the processes under test. Every handler records its start and end in the diary.

#![allow(clippy::unused_async, reason = "the shape of a job, whatever it does")]

use std::time::Duration;

use ratchet::State;
use ratchet::graph::GroupReport;
use ratchet::prelude::*;

use crate::diary::Diary;

/// Sleeps for `nap` milliseconds, and fails in its first `fails` attempts.
#[job(name = "proof.work", max_retries = 5, backoff = fixed("50ms"))]
pub async fn work(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    nap: u64,
    fails: u32,
) -> Result<u32, JobError> {
    diary.effect("start", &ctx);
    // A repeated run takes longer, so that a process that was believed dead can still settle its own outcome.
    let nap = if repeated(&ctx) { nap.max(400) } else { nap };
    tokio::time::sleep(Duration::from_millis(nap)).await;
    if ctx.attempt() <= fails {
        diary.effect("err", &ctx);
        return Err(JobError::msg("as requested"));
    }
    diary.effect("ok", &ctx);
    Ok(1)
}

/// Fails in its first run, which also counts as a failure of its service.
#[job(name = "proof.fragile", max_retries = 5, backoff = fixed("50ms"))]
#[circuit_breaker(
    service = "proof",
    failure_rate = 50,
    min_calls = 2,
    open_for = "200ms",
    probes = 1
)]
pub async fn fragile(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
) -> Result<u32, JobError> {
    first_run_fails(&ctx, &diary)
}

/// Fails permanently in its first run.
#[job(name = "proof.mended", max_retries = 0)]
pub async fn mended(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
) -> Result<u32, JobError> {
    first_run_fails(&ctx, &diary)
}

fn first_run_fails(ctx: &JobContext, diary: &Diary) -> Result<u32, JobError> {
    diary.effect("start", ctx);
    if run(ctx) == 1 {
        diary.effect("err", ctx);
        return Err(JobError::msg("the first time never works"));
    }
    diary.effect("ok", ctx);
    Ok(1)
}

/// Snoozes twice.
#[job(name = "proof.sleepy")]
pub async fn sleepy(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
) -> Result<u32, JobError> {
    diary.effect("start", &ctx);
    let before: u32 = ctx.checkpoint()?.unwrap_or(0);
    if before < 2 {
        ctx.set_checkpoint(&(before + 1))?;
        diary.effect("err", &ctx);
        return Err(ratchet::failure::snooze(Duration::from_millis(40)).into());
    }
    diary.effect("ok", &ctx);
    Ok(before)
}

/// Returns the number of the run.
fn run(ctx: &JobContext) -> u64 {
    let key = ctx.transition_key();
    key.rsplit(':').next().and_then(|run| run.parse().ok()).unwrap_or(1)
}

/// Returns whether an earlier run of this attempt was lost.
fn repeated(ctx: &JobContext) -> bool {
    run(ctx) > u64::from(ctx.attempt())
}

/// Never succeeds.
#[job(name = "proof.doomed", max_retries = 1, backoff = fixed("30ms"))]
pub async fn doomed(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
) -> Result<u32, JobError> {
    diary.effect("start", &ctx);
    diary.effect("err", &ctx);
    Err(JobError::msg("never"))
}

/// The first step of a group.
#[job(name = "proof.first")]
pub async fn first(#[inject] ctx: JobContext, #[inject] diary: State<Diary>, from: u32) -> u32 {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    from
}

/// Increments the output of the previous step.
#[job(name = "proof.next")]
pub async fn next(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    #[input] count: u32,
) -> u32 {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    count + 1
}

/// Waits for two steps.
#[job(name = "proof.join")]
pub async fn join(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    #[input(step = "left")] left: u32,
    #[input(step = "right")] right: u32,
) -> u32 {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    left + right
}

/// Receives the report of an ended batch.
#[job(name = "proof.report")]
pub async fn report(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    #[inject] group: GroupReport,
) -> String {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    let counts = group.counts;
    format!("{}+{}/{}", counts.succeeded, counts.failed, counts.total)
}

/// Has a callback for success and one for failure.
#[job(name = "proof.parent", max_retries = 0, on_success = Thank, on_failure = Sorry)]
pub async fn parent(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    fails: bool,
) -> Result<u32, JobError> {
    diary.effect("start", &ctx);
    diary.effect(if fails { "err" } else { "ok" }, &ctx);
    if fails { Err(JobError::msg("as requested")) } else { Ok(7) }
}

/// The success callback of `parent`.
#[job(name = "proof.thank")]
pub async fn thank(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    #[inject] finished: Finished<Parent>,
) -> String {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    finished.id.to_string()
}

/// The failure callback of `parent`.
#[job(name = "proof.sorry")]
pub async fn sorry(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    #[inject] finished: Finished<Parent>,
) -> String {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    finished.id.to_string()
}

/// Enqueues two children, which are created if it succeeds.
#[job(name = "proof.spawner")]
pub async fn spawner(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
) -> Result<(), JobError> {
    diary.effect("start", &ctx);
    for _ in 0..2 {
        ctx.enqueue(Work { nap: 5, fails: 0 }).correlation_id(ctx.job_id().to_string()).await?;
    }
    diary.effect("ok", &ctx);
    Ok(())
}

/// One occurrence of a recurring job.
#[job(name = "proof.tick")]
pub async fn tick(#[inject] ctx: JobContext, #[inject] diary: State<Diary>) {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
}

/// The pipeline to which [`publish`] hands off.
pub const PIPELINE: &str = "proof-pages";

/// Hands off to the pipeline, once per number.
#[job(name = "proof.publish", max_retries = 5, backoff = fixed("50ms"))]
pub async fn publish(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    number: u32,
) -> Result<(), JobError> {
    diary.effect("start", &ctx);
    ctx.hand_off(PIPELINE, format!("page-{number}"), &number)?;
    diary.effect("ok", &ctx);
    Ok(())
}

/// Accepts the hand-offs of [`publish`], and returns what was handed off.
#[job(name = "proof.accept", accepts = "proof-pages", backlog_limit = 100)]
pub async fn accept(
    #[inject] ctx: JobContext,
    #[inject] diary: State<Diary>,
    page: HandedOff<u32>,
) -> u32 {
    diary.effect("start", &ctx);
    diary.effect("ok", &ctx);
    page.checkpoint
}

/// Runs until it is canceled.
#[job(name = "proof.endless")]
pub async fn endless(#[inject] ctx: JobContext, #[inject] diary: State<Diary>) {
    diary.effect("start", &ctx);
    ctx.cancellation().cancelled().await;
}
