//! Submitting jobs: options, keys, rejections.

use std::collections::BTreeSet;
use std::time::Duration;

use ratchet_core::{Backoff, JobHandle, JobState, Priority, SubmitError};
use ratchet_store::model::TerminalReason;

use crate::engine::fixture::{EngineFixture, event, name, start};
use crate::engine::script::{Elsewhere, Even, Script, Step};

pub async fn s_02_defaults_are_those_of_the_contract(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = ratchet.enqueue(Elsewhere {}).await.expect("enqueues");
    let spec = job.record().await.expect("reads").expect("exists").spec;
    assert_eq!((spec.options.max_retries, spec.options.timeout), (5, Duration::from_mins(30)));
    assert_eq!(
        spec.options.backoff,
        Backoff::exponential(Duration::from_secs(1), Duration::from_secs(30))
    );
    assert_eq!((spec.queue.as_str(), spec.priority), ("elsewhere", Priority::Normal));
}

pub async fn s_02_every_option_can_be_set_per_call(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let backoff = Backoff::fixed(Duration::from_secs(9));
    let job = ratchet
        .enqueue(Script::of([Step::Ok]))
        .queue("other")
        .priority(Priority::Critical)
        .max_retries(9)
        .backoff(backoff)
        .timeout(Duration::from_secs(3))
        .delay(Duration::from_mins(1))
        .idempotency_key("i")
        .business_key("b")
        .concurrency_key("c", 2)
        .tags(["x", "y"])
        .correlation_id("r")
        .tenant("t")
        .on_success(Elsewhere {})
        .on_failure(Elsewhere {})
        .await
        .expect("enqueues");
    let record = job.record().await.expect("reads").expect("exists");
    let spec = &record.spec;
    assert_eq!(
        (spec.queue.as_str(), spec.priority, spec.options.max_retries),
        ("other", Priority::Critical, 9)
    );
    assert_eq!((spec.options.backoff, spec.options.timeout), (backoff, Duration::from_secs(3)));
    assert_eq!(
        (spec.idempotency_key.as_deref(), spec.business_key.as_deref()),
        (Some("i"), Some("b"))
    );
    assert_eq!(spec.concurrency.as_ref().map(|key| (key.key.as_str(), key.limit)), Some(("c", 2)));
    assert_eq!(
        (spec.tags.join(" "), spec.tenant.as_deref(), spec.correlation_id.as_deref()),
        ("x y".to_owned(), Some("t"), Some("r"))
    );
    assert!(spec.on_success.is_some() && spec.on_failure.is_some());
    assert_eq!(record.due.duration_since(record.queued_at).as_secs(), 60);
}

pub async fn s_03_a_repeat_answers_with_the_original(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let enqueue =
        |steps: [Step; 1]| ratchet.enqueue(Script::of(steps)).idempotency_key("request-1");
    let first = enqueue([Step::Ok]).await.expect("enqueues");
    assert_eq!(enqueue([Step::Ok]).await.expect("answers").id(), first.id());
    let other = enqueue([Step::Fatal]).await.expect_err("other arguments");
    assert!(
        matches!(other, SubmitError::IdempotencyMismatch { original, .. } if original == first.id()),
        "{other}"
    );
    assert_eq!(ratchet.jobs().counts().await.expect("reads").state(JobState::Pending), 1);
}

pub async fn s_04_a_taken_key_names_its_holder(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let enqueue = || ratchet.enqueue(Script::of([Step::Ok])).business_key("order-1");
    let first = enqueue().await.expect("enqueues");
    let error = enqueue().await.expect_err("taken");
    assert!(
        matches!(&error, SubmitError::BusinessKeyTaken { holder, key, .. } if *holder == first.id() && key == "order-1"),
        "{error}"
    );
    assert_eq!(enqueue().or_existing().await.expect("answers").id(), first.id());
}

pub async fn s_06_bulk_is_all_or_nothing(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let thousand =
        ratchet.enqueue_many((0..1000).map(|_| Script::of([Step::Ok]))).await.expect("enqueues");
    let ids: BTreeSet<_> = thousand.iter().map(JobHandle::id).collect();
    assert_eq!(ids.len(), 1000, "each has its own handle");
    ratchet.enqueue(Script::of([Step::Ok])).business_key("a").await.expect("enqueues");
    let bulk = ratchet
        .enqueue_many([Script::of([Step::Ok]), Script::of([Step::Ok])])
        .each(|number, job| if number == 0 { job.business_key("a") } else { job });
    let error = bulk.await.expect_err("taken");
    assert!(matches!(&error, SubmitError::BusinessKeysTaken(taken) if taken.len() == 1), "{error}");
    assert_eq!(ratchet.jobs().counts().await.expect("reads").state(JobState::Pending), 1001);
}

