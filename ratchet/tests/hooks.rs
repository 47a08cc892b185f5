//! The hooks of a job, the middleware of a queue, and observers.
#![allow(clippy::unused_async, reason = "a hook is an async function")]

use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet::hooks::{Middleware, RetryReport, RunReport};
use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet::{Event, State};

/// What the hooks were called with, in order.
#[derive(Debug, Clone, Default)]
struct Calls(Arc<Mutex<Vec<String>>>);

impl Calls {
    fn add(&self, call: impl Into<String>) {
        self.0.lock().expect("not poisoned").push(call.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("not poisoned"))
    }

    fn of(ctx: &JobContext) -> State<Self> {
        ctx.state().expect("it was registered")
    }
}

async fn check(ctx: &JobContext) -> Result<(), JobError> {
    Calls::of(ctx).add("before");
    match ctx.correlation_id() {
        Some("refused") => Err(JobError::msg("not today")),
        Some("panics") => panic!("in a hook"),
        _ => Ok(()),
    }
}

async fn count(ctx: &JobContext, report: &RunReport) {
    Calls::of(ctx).add(format!("after {:?}", report.outcome));
    assert_ne!(ctx.correlation_id(), Some("after panics"), "in a hook");
}

async fn warn(ctx: &JobContext, report: &RetryReport) -> Result<(), std::fmt::Error> {
    let message = format!("retry {} in {:?}", report.attempt, report.delay);
    Calls::of(ctx).add(message);
    Err(std::fmt::Error)
}

#[job(name = "hooks.work", before = check, after = count, on_retry = warn, backoff = fixed("5s"), max_retries = 2)]
async fn work(#[inject] ctx: JobContext, failures: u32) -> Result<(), JobError> {
    Calls::of(&ctx).add("work");
    if ctx.attempt() <= failures { Err(JobError::msg("broken")) } else { Ok(()) }
}

#[job(name = "hooks.plain")]
async fn plain(#[inject] calls: State<Calls>) {
    calls.add("plain");
}

#[derive(Debug)]
struct Layer(&'static str);

#[ratchet::async_trait]
impl Middleware for Layer {
    async fn before(&self, ctx: &JobContext) -> Result<(), JobError> {
        Calls::of(ctx).add(format!("{} before", self.0));
        Ok(())
    }

    async fn after(&self, ctx: &JobContext, _: &RunReport) -> Result<(), JobError> {
        Calls::of(ctx).add(format!("{} after", self.0));
        Ok(())
    }

    async fn on_retry(&self, ctx: &JobContext, report: &RetryReport) -> Result<(), JobError> {
        Calls::of(ctx).add(format!("{} retry {}", self.0, report.attempt));
        Ok(())
    }
}

async fn sandbox() -> (Sandbox, Calls) {
    let calls = Calls::default();
    let builder = Sandbox::builder().jobs([Work::JOB, Plain::JOB]).configure(|builder| {
        let builder = builder.state(calls.clone()).middleware(Layer("all"));
        builder.queue_middleware("slow", Layer("slow"))
    });
    (builder.build().await.expect("builds"), calls)
}

#[tokio::test]
async fn x_04_hooks_of_a_job_are_called_inside_the_middleware() {
    let (sandbox, calls) = sandbox().await;
    sandbox.enqueue(Work { failures: 0 }).await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    let expected = ["all before", "before", "work", "after Success", "all after"];
    assert_eq!(calls.take(), expected);
    sandbox.enqueue(Plain {}).await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    assert_eq!(calls.take(), ["all before", "plain", "all after"], "another job");
}

#[tokio::test]
async fn x_04_middleware_of_a_queue_wraps_only_its_jobs() {
    let (sandbox, calls) = sandbox().await;
    sandbox.enqueue(Plain {}).queue("slow").await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    let expected = ["all before", "slow before", "plain", "slow after", "all after"];
    assert_eq!(calls.take(), expected);
}

#[tokio::test]
async fn x_04_retries_are_reported() {
    let (sandbox, calls) = sandbox().await;
    sandbox.enqueue(Work { failures: 3 }).queue("slow").await.expect("enqueues");
    sandbox.drain_for(Duration::from_mins(1)).await.expect("drains");
    let calls = calls.take();
    let retries: Vec<_> = calls.iter().filter(|call| call.contains("retry")).collect();
    let expected = [
        "retry 1 in 5s",
        "slow retry 1",
        "all retry 1",
        "retry 2 in 5s",
        "slow retry 2",
        "all retry 2",
    ];
    assert_eq!(retries, expected, "the last failure is not retried");
    assert_eq!(calls.iter().filter(|call| *call == "after Failure").count(), 3);
}

#[tokio::test]
async fn x_04_a_failing_before_hook_fails_the_attempt() {
    let (sandbox, calls) = sandbox().await;
    for (mode, outcome) in [("refused", "after Failure"), ("panics", "after Exception")] {
        let job = sandbox.enqueue(Work { failures: 0 }).max_retries(0).correlation_id(mode);
        let job = job.await.expect("enqueues");
        sandbox.drain().await.expect("drains");
        assert_eq!(calls.take(), ["all before", "before", outcome, "all after"]);
        assert_eq!(job.status().await.expect("reads"), Some(JobState::Failed));
    }
}

#[tokio::test]
async fn x_04_a_failing_after_hook_changes_nothing() {
    let (sandbox, calls) = sandbox().await;
    let job = sandbox.enqueue(Work { failures: 0 }).correlation_id("after panics");
    let job = job.await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    assert_eq!(calls.take().last().map(String::as_str), Some("all after"));
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Succeeded));
}

#[tokio::test]
async fn x_04_an_observer_receives_events_and_survives_its_panics() {
    let (sandbox, _) = sandbox().await;
    let (seen, events) = mpsc::channel();
    let observer = sandbox.ratchet().on(move |event| {
        let _ = seen.send(event.clone());
        assert!(!matches!(event, Event::Submitted { .. }), "an observer panics");
    });
    let job = sandbox.enqueue(Plain {}).await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    let next = || events.recv_timeout(Duration::from_mins(1)).expect("an event");
    assert!(matches!(next(), Event::Submitted { job: it } if it.id == job.id()));
    while !matches!(next(), Event::Succeeded { job: it, .. } if it.id == job.id()) {}
    observer.stop();
    sandbox.enqueue(Plain {}).await.expect("enqueues");
    assert!(events.recv_timeout(Duration::from_mins(1)).is_err(), "its thread has ended");
}
