//! One workload of mixed outcomes: the history of its jobs, the metrics of the process and the statistics in the store
//! agree on every count.
//!
//! `RATCHET_JOBS=100000` runs as many jobs.

#![allow(clippy::print_stdout)] // the output is a proof

use std::collections::BTreeMap;
use std::io::Error;
use std::time::Duration;

use ratchet::metrics::{MetricValue, Metrics, StatCounts, StatsBy, StatsTier};
use ratchet::model::{AttemptOutcome, NodeId, NodeInfo};
use ratchet::prelude::*;
use ratchet::{Filter, PageRequest, SqliteStore, Store as _};

/// Succeeds, fails, is retried, is deferred or panics, by its number.
#[job(name = "agreement.mixed", max_retries = 1, backoff = fixed("1ms"))]
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
#[job(name = "agreement.slow", max_retries = 0, timeout = "1ms", queue = "slow")]
async fn slow() {
    std::future::pending::<()>().await;
}

/// Counts how the runs of all jobs have ended, from their history.
async fn history(ratchet: &Ratchet) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    let mut before = None;
    loop {
        let page = PageRequest { before, limit: 1000 };
        let page = ratchet.jobs().list(&Filter::any(), page).await.expect("lists");
        for job in &page.jobs {
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
                *counts.entry(end).or_default() += 1;
                *counts.entry("started").or_default() += 1;
            }
        }
        *counts.entry("submitted").or_default() += page.jobs.len() as u64;
        before = page.next;
        if before.is_none() {
            return counts;
        }
    }
}

/// Returns the counts that a table has in common with the history.
fn compared(counts: &StatCounts) -> BTreeMap<&'static str, u64> {
    let counts = StatCounts::NAMES.into_iter().zip(counts.values());
    counts.filter(|(name, count)| *count > 0 && *name != "timed_out").collect()
}

fn measured(metrics: &Metrics) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::from([
        ("submitted", metrics.total("ratchet.job.submitted", &[])),
        ("started", metrics.total("ratchet.job.started", &[])),
    ]);
    for series in metrics.series("ratchet.job.outcomes") {
        let MetricValue::Counter(count) = series.value else { panic!("a counter") };
        let name = StatCounts::NAMES.into_iter().find(|name| **name == *series.labels[2]);
        *counts.entry(name.expect("an outcome is a count")).or_default() += count;
    }
    counts.retain(|_, count| *count > 0);
    counts
}

/// Adds up the minutes as a leader.
async fn fold(store: &SqliteStore, node: NodeId) {
    let lease = Duration::from_mins(1);
    store.join(NodeInfo::new(node), lease).await.expect("joins");
    assert!(store.try_lead(node, lease).await.expect("answers"), "no other node leads");
    while store.fold_stats(node, 10).await.expect("folds") > 0 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m_01_history_metrics_and_statistics_agree() {
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
    worker.stop().await;
    fold(&store, worker.node()).await;

    let expected = history(&ratchet).await;
    assert_eq!(measured(&ratchet.metrics()), expected, "the metrics of the process");
    println!("{jobs} jobs of `agreement.mixed`, by the history: {expected:?}");
    for tier in StatsTier::ALL {
        let stats = ratchet.stats().last(Duration::from_hours(24)).tier(tier);
        let stats = stats.series(StatsBy::QueueAndName).await.expect("reads");
        let mut sum = StatCounts::default();
        for series in &stats.series {
            let total = series.total();
            sum.add(&total.counts);
            let labels = [&*series.queue, &*series.name];
            let metrics = ratchet.metrics();
            let run = metrics.get("ratchet.job.run.duration", &labels).expect("was measured");
            assert_eq!(*run, MetricValue::Histogram(total.run.histogram), "{tier:?} {labels:?}");
            let wait = metrics.get("ratchet.job.wait.duration", &labels).expect("was measured");
            assert_eq!(*wait, MetricValue::Histogram(total.wait.histogram), "{tier:?} {labels:?}");
        }
        assert_eq!(compared(&sum), expected, "{tier:?}");
        let slow = jobs.div_ceil(1000) * 10;
        assert_eq!(sum.timed_out, slow, "{tier:?}");
        println!("{tier:?}: the same counts and distributions");
    }
}
