//! One workload of mixed outcomes: the history of its jobs, the metrics of the process, their text for Prometheus, what an
//! exporter of OpenTelemetry receives, and the statistics in the store agree.
//!
//! `RATCHET_JOBS=100000` runs as many jobs.

#![allow(clippy::print_stdout, clippy::cast_precision_loss)] // the output is a proof

mod support;

use std::collections::BTreeMap;
use std::io::Error;
use std::time::Duration;

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use ratchet_core::{
    Filter, Histogram, Job as _, JobContext, JobError, JobState, MetricValue, Metrics, PageRequest,
    Ratchet, StatCounts, StatsBy, StatsTier, fatal, snooze,
};
use ratchet_macros::job;
use ratchet_sqlite::SqliteStore;
use ratchet_store::Store as _;
use ratchet_store::model::{AttemptOutcome, NodeId, NodeInfo};
use support::{Exported, Series, exported};

/// Succeeds, fails, is retried, is deferred or panics, by its number.
#[job(name = "agreement.mixed", max_retries = 1, backoff = fixed("1ms"), crate = ::ratchet_core)]
async fn mixed(#[inject] ctx: JobContext, number: u64) -> Result<(), JobError> {
    match number % 20 {
        0 => Err(fatal("refused").into()),
        1 => Err(Error::other("fails twice").into()),
        2 if ctx.attempt() == 1 => Err(Error::other("fails once").into()),
        3 if ctx.deferrals() == 0 => Err(snooze(Duration::from_millis(1)).into()),
        4 if ctx.attempt() == 1 => panic!("panics once"),
        _ => Ok(()),
    }
}

/// Exceeds its timeout.
#[job(name = "agreement.slow", max_retries = 0, timeout = "1ms", queue = "slow", crate = ::ratchet_core)]
async fn slow() {
    std::future::pending::<()>().await;
}

type Counts = BTreeMap<&'static str, u64>;

/// What the history of all jobs contains.
#[derive(Debug, Default)]
struct History {
    /// How the runs have ended.
    counts: Counts,
    /// By queue and name: how long jobs have waited, and how long their runs took.
    durations: BTreeMap<[String; 2], (Vec<Duration>, Vec<Duration>)>,
}

async fn history(ratchet: &Ratchet) -> History {
    let mut history = History::default();
    let mut before = None;
    loop {
        let page = PageRequest { before, limit: 1000 };
        let page = ratchet.jobs().list(&Filter::any(), page).await.expect("lists");
        for job in &page.jobs {
            let labels = [job.spec.queue.clone(), job.spec.name.clone()];
            let (waits, runs) = history.durations.entry(labels).or_default();
            let attempts = ratchet.jobs().attempts(job.id).await.expect("reads");
            for (number, attempt) in attempts.iter().enumerate() {
                let is_last = number + 1 == attempts.len();
                let end = match attempt.outcome {
                    AttemptOutcome::Success => "succeeded",
                    AttemptOutcome::Snoozed => "deferred",
                    AttemptOutcome::Released => "released",
                    _ if is_last && job.state == JobState::Failed => "failed",
                    _ => "retried",
                };
                *history.counts.entry(end).or_default() += 1;
                *history.counts.entry("started").or_default() += 1;
                waits.push(attempt.queue_wait);
                runs.push(attempt.duration);
            }
        }
        *history.counts.entry("submitted").or_default() += page.jobs.len() as u64;
        before = page.next;
        if before.is_none() {
            return history;
        }
    }
}

/// Returns the counts that a table has in common with the history.
fn compared(counts: &StatCounts) -> Counts {
    let counts = StatCounts::NAMES.into_iter().zip(counts.values());
    counts.filter(|(name, count)| *count > 0 && *name != "timed_out").collect()
}

/// Returns the name of the count of an outcome.
fn outcome(name: &str) -> &'static str {
    StatCounts::NAMES.into_iter().find(|it| *it == name).expect("an outcome is a count")
}

fn measured(metrics: &Metrics) -> Counts {
    let mut counts = BTreeMap::from([
        ("submitted", metrics.total("ratchet.job.submitted", &[])),
        ("started", metrics.total("ratchet.job.started", &[])),
    ]);
    for series in metrics.series("ratchet.job.outcomes") {
        let MetricValue::Counter(count) = series.value else { panic!("a counter") };
        *counts.entry(outcome(&series.labels[2])).or_default() += count;
    }
    counts.retain(|_, count| *count > 0);
    counts
}

/// Reads the counts from the text for Prometheus.
fn scraped(text: &str) -> Counts {
    let mut counts = Counts::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let count = match name {
            "ratchet_job_submitted_total" => "submitted",
            "ratchet_job_started_total" => "started",
            "ratchet_job_outcomes_total" => {
                let (_, rest) = labels.split_once("outcome=\"").expect("has an outcome");
                outcome(rest.split('"').next().expect("is quoted"))
            }
            _ => continue,
        };
        *counts.entry(count).or_default() += value.parse::<u64>().expect("a whole number");
    }
    counts
}

