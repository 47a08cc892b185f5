//! Metrics: they count what the store has applied.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ratchet_core::{
    JobState, MetricValue, Metrics, OutcomeSink, QueueLimits, Ratchet, Rate, SinkError, StatsBy,
    StatsTier,
};
use ratchet_store::model::{AttemptOutcome, JobOutcome};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::{Script, Step};

fn gauge(metrics: &Metrics, name: &str, labels: &[&str]) -> Option<f64> {
    match metrics.get(name, labels) {
        Some(MetricValue::Gauge(value)) => Some(*value),
        _ => None,
    }
}

/// Adds up the outcomes by their first label that is not the queue or the job.
fn outcomes(metrics: &Metrics) -> BTreeMap<String, u64> {
    let mut outcomes = BTreeMap::new();
    for series in metrics.series("ratchet.job.outcomes") {
        let MetricValue::Counter(count) = series.value else { panic!("a counter") };
        *outcomes.entry(series.labels[2].to_string()).or_default() += count;
    }
    outcomes
}

// spec: M-01
pub async fn v_03_metrics_agree_with_the_history(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let scripts: [&[Step]; 7] = [
        &[Step::Ok],
        &[Step::Error("no".to_owned()), Step::Ok],
        &[Step::Panic("ouch".to_owned()), Step::Error("no".to_owned()), Step::Ok],
        &[Step::Permanent],
        &[Step::Snooze, Step::Ok],
        &[Step::Invalid],
        &[Step::Spawn(3)],
    ];
    let mut ids = Vec::new();
    for _ in 0..5 {
        for script in scripts {
            ids.push(fixture.play(&ratchet, script.iter().cloned()).await.id());
        }
    }
    for id in &ids {
        fixture.ended(&ratchet, *id).await;
    }
    let total = ids.len() as u64 + 15;
    eventually("children have ended", async || {
        let counts = ratchet.jobs().counts().await.expect("counts");
        counts.state(JobState::Succeeded) + counts.state(JobState::Failed) == total
    })
    .await;
    worker.stop().await;

    let page = ratchet_core::PageRequest { before: None, limit: 1000 };
    let jobs = ratchet.jobs().list(&ratchet_core::Filter::any(), page).await.expect("lists").jobs;
    assert_eq!(jobs.len() as u64, total);
    let (mut expected, mut runs, mut seconds) = (BTreeMap::new(), 0_u32, 0.0);
    for job in &jobs {
        let attempts = ratchet.jobs().attempts(job.id).await.expect("reads");
        for (number, attempt) in attempts.iter().enumerate() {
            let is_last = number + 1 == attempts.len();
            let outcome = match attempt.outcome {
                AttemptOutcome::Success => "succeeded",
                AttemptOutcome::Snoozed => "deferred",
                AttemptOutcome::Released => "released",
                _ if is_last && job.state == JobState::Failed => "failed",
                _ => "retried",
            };
            *expected.entry(outcome.to_owned()).or_default() += 1;
            if outcome != "released" {
                runs += 1;
                seconds += attempt.duration.as_secs_f64();
            }
        }
    }
    let metrics = ratchet.metrics();
    assert_eq!(outcomes(&metrics), expected);
    assert_eq!(metrics.total("ratchet.job.submitted", &[]), total);
    assert_eq!(metrics.total("ratchet.job.run.duration", &[]), u64::from(runs));
    let started = metrics.total("ratchet.job.started", &[]);
    assert!(started >= u64::from(runs), "{started} of {runs}");
    assert_eq!(metrics.total("ratchet.job.wait.duration", &[]), started);
    let measured: f64 = metrics
        .series("ratchet.job.run.duration")
        .iter()
        .map(|series| match &series.value {
            MetricValue::Histogram(histogram) => histogram.sum(),
            _ => 0.0,
        })
        .sum();
    // Stores keep microseconds.
    assert!((measured - seconds).abs() < 1e-6 * f64::from(runs), "{measured} for {seconds}");
    for series in metrics.series("ratchet.job.running") {
        assert_eq!(series.value, MetricValue::Gauge(0.0), "{:?}", series.labels);
    }
    let panics =
        metrics.total("ratchet.job.outcomes", &["default", "test.script", "retried", "panic"]);
    assert_eq!(panics, 5, "{}", metrics.to_prometheus());
    let invalid =
        metrics.total("ratchet.job.outcomes", &["default", "test.script", "failed", "invalid"]);
    assert_eq!(invalid, 5);
    assert_statistics_agree(&ratchet, &metrics).await;
}

