//! Reads the measurements of a process.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::Meter;
use super::histogram::{BILLION, Recorder};
use super::job_series::{Counter, JobSeries};
use super::outcomes::OUTCOMES;
use super::rollup::Totals;
use super::series::{OVERFLOW, Series, SeriesTable};
use super::snapshot::Families;
use super::table::{self as metric, Metric};

/// Returns how many billionths one unit of the sum of a histogram is worth.
fn unit(metric: &Metric) -> u128 {
    if metric.unit == "s" { 1 } else { BILLION }
}

/// Writes the series of a table of counters.
fn counters(families: &mut Families, metric: &'static Metric, table: &SeriesTable<Counter>) -> u64 {
    for series in table.all() {
        families.counter(metric, &labels(series), series.value.get());
    }
    table.overflowed().map_or(0, |series| series.value.get())
}

/// Writes the series of a table of histograms.
fn histograms(
    families: &mut Families,
    metric: &'static Metric,
    table: &SeriesTable<Recorder>,
) -> u64 {
    for series in table.all() {
        families.histogram(metric, &labels(series), series.value.read(unit(metric)));
    }
    table.overflowed().map_or(0, |series| series.value.read(1).count())
}

fn labels<T>(series: &Series<T>) -> Vec<&Arc<str>> {
    series.labels.iter().collect()
}

/// Writes a histogram that may have no values.
fn histogram(
    families: &mut Families,
    metric: &'static Metric,
    labels: &[&Arc<str>],
    recorder: &OnceLock<Recorder>,
) -> u64 {
    let Some(recorder) = recorder.get() else { return 0 };
    let histogram = recorder.read(unit(metric));
    let count = histogram.count();
    families.histogram(metric, labels, histogram);
    count
}

impl Meter {
    /// Writes all measurements.
    pub(crate) fn collect(&self, families: &mut Families, now: Duration) {
        let mut overflow = BTreeMap::new();
        self.collect_jobs(families, &mut overflow);
        self.collect_queues(families, &mut overflow);
        let tables: [(&'static Metric, &SeriesTable<Counter>); 12] = [
            (&metric::BREAKER_TRANSITIONS, &self.breaker_transitions),
            (&metric::SCHEDULE_MISSED, &self.schedule_missed),
            (&metric::DELIVERED, &self.delivered),
            (&metric::DELIVERY_FAILURES, &self.delivery_failures),
            (&metric::HANDED_OFF, &self.handed_off),
            (&metric::HANDOFF_ADMITTED, &self.handoff_admitted),
            (&metric::HANDOFF_REFUSALS, &self.handoff_refusals),
            (&metric::REJECTS, &self.rejects),
            (&metric::SUPPRESSED, &self.suppressed),
            (&metric::SUBMIT_REFUSED, &self.submit_refused),
            (&metric::CANCELED, &self.canceled),
            (&metric::STORE_ERRORS, &self.store_errors),
        ];
        for (metric, table) in tables {
            overflow.insert(metric.name, counters(families, metric, table));
        }
        let tables: [(&'static Metric, &SeriesTable<Recorder>); 3] = [
            (&metric::SCHEDULE_LATENESS, &self.schedule_lateness),
            (&metric::HANDOFF_LATENCY, &self.handoff_latency),
            (&metric::STORE_DURATION, &self.store_duration),
        ];
        for (metric, table) in tables {
            overflow.insert(metric.name, histograms(families, metric, table));
        }
        families.counter(&metric::STUCK, &[], self.stuck.get());
        families.counter(&metric::UNSIGNED, &[], self.unsigned.get());
        families.counter(&metric::VANISHED, &[], self.vanished.get());
        families.counter(&metric::CLAIM_EMPTY, &[], self.claim_empty.get());
        families.counter(&metric::SWEEP_FAILURES, &[], self.sweep_failures.get());
        histogram(families, &metric::CLAIM_SIZE, &[], &self.claim_size);
        if let Some(sample) = self.sampled.get() {
            overflow.extend(sample.write(families, now));
        }
        for (name, count) in overflow.into_iter().filter(|(_, count)| *count > 0) {
            families.counter(&metric::OVERFLOW, &[&Arc::from(name)], count);
        }
    }

    /// Returns what was counted since the process began, by queue and job name. Those beyond the limit of series are
    /// counted together.
    pub(crate) fn totals(&self) -> Totals {
        let total = |series: &Series<JobSeries>| {
            let (queue, name) = (series.labels[0].to_string(), series.labels[1].to_string());
            let row = series.value.totals(&queue, &name);
            (!row.is_empty()).then_some(((queue, name), row))
        };
        self.jobs.all().into_iter().filter_map(total).collect()
    }

    fn collect_jobs(&self, families: &mut Families, overflow: &mut BTreeMap<&'static str, u64>) {
        for series in self.jobs.all() {
            let (labels, job) = (labels(series), &series.value);
            families.counter(&metric::SUBMITTED, &labels, job.submitted.get());
            families.counter(&metric::STARTED, &labels, job.started.get());
            families.counter(&metric::STALE, &labels, job.stale.get());
            families.counter(&metric::SOFT_TIMEOUTS, &labels, job.soft_timeouts.get());
            #[allow(clippy::cast_precision_loss)] // a gauge is a float
            let running = job.running() as f64;
            families.gauge(&metric::RUNNING, &labels, running);
            let waits = histogram(families, &metric::WAIT, &labels, &job.wait);
            let runs = histogram(families, &metric::RUN, &labels, &job.run);
            for (counter, (outcome, reason)) in job.outcomes.iter().zip(OUTCOMES) {
                let Some(counter) = counter.get() else { continue };
                if !Arc::ptr_eq(counter, &self.outcomes.overflow) {
                    let (outcome, reason) = (Arc::from(outcome), Arc::from(reason));
                    let labels = [labels[0], labels[1], &outcome, &reason];
                    families.counter(&metric::OUTCOMES, &labels, counter.get());
                }
            }
            if self.jobs.overflowed().is_some_and(|rest| std::ptr::eq(rest, series)) {
                overflow.insert(metric::SUBMITTED.name, job.submitted.get());
                overflow.insert(metric::STARTED.name, job.started.get());
                overflow.insert(metric::STALE.name, job.stale.get());
                overflow.insert(metric::SOFT_TIMEOUTS.name, job.soft_timeouts.get());
                overflow.insert(metric::WAIT.name, waits);
                overflow.insert(metric::RUN.name, runs);
            }
        }
        let rest = self.outcomes.overflow.get();
        if rest > 0 {
            let label = Arc::from(OVERFLOW);
            families.counter(&metric::OUTCOMES, &[&label; 4], rest);
            overflow.insert(metric::OUTCOMES.name, rest);
        }
    }

    fn collect_queues(&self, families: &mut Families, overflow: &mut BTreeMap<&'static str, u64>) {
        for series in self.queues.all() {
            let (labels, queue) = (labels(series), &series.value);
            let attempts = histogram(families, &metric::ATTEMPTS, &labels, &queue.attempts);
            let left = histogram(families, &metric::ATTEMPTS_LEFT, &labels, &queue.attempts_left);
            families.counter(&metric::RESCUED, &labels, queue.rescued.get());
            let is_rest = self.queues.overflowed().is_some_and(|rest| std::ptr::eq(rest, series));
            if is_rest {
                overflow.insert(metric::ATTEMPTS.name, attempts);
                overflow.insert(metric::ATTEMPTS_LEFT.name, left);
                overflow.insert(metric::RESCUED.name, queue.rescued.get());
            }
        }
    }
}