pub async fn s_10_too_large_is_refused_with_both_sizes(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let error = ratchet
        .enqueue(Script::of([Step::Error("x".repeat(100 * 1024))]))
        .await
        .expect_err("too large");
    assert!(
        matches!(&error, SubmitError::TooLarge { job, size, limit: 102_400 } if *size > 102_400 && job == name::<Script>()),
        "{error}"
    );
    assert_eq!(ratchet.jobs().counts().await.expect("reads").queues.len(), 0);
}

pub async fn s_11_refused_arguments_are_refused_twice(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let error = ratchet.enqueue(Even { number: 3 }).await.expect_err("odd");
    assert!(matches!(&error, SubmitError::Refused { why, .. } if why == "3 is odd"), "{error}");
    let mut smuggled = ratchet.enqueue(Even { number: 4 }).into_new_job().expect("prepares");
    smuggled.spec.payload = b"{\"number\":5}".to_vec();
    let id = smuggled.id;
    ratchet.store().insert(vec![smuggled]).await.expect("inserts");
    let envelope = fixture.ended(&ratchet, id).await.envelope.expect("an envelope");
    assert_eq!(envelope.reason, TerminalReason::Invalid);
    assert!(envelope.failure.message.contains("5 is odd"), "{}", envelope.failure.message);
    worker.stop().await;
}

pub async fn q_01_a_job_not_allowed_is_refused_at_submit_and_at_dispatch(fixture: EngineFixture) {
    let narrow = || fixture.builder().queue("narrow", |queue| queue.allow([name::<Even>()]));
    let (ratchet, worker) = start(narrow()).await;
    let error =
        ratchet.enqueue(Script::of([Step::Ok])).queue("narrow").await.expect_err("not allowed");
    assert!(
        matches!(&error, SubmitError::NotAllowed { queue, .. } if queue == "narrow"),
        "{error}"
    );
    // Another process that does not have the rule.
    let careless = fixture.ratchet().await;
    let job = careless.enqueue(Script::of([Step::Ok])).queue("narrow").await.expect("enqueues");
    let envelope = fixture.ended(&ratchet, job.id()).await.envelope.expect("an envelope");
    assert_eq!(envelope.reason, TerminalReason::Invalid);
    assert_eq!(fixture.stage().runs(job.id()), 0);
    worker.stop().await;
}

pub async fn q_05_a_queue_nobody_serves_is_a_warning(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let served = ratchet.enqueue(Script::of([Step::Ok])).await.expect("enqueues");
    assert!(served.warnings().is_empty());
    let lost = ratchet
        .enqueue(Script::of([Step::Ok]))
        .queue("unserved")
        .await
        .expect("enqueues all the same");
    assert!(
        lost.warnings()[0].contains("no live worker serves queue `unserved`"),
        "{:?}",
        lost.warnings()
    );
    worker.stop().await;
}

pub async fn s_02_bad_options_are_typed_errors(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = || ratchet.enqueue(Script::of([Step::Ok]));
    for (bad, what) in [
        (job().queue("no spaces"), "queue"),
        (job().queue(""), "queue"),
        (job().timeout(Duration::ZERO), "timeout"),
        (job().business_key(""), "business key"),
        (job().idempotency_key("\0"), "idempotency key"),
        (job().business_key("k".repeat(1001)), "business key"),
    ] {
        let error = bad.await.expect_err(what);
        assert!(
            matches!(&error, SubmitError::BadOption { problem, .. } if problem.contains(what)),
            "{error}"
        );
    }
    assert_eq!(ratchet.jobs().counts().await.expect("reads").queues.len(), 0);
}

pub async fn s_09_new_work_wakes_an_idle_worker(fixture: EngineFixture) {
    let hour = Duration::from_hours(1);
    let (ratchet, worker) =
        start(fixture.builder().config(move |config| config.poll_interval = (hour, hour))).await;
    let mut events = ratchet.events();
    // The worker has found no jobs and is waiting for a wake-up.
    crate::engine::fixture::eventually("it is idle", async || {
        ratchet.nodes().list().await.is_ok_and(|nodes| !nodes.is_empty())
    })
    .await;
    for _ in 0..3 {
        let job = fixture.play(&ratchet, [Step::Ok]).await;
        event(&mut events, |event| matches!(event, ratchet_core::Event::Succeeded { job: it, .. } if it.id == job.id())).await;
    }
    worker.stop().await;
}