/// Compares the statistics in the store with the metrics of the only process that has run jobs. The worker has written
/// them when it stopped.
async fn assert_statistics_agree(ratchet: &Ratchet, metrics: &Metrics) {
    let stats = ratchet.stats().last(Duration::from_hours(24)).tier(StatsTier::Minute);
    let stats = stats.series(StatsBy::QueueAndName).await.expect("reads");
    for series in &stats.series {
        let labels = [&*series.queue, &*series.name];
        let total = series.total();
        let counts = total.counts;
        assert_eq!(counts.submitted, metrics.total("ratchet.job.submitted", &labels));
        assert_eq!(counts.started, metrics.total("ratchet.job.started", &labels));
        for (outcome, count) in [
            ("succeeded", counts.succeeded),
            ("retried", counts.retried),
            ("failed", counts.failed),
            ("deferred", counts.deferred),
            ("released", counts.released),
        ] {
            let labels = [labels[0], labels[1], outcome];
            assert_eq!(count, metrics.total("ratchet.job.outcomes", &labels), "{labels:?}");
        }
        for (name, measured) in
            [("ratchet.job.wait.duration", total.wait), ("ratchet.job.run.duration", total.run)]
        {
            let Some(MetricValue::Histogram(histogram)) = metrics.get(name, &labels) else {
                panic!("{name} of {labels:?} was not measured");
            };
            assert_eq!(measured.histogram, *histogram, "{name} of {labels:?}");
        }
    }
    let started: u64 = stats.series.iter().map(|series| series.total().counts.started).sum();
    assert_eq!(started, metrics.total("ratchet.job.started", &[]), "no job is missing");
}

async fn sampled(ratchet: &Ratchet) -> Metrics {
    ratchet.sample_metrics().await.expect("samples");
    ratchet.metrics()
}

pub async fn v_03_gauges_of_the_store_are_sampled(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    for _ in 0..3 {
        ratchet.enqueue(Script::of([Step::Ok])).queue("mail").await.expect("enqueues");
    }
    let failing = ratchet.enqueue(Script::of([Step::Permanent])).concurrency_key("k", 1);
    let failing = failing.await.expect("enqueues");
    ratchet.queues().pause("mail").await.expect("pauses");
    let mut each = QueueLimits::default();
    each.rate_per_key = Some(Rate { jobs: 1, per: Duration::from_hours(1) });
    ratchet.queues().limit("default", each).await.expect("limits");
    ratchet.breakers().open("payments", None).await.expect("opens");
    let worker = ratchet.start().await.expect("starts");
    fixture.ended(&ratchet, failing.id()).await;
    assert_eq!(gauge(&ratchet.metrics(), "ratchet.queue.depth", &["mail"]), None, "not sampled");
    let metrics = sampled(&ratchet).await;
    for (name, labels, expected) in [
        ("ratchet.queue.depth", &["mail"][..], 3.0),
        ("ratchet.queue.depth", &["default"], 0.0),
        ("ratchet.queue.blocked", &["mail", "paused"], 3.0),
        ("ratchet.queue.full_keys", &["default"], 1.0),
        ("ratchet.dlq.depth", &["default"], 1.0),
        ("ratchet.breaker.state", &["payments"], 2.0),
        ("ratchet.node.live", &[], 1.0),
        ("ratchet.node.capacity", &[], 16.0),
        ("ratchet.node.runaways", &[], 0.0),
        ("ratchet.health.check", &["lease"], 1.0),
    ] {
        assert_eq!(gauge(&metrics, name, labels), Some(expected), "{name} {labels:?}");
    }
    assert_eq!(metrics.total("ratchet.breaker.transitions", &["payments", "open"]), 1);
    let lease = gauge(&metrics, "ratchet.node.lease_left", &[]).expect("a worker runs");
    assert!(lease > 3500.0 && lease <= 3600.0, "{lease}");
    // A sample is reused, so a scrape in a loop does not load the store.
    ratchet.queues().resume("mail").await.expect("resumes");
    let metrics = sampled(&ratchet).await;
    assert_eq!(gauge(&metrics, "ratchet.queue.blocked", &["mail", "paused"]), Some(3.0));
    worker.stop().await;
    assert_eq!(gauge(&ratchet.metrics(), "ratchet.node.capacity", &[]), None, "no worker");
}

/// A sink that accepts nothing until it is opened.
#[derive(Debug, Clone, Default)]
struct Gate(Arc<AtomicBool>);

#[async_trait]
impl OutcomeSink for Gate {
    async fn publish(&self, _: &JobOutcome) -> Result<(), SinkError> {
        if self.0.load(Ordering::SeqCst) { Ok(()) } else { Err("closed".into()) }
    }
}

