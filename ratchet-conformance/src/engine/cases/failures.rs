//! Failing handlers: retried, deferred or moved to the dead-letter queue.

use std::time::Duration;

use ratchet_core::{Due, JobState};
use ratchet_store::model::{AttemptOutcome, FailureKind, NewJob, OnConflict, TerminalReason};

use crate::engine::fixture::{EngineFixture, eventually, outcomes, start};
use crate::engine::script::{Domain, Fragile, Script, Step, Verdict};

pub async fn e_05_a_failed_attempt_is_followed_by_another(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Error("once".into()), Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.attempts, record.run), (JobState::Succeeded, 1, 2));
    assert_eq!(
        outcomes(&ratchet, job.id()).await,
        [AttemptOutcome::Failure, AttemptOutcome::Success]
    );
    worker.stop().await;
}

pub async fn e_04_the_last_attempt_goes_to_the_dead_letters(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::Error("always".into())]))
        .max_retries(2)
        .await
        .expect("enqueues");
    let record = fixture.ended(&ratchet, job.id()).await;
    let envelope = record.envelope.expect("an envelope");
    assert_eq!((record.state, record.attempts), (JobState::Failed, 3));
    assert_eq!((envelope.reason, envelope.attempts), (TerminalReason::RetryExhausted, 3));
    assert_eq!(fixture.stage().runs(job.id()), 3);
    worker.stop().await;
}

pub async fn e_02_an_annotated_error_deep_in_the_chain_is_not_retried(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Permanent]).await;
    let envelope =
        fixture.until(&ratchet, job.id(), JobState::Failed).await.envelope.expect("an envelope");
    assert_eq!(
        (envelope.reason, envelope.explanation.as_deref()),
        (TerminalReason::NonRetryable, Some("never works"))
    );
    assert_eq!(fixture.stage().runs(job.id()), 1);
    worker.stop().await;
}

pub async fn x_02_a_panic_is_an_attempt_like_any_other(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Panic("boom".into()), Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!(record.state, JobState::Succeeded);
    let history = ratchet.jobs().attempts(job.id()).await.expect("reads");
    let error = history[0].error.as_ref().expect("an error");
    assert_eq!((history[0].outcome, error.kind), (AttemptOutcome::Exception, FailureKind::Panic));
    assert!(
        error.message.contains("boom") && error.message.contains("script.rs:"),
        "{}",
        error.message
    );
    worker.stop().await;
}

pub async fn x_02_a_panic_may_be_final(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(Fragile {}).await.expect("enqueues");
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.attempts), (JobState::Failed, 1));
    assert_eq!(record.envelope.expect("an envelope").reason, TerminalReason::NonRetryable);
    worker.stop().await;
}

pub async fn e_07_a_snooze_uses_no_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Snooze, Step::Snooze, Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.attempts, record.deferrals, record.run), (0, 2, 3));
    let expected = [AttemptOutcome::Snoozed, AttemptOutcome::Snoozed, AttemptOutcome::Success];
    assert_eq!(outcomes(&ratchet, job.id()).await, expected);
    worker.stop().await;
}

pub async fn e_07_a_reject_uses_no_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Reject, Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.attempts, record.deferrals), (JobState::Succeeded, 0, 1));
    worker.stop().await;
}

pub async fn e_07_fatal_and_invalid_end_at_once(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for (step, reason) in
        [(Step::Fatal, TerminalReason::NonRetryable), (Step::Invalid, TerminalReason::Invalid)]
    {
        let job = fixture.play(&ratchet, [step]).await;
        let envelope = fixture
            .until(&ratchet, job.id(), JobState::Failed)
            .await
            .envelope
            .expect("an envelope");
        assert_eq!(envelope.reason, reason);
        assert_eq!(fixture.stage().runs(job.id()), 1);
    }
    worker.stop().await;
}

pub async fn e_07_the_handler_can_name_the_delay(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::RetryAfter(3600), Step::Ok]).await;
    eventually("the first failure", async || {
        ratchet.jobs().get(job.id()).await.is_ok_and(|job| job.is_some_and(|job| job.attempts == 1))
    })
    .await;
    let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("exists");
    let wait = record.due.duration_since(record.queued_at);
    assert!(wait.as_secs() >= 3600, "{wait:?}");
    worker.stop().await;
}

pub async fn e_11_endless_deferral_can_be_capped(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().max_deferrals(3)).await;
    let job = fixture.play(&ratchet, [Step::Snooze]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!(record.envelope.expect("an envelope").reason, TerminalReason::DeferralExhausted);
    assert_eq!((record.attempts, fixture.stage().runs(job.id())), (0, 4));
    worker.stop().await;
}

pub async fn e_12_a_domain_failure_is_a_success(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(Domain {}).await.expect("enqueues");
    assert_eq!(job.wait_for(Duration::from_secs(30)).await.expect("succeeds"), Verdict::Declined);
    worker.stop().await;
}

pub async fn e_09_an_undecodable_payload_is_never_retried(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for payload in ["", "[]", "{}", "{\"steps\": 5}", "{\"steps\": [\"Nonsense\"]}", "\u{0}"] {
        let mut job = ratchet.enqueue(Script::of([Step::Ok])).into_new_job().expect("prepares");
        job.spec.payload = payload.as_bytes().to_vec();
        ratchet.store().insert(vec![job.clone()]).await.expect("inserts");
        let record = fixture.ended(&ratchet, job.id).await;
        assert_eq!(
            record.envelope.expect("an envelope").reason,
            TerminalReason::Invalid,
            "{payload:?}"
        );
        assert_eq!(fixture.stage().runs(job.id), 0);
    }
    worker.stop().await;
}

pub async fn e_10_an_unknown_job_waits_and_is_seen(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut job = ratchet.enqueue(Script::of([Step::Ok])).into_new_job().expect("prepares");
    job.spec.name = "test.nobody_knows".to_owned();
    let unknown = NewJob { due: Due::Now, on_conflict: OnConflict::Refuse, ..job };
    ratchet.store().insert(vec![unknown.clone()]).await.expect("inserts");
    let known = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, known.id(), JobState::Succeeded).await;
    let record = ratchet.jobs().get(unknown.id).await.expect("reads").expect("exists");
    assert_eq!((record.state, record.run), (JobState::Pending, 0));
    let unknown = ratchet.jobs().unknown().await.expect("reads");
    let reported: Vec<_> = unknown.iter().map(|it| (it.name.as_str(), it.waiting)).collect();
    assert_eq!(reported, [("test.nobody_knows", 1)]);
    worker.stop().await;
}

pub async fn u_01_a_payload_too_new_is_left_for_a_newer_worker(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut job = ratchet.enqueue(Script::of([Step::Ok])).into_new_job().expect("prepares");
    job.spec.version = 2;
    ratchet.store().insert(vec![job.clone()]).await.expect("inserts");
    let known = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, known.id(), JobState::Succeeded).await;
    assert_eq!(ratchet.jobs().get(job.id).await.expect("reads").expect("exists").run, 0);
    worker.stop().await;
}

pub async fn x_01_hostile_handlers_do_not_stop_the_worker(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for step in
        [Step::DropBomb, Step::LongError(10 * 1024 * 1024), Step::LongPanic(10 * 1024 * 1024)]
    {
        let job = ratchet.enqueue(Script::of([step])).max_retries(0).await.expect("enqueues");
        let record = fixture.ended(&ratchet, job.id()).await;
        assert_eq!(record.state, JobState::Failed);
        assert!(record.envelope.expect("an envelope").failure.message.len() <= 2000);
    }
    let after = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, after.id(), JobState::Succeeded).await;
    worker.stop().await;
}
