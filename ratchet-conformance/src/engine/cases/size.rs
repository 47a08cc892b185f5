//! Limits of user-supplied values: a value is stored unchanged or rejected with an error that names the field.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{
    Builder, Enqueue, JobState, Missed, PageRequest, Ratchet, ScheduleError, StepOptions,
    StoreErrorKind, SubmitError, WaitError,
};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{Filter, QueueLimits, TerminalReason};
use ratchet_store::rules::recurring::CronError;

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::hostile::{
    self, Bottomless, Coded, Fall, Giving, Keyed, Nested, Parent, Taking, deep,
};
use crate::engine::script::{Script, Step};

const TIMEOUT: Duration = Duration::from_secs(30);

fn builder(fixture: &EngineFixture) -> Builder {
    fixture.builder().jobs(hostile::jobs())
}

/// Returns test values for a field, each with whether it is valid.
fn texts(field: Field) -> Vec<(String, bool)> {
    let limit = field.limit();
    let controls = "a\n\t\u{1b}[31m\u{7f}b".to_owned();
    vec![
        (String::new(), false),
        ("a".to_owned(), true),
        ("a".repeat(limit), true),
        ("a".repeat(limit + 1), false),
        ("a".repeat(1_000_000), false),
        ("a\0b".to_owned(), false),
        (controls, !field.is_identifier()),
        ("ä 'quoted' % \\ 🦀".to_owned(), !field.is_identifier()),
    ]
}

/// Asserts that the submit was rejected because of this field, with a short message.
fn assert_refused(error: &SubmitError, field: Field) {
    let SubmitError::BadOption { problem, .. } = error else { panic!("{field:?}: {error}") };
    assert!(problem.contains(field.name()), "{field:?}: {problem}");
    assert!(error.to_string().len() < 1000, "an error does not repeat a megabyte");
}

