//! Panics in user code: each must become a failed attempt or be counted for its component.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use ratchet_core::{
    Builder, DeadLetterSink, ErrorSanitizer, FailedJob, Failure, JobContext, JobError,
    JobInvocationResolver, JobState, Middleware, Ratchet, RawError, Registration, Registry,
    RetryPolicy, RunReport, SinkError, Worker, async_trait,
};
use ratchet_store::model::{AttemptOutcome, Envelope, TerminalReason};

use crate::engine::fixture::{EngineFixture, eventually, outcomes, start};
use crate::engine::hostile::{self, Hostile, HostileBlocking, Losing, Nasty, Trick};
use crate::engine::script::{self, Script, Step};

fn with_hostile(fixture: &EngineFixture) -> Builder {
    fixture.builder().jobs(hostile::jobs())
}

/// Asserts that the worker is alive and can still run a job.
async fn assert_well(fixture: &EngineFixture, ratchet: &Ratchet, worker: &Worker) {
    let canary = fixture.play(ratchet, [Step::Ok]).await;
    fixture.until(ratchet, canary.id(), JobState::Succeeded).await;
    assert!(worker.liveness().ok, "{:?}", worker.liveness());
}

pub async fn x_09_a_panic_in_user_code_is_a_failed_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = start(with_hostile(&fixture)).await;
    let tricks = [
        (Trick::Panic, "the handler panics"),
        (Trick::Display, "[its Display panicked]"),
        (Trick::Source, "nasty: [its source panicked: source panics]"),
        (Trick::DropError, "nasty"),
        (Trick::DropOutput, "the destructor of an output panics"),
        (Trick::WriteOutput, "writing panics"),
        (Trick::DropFuture, "the destructor of a future panics"),
    ];
    for (trick, message) in tricks {
        let job = ratchet.enqueue(Hostile { trick }).await.expect("enqueues").id();
        let thread = (trick != Trick::DropFuture).then_some(HostileBlocking { trick });
        let mut jobs = vec![job];
        if let Some(thread) = thread {
            jobs.push(ratchet.enqueue(thread).await.expect("enqueues").id());
        }
        for id in jobs {
            let record = fixture.ended(&ratchet, id).await;
            let envelope = record.envelope.expect("an envelope");
            assert_eq!(envelope.reason, TerminalReason::RetryExhausted, "{trick:?}");
            assert!(envelope.failure.message.contains(message), "{}", envelope.failure.message);
            assert_eq!((record.attempts, record.crashes), (2, 0), "{trick:?}");
            assert_eq!(fixture.stage().runs(id), 2, "{trick:?} ran once per attempt");
        }
    }
    assert_eq!(worker.stats().vanished, 0);
    assert_well(&fixture, &ratchet, &worker).await;
    worker.stop().await;
}

/// Implements several component traits and panics in their methods.
#[derive(Clone)]
struct Rude;

impl std::fmt::Debug for Rude {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic!("Debug panics")
    }
}

impl RetryPolicy for Rude {
    fn should_retry(&self, _: &FailedJob<'_>, _: &Failure) -> bool {
        panic!("a policy panics")
    }

    fn backoff(&self, _: &FailedJob<'_>, _: &Failure) -> Option<Duration> {
        panic!("a policy panics")
    }
}

impl ErrorSanitizer for Rude {
    fn sanitize(&self, _: &RawError<'_>) -> String {
        panic!("a sanitizer panics")
    }
}

#[async_trait]
impl Middleware for Rude {
    async fn after(&self, _: &JobContext, report: &RunReport) -> Result<(), JobError> {
        match report.outcome {
            AttemptOutcome::Success => Err(Nasty(Trick::DropError).into()),
            _ => panic!("a hook panics"),
        }
    }
}

pub async fn x_09_a_panic_of_a_component_is_counted_and_changes_no_outcome(fixture: EngineFixture) {
    let well = Arc::new(AtomicBool::new(false));
    let answer = Arc::clone(&well);
    let builder = with_hostile(&fixture)
        .retry_policy(Rude)
        .sanitizer(Rude)
        .middleware(Rude)
        .config(|config| config.health_retry = Duration::from_millis(5))
        .health_check("rude", move || {
            let well = answer.load(Ordering::SeqCst);
            async move { if well { Ok(()) } else { Err(Nasty(Trick::Display)) } }
        });
    let (ratchet, worker) = start(builder).await;
    eventually("the check has failed", async || {
        worker.readiness().problems.iter().any(|problem| problem.contains("Display panicked"))
    })
    .await;
    well.store(true, Ordering::SeqCst);
    let job = fixture.play(&ratchet, [Step::Error("once".into()), Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.attempts), (JobState::Succeeded, 1));
    assert_eq!(
        outcomes(&ratchet, job.id()).await,
        [AttemptOutcome::Failure, AttemptOutcome::Success]
    );
    let failing = ratchet.enqueue(Script::of([Step::Error("always".into())])).max_retries(2);
    let failing = failing.await.expect("enqueues");
    let record = fixture.ended(&ratchet, failing.id()).await;
    assert_eq!((record.state, record.attempts), (JobState::Failed, 3));
    let panics = worker.panics();
    for component in ["retry policy", "sanitizer", "middleware"] {
        assert!(panics.get(component).is_some_and(|count| *count > 0), "{component}: {panics:?}");
    }
    assert_well(&fixture, &ratchet, &worker).await;
    worker.stop().await;
}