pub async fn v_03_messages_that_wait_for_a_sink_are_sampled(fixture: EngineFixture) {
    let gate = Gate::default();
    let (ratchet, worker) = start(fixture.builder().outcome_sink(gate.clone())).await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.ended(&ratchet, job.id()).await;
    fixture.advance(Duration::from_secs(40)).await;
    let metrics = sampled(&ratchet).await;
    assert_eq!(gauge(&metrics, "ratchet.outbox.depth", &["outcomes"]), Some(1.0));
    let age = gauge(&metrics, "ratchet.outbox.oldest_age", &["outcomes"]).expect("is known");
    assert!(age >= 40.0, "{age}");
    let alerts = gauge(&metrics, "ratchet.outbox.depth", &["alerts"]);
    assert_eq!(alerts, None, "this process has no sink for them");
    gate.0.store(true, Ordering::SeqCst);
    eventually("the sink has taken the outcome", async || {
        fixture.advance(Duration::from_secs(10)).await;
        gauge(&sampled(&ratchet).await, "ratchet.outbox.depth", &["outcomes"]) == Some(0.0)
    })
    .await;
    let age = gauge(&ratchet.metrics(), "ratchet.outbox.oldest_age", &["outcomes"]);
    assert_eq!(age, Some(0.0));
    worker.stop().await;
}

pub async fn v_03_suppressed_duplicates_and_refusals_are_counted(fixture: EngineFixture) {
    let ratchet =
        fixture.builder().queue("full", |queue| queue.max_depth(1)).build().await.expect("builds");
    let script = || Script::of([Step::Ok]);
    for _ in 0..3 {
        ratchet.enqueue(script()).idempotency_key("once").await.expect("enqueues");
    }
    for _ in 0..2 {
        ratchet.enqueue(script()).business_key("held").or_existing().await.expect("enqueues");
    }
    ratchet.enqueue(script()).business_key("held").await.expect_err("is taken");
    ratchet.enqueue(script()).queue("full").await.expect("has space");
    ratchet.enqueue(script()).queue("full").await.expect_err("is full");
    fixture.switches().down.store(true, Ordering::SeqCst);
    ratchet.enqueue(script()).await.expect_err("the store is down");
    ratchet.sample_metrics().await.expect_err("the store is down");
    let metrics = ratchet.metrics();
    for (name, labels, expected) in [
        ("ratchet.suppressed", &["idempotency_key"][..], 2),
        ("ratchet.suppressed", &["business_key"], 1),
        ("ratchet.submit.refused", &["business_key"], 1),
        ("ratchet.submit.refused", &["queue_full"], 1),
        ("ratchet.store.errors", &["insert", "unavailable"], 1),
        ("ratchet.store.errors", &["sample", "unavailable"], 1),
        ("ratchet.job.submitted", &[], 3),
    ] {
        assert_eq!(metrics.total(name, labels), expected, "{name} {labels:?}");
    }
}

pub async fn m_07_a_worker_that_lost_its_store_is_live_and_not_ready(fixture: EngineFixture) {
    let builder = fixture.builder().config(|config| {
        config.lease = Duration::from_millis(400);
        config.heartbeat = Duration::from_millis(20);
    });
    let (ratchet, worker) = start(builder).await;
    eventually("it is ready", async || ratchet.readiness().ok).await;
    let names = |checks: &[ratchet_core::CheckResult]| -> Vec<String> {
        checks.iter().map(|check| check.name.clone()).collect()
    };
    let live = ["engine", "claim_loop", "handler_threads"];
    assert_eq!(names(&ratchet.liveness().checks), live);
    let ready = names(&ratchet.readiness().checks);
    for name in
        live.iter().chain(&["claims", "settlements", "sweep", "deliveries", "lease", "stopping"])
    {
        assert!(ready.iter().any(|it| it == name), "{name} is missing: {ready:?}");
    }
    eventually("it has swept", async || {
        let checks = ratchet.readiness().checks;
        checks.iter().any(|check| check.name == "sweep" && check.age.is_some())
    })
    .await;

    fixture.switches().down.store(true, Ordering::SeqCst);
    eventually("its lease is about to expire", async || !ratchet.readiness().ok).await;
    let health = ratchet.readiness();
    let lease = health.checks.iter().find(|check| check.name == "lease").expect("a check");
    assert!(!lease.ok() && lease.age.is_some_and(|age| age >= Duration::from_millis(300)));
    assert!(ratchet.liveness().ok, "{:?}", ratchet.liveness());
    eventually("errors are counted", async || {
        let metrics = ratchet.metrics();
        metrics.total("ratchet.store.errors", &["heartbeat"]) > 0
            && metrics.total("ratchet.store.errors", &["sweep"]) > 0
            && metrics.total("ratchet.sweep.failures", &[]) > 0
            && gauge(&metrics, "ratchet.health.check", &["lease"]) == Some(0.0)
    })
    .await;

    fixture.switches().down.store(false, Ordering::SeqCst);
    eventually("it is ready again", async || ratchet.readiness().ok).await;
    worker.stop().await;
    assert_eq!(ratchet.readiness().problems, ["no worker is running in this process"]);
    assert!(ratchet.liveness().ok);
}