type Set = fn(Enqueue<'_, Script>, String) -> Enqueue<'_, Script>;

const OPTIONS: [(Field, Set); 7] = [
    (Field::Queue, |job, text| job.queue(text)),
    (Field::BusinessKey, |job, text| job.business_key(text)),
    (Field::IdempotencyKey, |job, text| job.idempotency_key(text)),
    (Field::ConcurrencyKey, |job, text| job.concurrency_key(text, 1)),
    (Field::Tenant, |job, text| job.tenant(text)),
    (Field::CorrelationId, |job, text| job.correlation_id(text)),
    (Field::Tag, |job, text| job.tag(text)),
];

pub async fn s_17_every_text_of_a_submit_has_a_limit(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for (field, set) in OPTIONS {
        for (text, fits) in texts(field) {
            let submitted = set(ratchet.enqueue(Script::of([Step::Ok])), text.clone()).await;
            match submitted {
                Err(error) if !fits => assert_refused(&error, field),
                Ok(job) if fits => {
                    let spec = job.record().await.expect("reads").expect("is there").spec;
                    let found = match field {
                        Field::Queue => Some(&spec.queue),
                        Field::BusinessKey => spec.business_key.as_ref(),
                        Field::IdempotencyKey => spec.idempotency_key.as_ref(),
                        Field::ConcurrencyKey => spec.concurrency.as_ref().map(|it| &it.key),
                        Field::Tenant => spec.tenant.as_ref(),
                        Field::CorrelationId => spec.correlation_id.as_ref(),
                        _ => spec.tags.first(),
                    };
                    assert_eq!(found, Some(&text), "{field:?} is read back as it was given");
                    if field != Field::Queue {
                        fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
                    }
                }
                other => panic!("{field:?} of {} bytes: {other:?}", text.len()),
            }
        }
    }
    let many = vec!["tag"; limits::TAGS + 1];
    let error = ratchet.enqueue(Script::of([Step::Ok])).tags(many).await.expect_err("too many");
    assert_refused(&error, Field::Tag);
    worker.stop().await;
}

pub async fn s_17_children_and_callbacks_have_the_same_limits(fixture: EngineFixture) {
    let (ratchet, worker) = start(builder(&fixture)).await;
    // A key of this length once blocked all claims on PostgreSQL.
    let long = 2800;
    let parent = ratchet.enqueue(Parent { length: long }).await.expect("enqueues");
    let record = fixture.ended(&ratchet, parent.id()).await;
    let message = record.envelope.expect("an envelope").failure.message;
    assert!(message.contains("concurrency key has 2800 bytes"), "{message}");
    let parent = ratchet.enqueue(Parent { length: limits::KEY }).await.expect("enqueues");
    fixture.until(&ratchet, parent.id(), JobState::Succeeded).await;
    let template = |length: usize| Keyed { key: "k".repeat(length) };
    let error = ratchet.enqueue(template(long)).await.expect_err("too long");
    assert_refused(&error, Field::ConcurrencyKey);
    let callback = ratchet.enqueue(Giving { bytes: None }).on_success(template(long));
    assert_refused(&callback.await.expect_err("too long"), Field::ConcurrencyKey);
    let fits = ratchet.enqueue(template(limits::KEY - "key-".len())).await.expect("enqueues");
    fixture.until(&ratchet, fits.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn s_17_graphs_have_the_same_limits(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let job = || Script::of([Step::Ok]);
    for (text, fits) in texts(Field::Group) {
        let named = [
            ratchet.chain(job()).named(text.clone()).await.map(drop),
            ratchet.batch(text.clone()).job(job()).await.map(drop),
            {
                let mut flow = ratchet.workflow(text.clone());
                flow.step("a", job(), |step| step);
                flow.await.map(drop)
            },
        ];
        for submitted in named {
            match submitted {
                Err(error) if !fits => assert_refused(&error, Field::Group),
                other => assert!(fits && other.is_ok(), "{} bytes: {other:?}", text.len()),
            }
        }
    }
    for (text, fits) in texts(Field::Step) {
        let mut flow = ratchet.workflow("flow");
        flow.step(text.clone(), job(), |step| step);
        match flow.await {
            Err(error) if !fits => assert_refused(&error, Field::Step),
            other => assert!(fits && other.is_ok(), "{} bytes: {other:?}", text.len()),
        }
    }
    for (field, keyed) in [(Field::IdempotencyKey, true), (Field::Tenant, false)] {
        for (text, fits) in texts(field) {
            let batch = ratchet.batch("batch").job(job());
            let batch = if keyed {
                batch.idempotency_key(text.clone())
            } else {
                batch.tenant(text.clone())
            };
            match batch.await {
                Err(error) if !fits => assert_refused(&error, field),
                other => assert!(fits && other.is_ok(), "{} bytes: {other:?}", text.len()),
            }
        }
    }
}

pub async fn s_17_schedules_have_the_same_limits(fixture: EngineFixture) {
    let ratchet = builder(&fixture).build().await.expect("builds");
    let job = || Script::of([Step::Ok]);
    let schedules = ratchet.schedules();
    for (text, fits) in texts(Field::Schedule) {
        match schedules.declare(text.clone(), "0 3 * * *", job()).await {
            Err(ScheduleError::Submit(error)) if !fits => assert_refused(&error, Field::Schedule),
            other => assert!(fits && other.is_ok(), "{} bytes: {other:?}", text.len()),
        }
    }
    let keyed = Keyed { key: "k".repeat(2800) };
    match schedules.declare("keyed", "0 3 * * *", keyed).await {
        Err(ScheduleError::Submit(error)) => assert_refused(&error, Field::ConcurrencyKey),
        other => panic!("{other:?}"),
    }
    let declared = schedules.declare("often", "0 3 * * *", job());
    let refused = declared.missed(Missed::CatchUp(limits::CATCH_UP + 1)).await;
    assert!(matches!(refused, Err(ScheduleError::Submit(_))), "{refused:?}");
    schedules.declare("often", "0 3 * * *", job()).await.expect("declares");
    let refused = schedules.set_missed("often", Missed::CatchUp(u32::MAX)).await;
    assert!(matches!(refused, Err(ScheduleError::Submit(_))), "{refused:?}");
    schedules.set_missed("often", Missed::CatchUp(limits::CATCH_UP)).await.expect("fits");
    let error = schedules.pause(&"a".repeat(1_000_000)).await.expect_err("unknown");
    assert!(error.to_string().len() < 1000, "an error does not repeat a megabyte");
}

/// Otherwise a program that declares many schedules would take quadratic time.
pub async fn s_17_changing_one_schedule_does_not_list_all(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let schedules = ratchet.schedules();
    fixture.switches().panic_in_schedules.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let job = Script::of([Step::Ok]);
        schedules.declare("nightly", "0 3 * * *", job).await.expect("declares");
    }
    schedules.pause("nightly").await.expect("pauses");
    schedules.resume("nightly").await.expect("resumes");
    schedules.set_missed("nightly", Missed::CatchUp(3)).await.expect("changes");
    schedules.remove("nightly").await.expect("removes");
}

pub async fn s_17_operator_verbs_have_the_same_limits(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    for (text, fits) in texts(Field::Queue) {
        let queues = ratchet.queues();
        let mut limits = QueueLimits::default();
        limits.concurrency = Some(1);
        let answers = [
            queues.pause(&text).await.map(drop),
            queues.resume(&text).await.map(drop),
            queues.limit(&text, limits).await.map(drop),
        ];
        for answer in answers {
            match answer {
                Err(error) if !fits => {
                    assert_eq!(error.kind(), StoreErrorKind::Data);
                    assert!(error.to_string().contains("queue name"), "{error}");
                }
                other => assert!(fits && other.is_ok(), "{} bytes: {other:?}", text.len()),
            }
        }
    }
    for (text, fits) in texts(Field::Service) {
        let breakers = ratchet.breakers();
        for answer in [breakers.open(&text, None).await, breakers.close(&text).await] {
            match answer {
                Err(error) if !fits => {
                    assert!(error.to_string().contains("service name"), "{error}");
                }
                other => assert!(fits && other.is_ok(), "{} bytes: {other:?}", text.len()),
            }
        }
    }
}

pub async fn s_17_tags_and_ids_count_towards_the_payload(fixture: EngineFixture) {
    let ratchet = fixture
        .builder()
        .config(|config| config.payload_limit = 600)
        .build()
        .await
        .expect("builds");
    let job = || ratchet.enqueue(Script::of([Step::Ok]));
    job().tag("t".repeat(300)).await.expect("fits");
    for large in [
        job().tag("t".repeat(300)).tag("u".repeat(300)),
        job().tenant("t".repeat(300)).correlation_id("c".repeat(300)),
    ] {
        let error = large.await.expect_err("too large");
        assert!(matches!(error, SubmitError::TooLarge { limit: 600, .. }), "{error}");
    }
}

pub async fn s_17_nested_arguments_are_refused_and_what_is_accepted_runs(fixture: EngineFixture) {
    let (ratchet, worker) = start(builder(&fixture)).await;
    let nested = |levels| Nested { value: deep(levels), levels: 1 };
    let job = ratchet.enqueue(nested(limits::DEPTH)).await.expect("enqueues");
    assert_eq!(job.wait_for(TIMEOUT).await.expect("runs"), deep(1));
    let error = ratchet.enqueue(nested(limits::DEPTH + 1)).await.expect_err("too deep");
    assert!(matches!(error, SubmitError::TooDeep { limit: limits::DEPTH, .. }), "{error}");
    // Serializing this recursively would overflow the stack.
    let error = ratchet.enqueue(Fall { value: Bottomless(1_000_000) }).await;
    assert!(matches!(error, Err(SubmitError::TooDeep { .. })), "{error:?}");
    let page = ratchet.jobs().list(&Filter::any(), PageRequest::default()).await.expect("reads");
    assert_eq!(page.jobs.len(), 1);
    worker.stop().await;
}

pub async fn s_17_an_output_that_cannot_be_read_back_is_not_kept(fixture: EngineFixture) {
    let (ratchet, worker) = start(builder(&fixture)).await;
    let nested = |levels| Nested { value: deep(1), levels };
    let job = ratchet.enqueue(nested(limits::DEPTH)).await.expect("enqueues");
    assert_eq!(job.wait_for(TIMEOUT).await.expect("is kept"), deep(limits::DEPTH));
    let job = ratchet.enqueue(nested(limits::DEPTH + 1)).await.expect("enqueues");
    let error = job.wait_for(TIMEOUT).await.expect_err("is not kept");
    assert!(
        matches!(&error, WaitError::OutputNotKept { why, .. } if why.contains("100 levels")),
        "{error}"
    );
    worker.stop().await;
}

pub async fn s_17_a_graph_with_too_many_edges_is_refused(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let wide = 320;
    let mut flow = ratchet.workflow("wide");
    let job = || Script::of([Step::Ok]);
    let before: Vec<_> =
        (0..wide).map(|n| flow.step(format!("a{n}"), job(), |step| step)).collect();
    for n in 0..wide {
        flow.step(format!("b{n}"), job(), |step| before.iter().fold(step, StepOptions::after));
    }
    let error = flow.await.expect_err("too many edges").to_string();
    assert!(error.contains("100000 edges") && error.contains("batch"), "{error}");
    assert_empty(&ratchet).await;
}

async fn assert_empty(ratchet: &Ratchet) {
    let page = ratchet.jobs().list(&Filter::any(), PageRequest::default()).await.expect("reads");
    assert!(page.jobs.is_empty(), "nothing is half-inserted");
}

pub async fn s_17_codes_and_messages_are_bounded_and_clean(fixture: EngineFixture) {
    let (ratchet, worker) = start(builder(&fixture)).await;
    let cases = [
        ("card_declined", "card_declined"),
        ("a\0b\u{1b}[31mc", "abc"),
        ("postgres://admin:s3cret@db", "postgres://[REDACTED]@db"),
    ];
    for (given, stored) in cases {
        let job = Coded { code: given.to_owned(), message: given.to_owned() };
        let job = ratchet.enqueue(job).await.expect("enqueues");
        let failure =
            fixture.ended(&ratchet, job.id()).await.envelope.expect("an envelope").failure;
        assert_eq!((&*failure.code, &*failure.message), (stored, stored));
    }
    let job = Coded { code: "é".repeat(40_000), message: "m".to_owned() };
    let job = ratchet.enqueue(job).await.expect("enqueues");
    let failure = fixture.ended(&ratchet, job.id()).await.envelope.expect("an envelope").failure;
    assert!(failure.code.len() <= limits::CODE && failure.code.ends_with("é…"), "{}", failure.code);
    worker.stop().await;
}

pub async fn l_08_an_output_that_was_not_kept_is_an_error_for_all_who_ask(fixture: EngineFixture) {
    let (ratchet, worker) = start(builder(&fixture)).await;
    let none = ratchet.enqueue(Giving { bytes: None }).on_success(Taking {});
    let none = none.await.expect("enqueues");
    assert_eq!(none.wait_for(TIMEOUT).await.expect("succeeds"), None);
    eventually("its callback is reported", async || {
        fixture.stage().notes().contains(&"taken Ok(None)".to_owned())
    })
    .await;
    let lost = ratchet.enqueue(Giving { bytes: Some(70_000) }).on_success(Taking {});
    let lost = lost.await.expect("enqueues");
    let error = lost.wait_for(TIMEOUT).await.expect_err("not `Ok(None)`");
    assert!(
        matches!(&error, WaitError::OutputNotKept { why, .. } if why.contains("70002 bytes")),
        "{error}"
    );
    let failed = Filter::any().state(JobState::Failed);
    eventually("its callback fails", async || {
        let page = ratchet.jobs().list(&failed, PageRequest::default()).await.expect("reads");
        let envelope = page.jobs.first().and_then(|job| job.envelope.clone());
        envelope.is_some_and(|envelope| {
            assert_eq!(envelope.reason, TerminalReason::RetryExhausted);
            envelope.failure.message.contains("the result was not kept")
        })
    })
    .await;
    assert_eq!(fixture.stage().notes(), ["taken Ok(None)"]);
    worker.stop().await;
}

pub async fn s_17_a_schedule_that_never_fires_is_refused(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let schedules = ratchet.schedules();
    let declare = |cron: &str| schedules.declare("never", cron, Script::of([Step::Ok]));
    for cron in ["0 0 30 2 *", "0 0 31 4,6,9,11 *"] {
        let error = declare(cron).await.expect_err("never fires");
        assert!(
            matches!(error, ScheduleError::Cron { error: CronError::Never { .. }, .. }),
            "{error}"
        );
    }
    let long = format!("{} * * * *", vec!["1"; 500_000].join(","));
    let error = declare(&long).await.expect_err("too long");
    assert!(
        matches!(error, ScheduleError::Cron { error: CronError::TooLong { .. }, .. }),
        "{error}"
    );
    let error = declare("* * * * *").zone("Z".repeat(1_000_000)).await.expect_err("no zone");
    assert!(error.to_string().len() < 1000, "an error does not repeat a megabyte");
    assert!(schedules.list().await.expect("reads").is_empty());
    declare("0 0 29 2 *").await.expect("every fourth year");
    let error = schedules.reschedule("never", "0 0 30 2 *", "UTC").await.expect_err("never fires");
    assert!(matches!(error, ScheduleError::Cron { error: CronError::Never { .. }, .. }), "{error}");
}
