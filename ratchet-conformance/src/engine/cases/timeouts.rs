//! Timeouts of runs.

use std::time::Duration;

use ratchet_core::{Event, FailedJob, Failure, JobState, RetryPolicy};
use ratchet_store::model::{AttemptOutcome, FailureKind, TerminalReason};

use crate::engine::fixture::{EngineFixture, event, eventually, outcomes, start};
use crate::engine::script::{Block, Script, Step};

const SHORT: Duration = Duration::from_millis(100);

pub async fn x_03_a_run_is_warned_then_dropped(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let job =
        ratchet.enqueue(Script::of([Step::Hang, Step::Ok])).timeout(SHORT).await.expect("enqueues");
    event(
        &mut events,
        |event| matches!(event, Event::SoftTimeout { job: it, .. } if it.id == job.id()),
    )
    .await;
    event(&mut events, |event| matches!(event, Event::TimedOut { job: it, runaway: false, .. } if it.id == job.id())).await;
    assert_eq!(fixture.stage().running(), 0, "the future was dropped");
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!(record.state, JobState::Succeeded);
    let found = outcomes(&ratchet, job.id()).await;
    // On a busy machine, a run that does not hang can take longer than the timeout too.
    let (last, dropped) = found.split_last().expect("runs");
    assert_eq!(*last, AttemptOutcome::Success);
    assert!(dropped.iter().all(|outcome| *outcome == AttemptOutcome::Exception), "{found:?}");
    assert!(!dropped.is_empty() && record.attempts as usize == dropped.len(), "{found:?}");
    worker.stop().await;
}

pub async fn x_03_a_timeout_counts_as_an_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::Hang]))
        .timeout(SHORT)
        .max_retries(1)
        .await
        .expect("enqueues");
    let envelope = fixture.ended(&ratchet, job.id()).await.envelope.expect("an envelope");
    assert_eq!(
        (envelope.reason, envelope.failure.kind),
        (TerminalReason::RetryExhausted, FailureKind::Timeout)
    );
    assert_eq!(envelope.failure.error_type, "TimedOut");
    worker.stop().await;
}

#[derive(Debug)]
struct NoTimeouts;

impl RetryPolicy for NoTimeouts {
    fn should_retry(&self, _: &FailedJob<'_>, failure: &Failure) -> bool {
        failure.record.kind != FailureKind::Timeout
    }
}

pub async fn d_02_a_policy_may_forbid_retrying_a_run_that_never_yields(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().retry_policy(NoTimeouts)).await;
    let job = ratchet.enqueue(Script::of([Step::Block])).timeout(SHORT).await.expect("enqueues");
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!(record.envelope.expect("an envelope").reason, TerminalReason::TimedOut);
    fixture.stage().open_gate();
    worker.stop().await;
}

pub async fn d_02_a_policy_may_forbid_retrying_timeouts(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().retry_policy(NoTimeouts)).await;
    let job = ratchet.enqueue(Script::of([Step::Hang])).timeout(SHORT).await.expect("enqueues");
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!(record.envelope.expect("an envelope").reason, TerminalReason::TimedOut);
    worker.stop().await;
}

pub async fn x_03_a_blocking_run_cannot_be_killed_but_is_timed_out(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let job = ratchet.enqueue(Block {}).timeout(SHORT).await.expect("enqueues");
    event(&mut events, |event| matches!(event, Event::TimedOut { runaway: true, .. })).await;
    assert_eq!(fixture.until(&ratchet, job.id(), JobState::Failed).await.output, None);
    eventually("the runaway is counted", async || worker.stats().runaways == 1).await;
    fixture.stage().open_gate();
    eventually("its thread is free", async || worker.stats().runaways == 0).await;
    let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("exists");
    assert_eq!(
        (record.state, record.output),
        (JobState::Failed, None),
        "the late result is discarded"
    );
    worker.stop().await;
}

pub async fn x_03_an_async_run_that_never_yields_is_timed_out(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::Block]))
        .timeout(SHORT)
        .max_retries(0)
        .await
        .expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    assert_eq!(worker.stats().runaways, 1);
    let next = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, next.id(), JobState::Succeeded).await;
    fixture.stage().open_gate();
    eventually("its thread is free", async || worker.stats().runaways == 0).await;
    assert_eq!(
        ratchet.jobs().get(job.id()).await.expect("reads").expect("exists").state,
        JobState::Failed
    );
    worker.stop().await;
}

pub async fn q_02_a_timed_out_run_keeps_its_business_key_until_its_thread_ends(
    fixture: EngineFixture,
) {
    let (ratchet, worker) = fixture.start().await;
    let job =
        ratchet.enqueue(Block {}).timeout(SHORT).business_key("only-one").await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let second = ratchet.enqueue(Script::of([Step::Ok])).business_key("only-one").await;
    assert!(second.is_err(), "the thread still works on it");
    fixture.stage().open_gate();
    eventually("the key is free", async || {
        ratchet.enqueue(Script::of([Step::Ok])).business_key("only-one").await.is_ok()
    })
    .await;
    worker.stop().await;
}

pub async fn q_02_a_run_that_never_yields_lets_go_when_its_thread_ends(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let stuck = ratchet.enqueue(Script::of([Step::Block])).timeout(SHORT).max_retries(0);
    let job = stuck.business_key("only-one").await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let second = ratchet.enqueue(Script::of([Step::Ok])).business_key("only-one").await;
    assert!(second.is_err(), "the thread still works on it");
    fixture.stage().open_gate();
    eventually("the key is free", async || {
        ratchet.enqueue(Script::of([Step::Ok])).business_key("only-one").await.is_ok()
    })
    .await;
    worker.stop().await;
}
