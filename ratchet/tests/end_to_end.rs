//! An end-to-end test: an annotated job is enqueued as a struct literal, resolved by name and run by a worker.

#![allow(clippy::unused_async)] // a job is async even if it awaits nothing

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ratchet::hooks::{OutcomeSink, SinkError};
use ratchet::model::JobOutcome;
use ratchet::testing::Sandbox;
use ratchet::{
    Job, JobContext, JobState, MemoryStore, Ratchet, State, WaitError, async_trait, job,
};

struct Greeting(String);

/// Returns a greeting for `name`.
#[job(queue = "mail", max_retries = 2)]
async fn greet(
    #[inject] ctx: JobContext,
    #[inject] greeting: State<Greeting>,
    name: String,
) -> Result<String, ratchet::JobError> {
    ctx.set_progress(100.0, "done");
    Ok(format!("{} {name}", greeting.0.0))
}

#[job(max_retries = 0)]
async fn explode() {
    panic!("boom");
}

#[job(blocking)]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

async fn runtime() -> Ratchet {
    Ratchet::builder(MemoryStore::new())
        .state(Greeting("hello".to_owned()))
        .jobs([Greet::JOB, Explode::JOB, Add::JOB])
        .build()
        .await
        .expect("builds")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_runs_and_its_output_is_typed() {
    let ratchet = runtime().await;
    let worker = ratchet.start().await.expect("starts");
    let handle = ratchet.enqueue(Greet { name: "Ada".to_owned() }).await.expect("enqueues");
    let sum = ratchet.enqueue(Add { a: 2, b: 3 }).await.expect("enqueues");
    assert_eq!(handle.wait_for(Duration::from_secs(10)).await.expect("succeeds"), "hello Ada");
    assert_eq!(sum.wait_for(Duration::from_secs(10)).await.expect("succeeds"), 5);
    let bad = ratchet.enqueue(Explode {}).await.expect("enqueues");
    let error = bad.wait_for(Duration::from_secs(10)).await.expect_err("fails");
    let WaitError::Failed(envelope) = error else { panic!("{error}") };
    assert!(envelope.failure.message.contains("boom"), "{envelope:?}");
    assert!(envelope.failure.message.contains("end_to_end.rs"), "{envelope:?}");
    assert_eq!(bad.status().await.expect("reads"), Some(JobState::Failed));
    worker.stop().await;
}

#[tokio::test]
async fn the_bare_function_needs_no_runtime() {
    let said =
        greet(JobContext::for_test(), State::new(Greeting("hi".to_owned())), "Bob".to_owned())
            .await;
    assert_eq!(said.expect("greets"), "hi Bob");
}

/// A sink that counts the outcomes it receives.
#[derive(Debug)]
struct Counter(&'static AtomicUsize);

#[async_trait]
impl OutcomeSink for Counter {
    async fn publish(&self, _: &JobOutcome) -> Result<(), SinkError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test]
async fn i_04_one_round_tells_all_that_waits() {
    static TOLD: AtomicUsize = AtomicUsize::new(0);
    let sandbox = Sandbox::builder()
        .jobs([Add::JOB])
        .configure(|builder| builder.outcome_sink(Counter(&TOLD)))
        .build()
        .await
        .expect("builds");
    for b in 0..350 {
        sandbox.enqueue(Add { a: 1, b }).await.expect("enqueues");
    }
    sandbox.drain().await.expect("drains");
    assert_eq!(TOLD.load(Ordering::SeqCst), 350, "however many batches that takes");
}

/// The worker claims when the rate of the key lets the next job start. No poll comes to its help.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn q_06_an_idle_worker_needs_no_poll_to_start_a_job_that_waited_for_its_rate() {
    const HOUR: Duration = Duration::from_hours(1);
    let ratchet = Ratchet::builder(MemoryStore::new())
        .jobs([Add::JOB])
        .queue("rated", |queue| queue.rate_per_key(1, Duration::from_millis(50)))
        .config(|config| config.poll_interval = (HOUR, HOUR))
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let mut sums = Vec::new();
    for number in 0..4 {
        let add = ratchet.enqueue(Add { a: number, b: 1 }).queue("rated");
        sums.push(add.concurrency_key("k", 9).await.expect("enqueues"));
    }
    for (number, sum) in (0..).zip(&sums) {
        let sum = sum.wait_for(Duration::from_mins(1)).await.expect("succeeds");
        assert_eq!(sum, number + 1);
    }
    worker.stop().await;
}
