//! Middleware: hooks around every run.

use ratchet_core::{
    HandlerError, JobContext, JobError, JobState, Middleware, Next, Output, RunReport, async_trait,
};
use ratchet_store::model::AttemptOutcome;

use crate::engine::fixture::{EngineFixture, start};
use crate::engine::script::{Stage, Step};

/// A middleware that records its calls.
#[derive(Debug)]
struct Layer {
    name: &'static str,
    stage: Stage,
    fail_before: bool,
    fail_after: bool,
}

impl Layer {
    fn new(name: &'static str, fixture: &EngineFixture) -> Self {
        Self { name, stage: fixture.stage().clone(), fail_before: false, fail_after: false }
    }
}

#[async_trait]
impl Middleware for Layer {
    async fn before(&self, _: &JobContext) -> Result<(), JobError> {
        self.stage.note(format!("before {}", self.name));
        if self.fail_before { Err(JobError::msg("refused before")) } else { Ok(()) }
    }

    async fn around(&self, _: &JobContext, next: Next<'_>) -> Result<Output, HandlerError> {
        self.stage.note(format!("in {}", self.name));
        let output = next.run().await;
        self.stage.note(format!("out {}", self.name));
        output
    }

    async fn after(&self, _: &JobContext, report: &RunReport) -> Result<(), JobError> {
        self.stage.note(format!("after {} {:?}", self.name, report.outcome));
        assert!(!self.fail_after || report.outcome != AttemptOutcome::Success, "a panic after");
        if self.fail_after { Err(JobError::msg("refused after")) } else { Ok(()) }
    }
}

pub async fn x_04_layers_are_passed_in_order(fixture: EngineFixture) {
    let builder = fixture
        .builder()
        .middleware(Layer::new("a", &fixture))
        .middleware(Layer::new("b", &fixture));
    let (ratchet, worker) = start(builder).await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    let expected = [
        "before a",
        "before b",
        "in a",
        "in b",
        "out b",
        "out a",
        "after b Success",
        "after a Success",
    ];
    assert_eq!(fixture.stage().notes(), expected);
    worker.stop().await;
}

pub async fn x_04_a_failing_before_fails_the_attempt(fixture: EngineFixture) {
    let layer = Layer { fail_before: true, ..Layer::new("a", &fixture) };
    let (ratchet, worker) = start(fixture.builder().middleware(layer)).await;
    let job = ratchet
        .enqueue(crate::engine::script::Script::of([Step::Ok]))
        .max_retries(0)
        .await
        .expect("enqueues");
    let record = fixture.ended(&ratchet, job.id()).await;
    assert_eq!(record.state, JobState::Failed);
    assert_eq!(
        (record.error.expect("an error").message.as_str(), fixture.stage().runs(job.id())),
        ("refused before", 0)
    );
    worker.stop().await;
}

pub async fn x_04_a_failing_after_changes_nothing(fixture: EngineFixture) {
    let layer = Layer { fail_after: true, ..Layer::new("a", &fixture) };
    let (ratchet, worker) = start(fixture.builder().middleware(layer)).await;
    let good = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, good.id(), JobState::Succeeded).await;
    let bad = fixture.play(&ratchet, [Step::Fatal]).await;
    fixture.until(&ratchet, bad.id(), JobState::Failed).await;
    worker.stop().await;
}
