//! The outcome sink: every outcome of a job is delivered at least once and in order.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet_core::{JobId, JobState, OutcomeSink, SinkError, async_trait};
use ratchet_store::model::{JobOutcome, OutcomeKind};

use super::crash::{Rescuer, die_with};
use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::{Script, Step};

/// A sink that stores outcomes. If `refuses` is set, it returns an error or panics at the first delivery of each.
#[derive(Debug, Clone, Default)]
struct Sink {
    taken: Arc<Mutex<Vec<JobOutcome>>>,
    refused: Arc<Mutex<HashSet<(JobId, u64)>>>,
    refuses: bool,
    /// The number of the run whose outcomes are currently refused, for every job.
    not_yet: Arc<AtomicU64>,
}

impl Sink {
    fn taken(&self) -> Vec<JobOutcome> {
        self.taken.lock().expect("lock").clone()
    }

    /// Returns the stored outcomes of one job.
    fn of(&self, job: JobId) -> Vec<JobOutcome> {
        self.taken().into_iter().filter(|outcome| outcome.job_id == job).collect()
    }
}

#[async_trait]
impl OutcomeSink for Sink {
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
        let (job, run) = (outcome.job_id, outcome.run);
        if run == self.not_yet.load(Ordering::SeqCst) {
            return Err("not yet".into());
        }
        if self.refuses && self.refused.lock().expect("lock").insert((job, run)) {
            assert!(outcome.kind == OutcomeKind::Success, "a sink may panic");
            return Err("not now".into());
        }
        self.taken.lock().expect("lock").push(outcome.clone());
        Ok(())
    }
}

async fn until(fixture: &EngineFixture, what: &str, holds: impl Fn() -> bool) {
    eventually(what, async || {
        fixture.advance(Duration::from_millis(10)).await;
        holds()
    })
    .await;
}

pub async fn i_04_the_sink_is_woken_and_does_not_wait_for_a_sweep(fixture: EngineFixture) {
    let sink = Sink::default();
    let builder = fixture.builder().outcome_sink(sink.clone());
    let (ratchet, worker) = start(builder.maintenance_interval(Duration::from_hours(1))).await;
    for count in 1..=3 {
        let job = fixture.play(&ratchet, [Step::Ok]).await;
        eventually("it is delivered", async || sink.of(job.id()).len() == 1).await;
        assert_eq!(sink.taken().len(), count);
    }
    worker.stop().await;
}

pub async fn i_04_every_end_reaches_the_sink(fixture: EngineFixture) {
    let sink = Sink::default();
    let (ratchet, worker) = start(fixture.builder().outcome_sink(sink.clone())).await;
    let wanted = [
        (Step::Big(3), OutcomeKind::Success),
        (Step::Error("down".into()), OutcomeKind::Failure),
        (Step::Panic("boom".into()), OutcomeKind::Exception),
        (Step::Invalid, OutcomeKind::Invalid),
    ];
    let mut jobs = Vec::new();
    for (step, kind) in wanted {
        let job = ratchet.enqueue(Script::of([step])).max_retries(0).correlation_id("order 7");
        jobs.push((job.await.expect("enqueues").id(), kind));
    }
    let called_off = ratchet.enqueue(Script::of([Step::Ok])).delay(Duration::from_hours(1));
    let called_off = called_off.await.expect("enqueues").id();
    ratchet.jobs().cancel(called_off).await.expect("cancels");
    until(&fixture, "all are reported", || sink.taken().len() >= jobs.len()).await;
    for (job, kind) in jobs {
        let record = fixture.ended(&ratchet, job).await;
        let reported = sink.of(job);
        let outcome = reported.first().unwrap_or_else(|| panic!("{kind:?} was not reported"));
        assert_eq!((outcome.kind, outcome.run, outcome.generation), (kind, 1, 1));
        assert_eq!(outcome.correlation_id.as_deref(), Some("order 7"));
        assert_eq!(outcome.output, record.output);
        assert_eq!(outcome.envelope.is_none(), kind == OutcomeKind::Success);
        assert_eq!(outcome.envelope.as_deref(), record.envelope.as_ref());
        assert_eq!(Some(outcome.at), record.finished_at);
    }
    assert!(sink.of(called_off).is_empty(), "what was called off has no outcome");
    worker.stop().await;
}

pub async fn i_04_a_job_that_is_tried_again_ends_in_order(fixture: EngineFixture) {
    let sink = Sink { refuses: true, not_yet: Arc::new(1.into()), ..Sink::default() };
    let (ratchet, worker) = start(fixture.builder().outcome_sink(sink.clone())).await;
    let steps = [Step::Error("down".into()), Step::Error("down".into()), Step::Ok];
    let job = ratchet.enqueue(Script::of(steps)).max_retries(0).await.expect("enqueues").id();
    for _ in 0..2 {
        fixture.until(&ratchet, job, JobState::Failed).await;
        ratchet.jobs().retry(job).await.expect("retries");
    }
    fixture.until(&ratchet, job, JobState::Succeeded).await;
    assert!(sink.of(job).is_empty(), "the first is refused, the others wait for it");
    sink.not_yet.store(0, Ordering::SeqCst);
    until(&fixture, "the last end is reported", || {
        sink.of(job).iter().any(|outcome| outcome.kind == OutcomeKind::Success)
    })
    .await;
    let mut runs: Vec<_> = sink.of(job).iter().map(|outcome| outcome.run).collect();
    assert!(runs.is_sorted(), "{runs:?}");
    runs.dedup();
    assert_eq!(runs, [1, 2, 3]);
    worker.stop().await;
}

pub async fn i_04_a_refused_outcome_comes_again_and_holds_up_nobody_else(fixture: EngineFixture) {
    let sink = Sink { refuses: true, ..Sink::default() };
    let (ratchet, worker) = start(fixture.builder().outcome_sink(sink.clone())).await;
    let mut jobs = HashSet::new();
    for step in [Step::Ok, Step::Error("down".into()), Step::Ok] {
        let job = ratchet.enqueue(Script::of([step])).max_retries(0).await.expect("enqueues");
        jobs.insert(job.id());
    }
    until(&fixture, "all are reported although each was refused once", || {
        sink.taken().iter().map(|outcome| outcome.job_id).collect::<HashSet<_>>() == jobs
    })
    .await;
    assert_eq!(sink.refused.lock().expect("lock").len(), jobs.len());
    worker.stop().await;
}

pub async fn i_04_poison_is_told(fixture: EngineFixture) {
    let sink = Sink::default();
    let ratchet = fixture.ratchet().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await.id();
    die_with(&fixture, true).await;
    let rescuer = fixture.builder().crash_limit(0).jobs([]).resolver(Rescuer);
    let (_, worker) = start(rescuer.outcome_sink(sink.clone())).await;
    until(&fixture, "it is reported", || !sink.of(job).is_empty()).await;
    assert_eq!(sink.of(job)[0].kind, OutcomeKind::Exception);
    worker.stop().await;
}
