//! Canceling running jobs.

use std::time::Duration;

use ratchet_core::{Event, JobState};
use ratchet_store::model::{AttemptOutcome, CancelCause};

use crate::engine::fixture::{EngineFixture, event, eventually, outcomes};
use crate::engine::script::{Block, Script, Step};

pub async fn l_04_the_handler_is_told_and_its_result_discarded(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Listen]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    assert!(job.cancel().await.expect("cancels"));
    assert_eq!(
        job.status().await.expect("reads"),
        Some(JobState::Canceled),
        "at once in the store"
    );
    eventually("the handler heard", async || fixture.stage().notes() == ["heard"]).await;
    eventually("it ended", async || worker.stats().running == 0).await;
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Canceled));
    assert_eq!(outcomes(&ratchet, job.id()).await, [AttemptOutcome::Canceled]);
    assert_eq!(worker.stats().stale, 0, "a discarded result is not a stale one");
    worker.stop().await;
}

pub async fn l_04_a_deaf_handler_is_dropped_after_the_grace_time(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Hang]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    assert!(job.cancel().await.expect("cancels"));
    eventually("it was dropped", async || fixture.stage().running() == 0).await;
    eventually("its place is free", async || worker.stats().running == 0).await;
    worker.stop().await;
}

pub async fn l_04_the_key_stays_taken_until_the_handler_has_ended(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(Block {}).business_key("only-one").await.expect("enqueues");
    eventually("it runs", async || {
        ratchet
            .jobs()
            .get(job.id())
            .await
            .is_ok_and(|job| job.is_some_and(|job| job.state == JobState::Running))
    })
    .await;
    job.cancel().await.expect("cancels");
    eventually("it is given up on", async || worker.stats().runaways == 1).await;
    assert!(ratchet.enqueue(Script::of([Step::Ok])).business_key("only-one").await.is_err());
    fixture.stage().open_gate();
    eventually("the key is free", async || {
        ratchet.enqueue(Script::of([Step::Ok])).business_key("only-one").await.is_ok()
    })
    .await;
    worker.stop().await;
}

pub async fn l_10_a_sweep_cancels_jobs_that_have_expired(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let hour = Duration::from_hours(1);
    let expiring = || ratchet.enqueue(Script::of([Step::Ok])).delay(hour * 9).expires_in(hour);
    let (waiting, paused) = (expiring().await.expect("ok"), expiring().await.expect("ok"));
    ratchet.jobs().pause(paused.id()).await.expect("pauses");
    let other = ratchet.enqueue(Script::of([Step::Ok])).delay(hour * 9).await.expect("enqueues");
    fixture.advance(hour / 2).await;
    // An hour in two parts, because the lease of the worker is an hour.
    eventually("the lease is renewed", async || {
        let nodes = fixture.store().nodes().await.expect("reads");
        let now = fixture.store().now().await.expect("reads");
        nodes.iter().any(|node| node.lease_until.duration_since(now).unsigned_abs() > hour * 3 / 4)
    })
    .await;
    fixture.advance(hour / 2).await;
    for job in [&waiting, &paused] {
        let canceled = event(
            &mut events,
            |event| matches!(event, Event::Canceled { job: it, .. } if *it == job.id()),
        );
        let canceled = canceled.await;
        assert!(matches!(canceled, Event::Canceled { cause: CancelCause::Expired, .. }));
        assert_eq!(job.status().await.expect("reads"), Some(JobState::Canceled));
    }
    assert_eq!(other.status().await.expect("reads"), Some(JobState::Pending));
    worker.stop().await;
}

pub async fn l_03_canceling_what_has_ended_changes_nothing(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert!(!job.cancel().await.expect("answers"));
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Succeeded));
    worker.stop().await;
}

pub async fn v_01_commands_are_told(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let mut events = ratchet.events();
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    ratchet.jobs().pause(job.id()).await.expect("pauses");
    ratchet.jobs().pause(job.id()).await.expect("pauses again");
    ratchet.jobs().resume(job.id()).await.expect("resumes");
    ratchet.jobs().cancel(job.id()).await.expect("cancels");
    event(&mut events, |event| matches!(event, Event::Submitted { job: it } if it.id == job.id()))
        .await;
    assert!(matches!(events.next().await, Some(Event::Paused { .. })));
    assert!(
        matches!(events.next().await, Some(Event::Resumed { .. })),
        "pausing twice is reported once"
    );
    assert!(matches!(events.next().await, Some(Event::Canceled { .. })));
}