/// A sink that returns two errors that panic, then panics itself, then accepts.
#[derive(Debug, Clone, Default)]
struct Sink {
    offered: Arc<AtomicU32>,
    taken: Arc<AtomicU32>,
}

#[async_trait]
impl DeadLetterSink for Sink {
    async fn publish(&self, _: &Envelope) -> Result<(), SinkError> {
        match self.offered.fetch_add(1, Ordering::SeqCst) {
            0 => Err(Nasty(Trick::DropError).into()),
            1 => Err(Nasty(Trick::Display).into()),
            2 => panic!("a sink panics"),
            _ => {
                self.taken.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }
        }
    }
}

pub async fn x_09_a_sink_whose_error_panics_is_asked_again(fixture: EngineFixture) {
    let sink = Sink::default();
    let (ratchet, worker) = start(with_hostile(&fixture).dead_letter_sink(sink.clone())).await;
    let job = ratchet.enqueue(Script::of([Step::Fatal])).await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    eventually("the sink has it", async || {
        fixture.advance(Duration::from_millis(10)).await;
        sink.taken.load(Ordering::SeqCst) == 1
    })
    .await;
    assert!(worker.panics().get("sink").is_some_and(|count| *count >= 2), "{:?}", worker.panics());
    worker.stop().await;
}

/// A resolver that panics on its first call.
#[derive(Debug)]
struct Forgetful {
    registry: Registry,
    asked: AtomicU32,
}

impl JobInvocationResolver for Forgetful {
    fn resolve(&self, name: &str) -> Option<Registration> {
        assert!(self.asked.fetch_add(1, Ordering::SeqCst) > 0, "a resolver panics");
        self.registry.resolve(name)
    }

    fn all(&self) -> Vec<Registration> {
        self.registry.all()
    }
}

pub async fn x_09_a_resolver_that_panics_fails_the_attempt(fixture: EngineFixture) {
    let registry = Registry::new(script::jobs()).expect("no clashes");
    let resolver = Forgetful { registry, asked: AtomicU32::new(0) };
    let (ratchet, worker) = start(fixture.builder().resolver(resolver)).await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.attempts, record.run), (JobState::Succeeded, 1, 2));
    assert_eq!(worker.panics().get("resolver"), Some(&1));
    worker.stop().await;
}

pub async fn x_09_a_task_that_vanishes_is_counted_and_limited(fixture: EngineFixture) {
    let spawn = Losing::new(None);
    let ratchet = fixture.builder().crash_limit(1).build().await.expect("builds");
    let worker = ratchet.start_on(spawn.clone()).await.expect("starts");
    let job = fixture.play(&ratchet, [Step::Hang]).await;
    eventually("it is given up", async || {
        if fixture.stage().running() > 0 {
            spawn.lose();
        }
        fixture.advance(Duration::from_secs(1)).await;
        let job = ratchet.jobs().get(job.id()).await.expect("reads").expect("is there");
        job.state == JobState::Failed
    })
    .await;
    let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("is there");
    assert_eq!(record.envelope.expect("an envelope").reason, TerminalReason::Poisoned);
    assert_eq!((record.crashes, fixture.stage().runs(job.id())), (2, 2));
    assert_eq!(worker.stats().vanished, 2);
    assert_well(&fixture, &ratchet, &worker).await;
    worker.stop().await;
}

pub async fn x_09_a_runtime_that_takes_no_tasks_stops_claiming(fixture: EngineFixture) {
    let spawn = Losing::new(None);
    // The watchdog would detect it only after an hour.
    let builder = fixture.builder().config(|config| config.stall_after = Duration::from_hours(1));
    let ratchet = builder.build().await.expect("builds");
    let worker = ratchet.start_on(spawn.clone()).await.expect("starts");
    spawn.closed.store(true, Ordering::SeqCst);
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    eventually("it is not alive", async || !worker.liveness().ok).await;
    spawn.closed.store(false, Ordering::SeqCst);
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!((record.state, record.attempts, record.crashes), (JobState::Succeeded, 0, 0));
    assert!(worker.stats().vanished >= 1);
    worker.stop().await;
}

pub async fn x_09_an_endless_display_is_cut_off(fixture: EngineFixture) {
    let (ratchet, worker) = start(with_hostile(&fixture)).await;
    for trick in [Trick::EndlessDisplay, Trick::RudeDisplay] {
        let job = ratchet.enqueue(Hostile { trick }).max_retries(0).await.expect("enqueues");
        let record = fixture.ended(&ratchet, job.id()).await;
        let message = record.envelope.expect("an envelope").failure.message;
        assert!(message.starts_with("endless endless") && message.len() <= 2000, "{message}");
    }
    assert_well(&fixture, &ratchet, &worker).await;
    worker.stop().await;
}