/// Reads the counts of the instruments.
fn instruments(series: &Series) -> Counts {
    let mut counts = Counts::new();
    for ((name, attributes), value) in series {
        let count = match name.as_str() {
            "ratchet.job.submitted" => "submitted",
            "ratchet.job.started" => "started",
            "ratchet.job.outcomes" => {
                let found = attributes.iter().find(|(key, _)| key == "outcome");
                outcome(&found.expect("has an outcome").1)
            }
            _ => continue,
        };
        let Exported::Count(value) = value else { panic!("a counter: {value:?}") };
        *counts.entry(count).or_default() += value;
    }
    counts
}

/// Compares the percentiles of a histogram with the exact ones.
fn assert_percentiles(histogram: &Histogram, exact: &mut [Duration], what: &str) {
    assert_eq!(histogram.count(), exact.len() as u64, "{what}");
    exact.sort_unstable();
    for (percent, quantile) in [(50, 0.5), (95, 0.95), (99, 0.99), (100, 1.0)] {
        let rank = (exact.len() * percent).div_ceil(100);
        let exact = exact[rank - 1].as_secs_f64();
        let found = histogram.quantile(quantile).expect("has values");
        // The history keeps whole microseconds.
        let error = exact * 0.091 + 2e-6;
        assert!((found - exact).abs() <= error, "{what}: p{percent} is {exact}, not {found}");
    }
}

/// Adds up the minutes as a leader.
async fn fold(store: &SqliteStore, node: NodeId) {
    let lease = Duration::from_mins(1);
    store.join(NodeInfo::new(node), lease).await.expect("joins");
    assert!(store.try_lead(node, lease).await.expect("answers"), "no other node leads");
    while store.fold_stats(node, 10).await.expect("folds") > 0 {}
}

/// Submits jobs, and runs them until all have ended. Returns the node of the worker.
async fn run(ratchet: &Ratchet, jobs: u64) -> NodeId {
    let worker = ratchet.start().await.expect("starts");
    for chunk in (0..jobs).collect::<Vec<_>>().chunks(1000) {
        let chunk = chunk.iter().map(|number| Mixed { number: *number });
        ratchet.enqueue_many(chunk).await.expect("enqueues");
        ratchet.enqueue_many((0..10).map(|_| Slow {})).await.expect("enqueues");
    }
    loop {
        let counts = ratchet.jobs().counts().await.expect("counts");
        if counts.state(JobState::Pending) + counts.state(JobState::Running) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let node = worker.node();
    worker.stop().await;
    node
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m_01_history_metrics_instruments_and_statistics_agree() {
    let jobs: u64 =
        std::env::var("RATCHET_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(500);
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("jobs.db")).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone())
        .jobs([Mixed::JOB, Slow::JOB])
        .concurrency(64)
        .build()
        .await
        .expect("builds");
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(exporter.clone())
        .with_view(ratchet_otel::exponential_histograms)
        .build();
    let export = ratchet_otel::export(&ratchet, &provider.meter("ratchet"));
    let node = run(&ratchet, jobs).await;
    fold(&store, node).await;

    let History { counts: expected, mut durations } = history(&ratchet).await;
    let metrics = ratchet.metrics();
    assert_eq!(measured(&metrics), expected, "the metrics of the process");
    assert_eq!(scraped(&metrics.to_prometheus()), expected, "the text for Prometheus");
    export.flush();
    provider.force_flush().expect("flushes");
    let exported = exported(&exporter);
    assert_eq!(instruments(&exported), expected, "the instruments");
    println!("{jobs} jobs of `agreement.mixed`, by the history: {expected:?}");
    println!("metrics, text for Prometheus and instruments: the same counts");

    for tier in StatsTier::ALL {
        let stats = ratchet.stats().last(Duration::from_hours(24)).tier(tier);
        let stats = stats.series(StatsBy::QueueAndName).await.expect("reads");
        let mut sum = StatCounts::default();
        for series in &stats.series {
            let total = series.total();
            sum.add(&total.counts);
            let labels = [series.queue.clone(), series.name.clone()];
            let (waits, runs) = durations.get_mut(&labels).expect("is in the history");
            for (name, histogram, exact) in [
                ("ratchet.job.run.duration", total.run.histogram, runs),
                ("ratchet.job.wait.duration", total.wait.histogram, waits),
            ] {
                let what = format!("{tier:?} {labels:?} {name}");
                assert_percentiles(&histogram, exact, &what);
                let exact_sum: f64 = exact.iter().map(Duration::as_secs_f64).sum();
                let rounding = exact.len() as f64 * 2e-6;
                assert!((histogram.sum() - exact_sum).abs() <= rounding, "{what}: {exact_sum}");
                let attributes = [("job_name", &labels[1]), ("queue", &labels[0])];
                let attributes = attributes.map(|(key, value)| (key.to_owned(), value.clone()));
                let instrument = exported.get(&(name.to_owned(), attributes.to_vec()));
                let Some(Exported::Histogram { count, exponential: true, .. }) = instrument else {
                    panic!("{what}: {instrument:?}")
                };
                assert_eq!(*count, histogram.count(), "{what}");
                let labels = [&*labels[0], &*labels[1]];
                let metric = metrics.get(name, &labels).expect("was measured");
                assert_eq!(*metric, MetricValue::Histogram(histogram), "{what}");
            }
        }
        assert_eq!(compared(&sum), expected, "{tier:?}");
        let slow = jobs.div_ceil(1000) * 10;
        assert_eq!(sum.timed_out, slow, "{tier:?}");
        println!("{tier:?}: the same counts, distributions and percentiles");
    }
    export.stop().await;
}
