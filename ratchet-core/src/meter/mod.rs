//! What a process measures: counters, gauges and histograms of bounded size.
//!
//! Runs are counted by what the store has applied. A measurement costs a lookup without a lock and a few atomic
//! additions, and allocates only for the first one of a series.

mod collect;
mod histogram;
mod job_series;
mod outcomes;
mod prometheus;
mod rollup;
mod sampled;
mod series;
mod snapshot;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use self::histogram::Recorder;
pub(crate) use self::job_series::InFlight;
use self::job_series::{Counter, JobSeries, OutcomeCounters, QueueSeries};
pub(crate) use self::rollup::Rollup;
use self::sampled::Sampled;
pub(crate) use self::sampled::{OutboxSample, QueueSample, Sample};
use self::series::SeriesTable;
pub(crate) use self::snapshot::Families;
pub use self::snapshot::{MetricFamily, MetricSeries, MetricValue, Metrics};
pub(crate) use self::table as metric;
pub use self::table::{Metric, MetricKind};
use ratchet_store::model::{
    BreakerChange, CancelCause, Channel, Claimed, Settled, Settlement, Verdict,
};
use ratchet_store::{StoreError, StoreErrorKind};

/// The measurements of a process.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    /// If this is not set, nothing is recorded on the path of a job that takes its normal course.
    on: bool,
    jobs: SeriesTable<JobSeries>,
    queues: SeriesTable<QueueSeries>,
    outcomes: OutcomeCounters,
    stuck: Counter,
    unsigned: Counter,
    vanished: Counter,
    breaker_transitions: SeriesTable<Counter>,
    claim_size: OnceLock<Recorder>,
    claim_empty: Counter,
    schedule_lateness: SeriesTable<Recorder>,
    schedule_missed: SeriesTable<Counter>,
    delivered: SeriesTable<Counter>,
    delivery_failures: SeriesTable<Counter>,
    handed_off: SeriesTable<Counter>,
    handoff_latency: SeriesTable<Recorder>,
    handoff_admitted: SeriesTable<Counter>,
    handoff_refusals: SeriesTable<Counter>,
    rejects: SeriesTable<Counter>,
    suppressed: SeriesTable<Counter>,
    submit_refused: SeriesTable<Counter>,
    canceled: SeriesTable<Counter>,
    store_errors: SeriesTable<Counter>,
    store_duration: SeriesTable<Recorder>,
    sweep_failures: Counter,
    /// The gauges that need the store.
    sampled: Sampled,
}

impl Meter {
    pub(crate) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// Returns when the store was sampled, by the monotonic clock.
    pub(crate) fn sampled_at(&self) -> Option<Duration> {
        self.sampled.get().map(|sample| sample.at)
    }

    fn job(&self, queue: &str, job: &str) -> &Arc<JobSeries> {
        let new = || JobSeries::new(Arc::clone(self.queue(queue)));
        self.jobs.get(&[queue, job], new)
    }

    fn queue(&self, queue: &str) -> &Arc<QueueSeries> {
        self.queues.get(&[queue], QueueSeries::default)
    }

    /// Records jobs that were stored.
    pub(crate) fn submitted(&self, queue: &str, job: &str, count: u64) {
        if self.on {
            self.job(queue, job).submitted.add(count);
        }
    }

    /// Records jobs that were not stored because of a key.
    pub(crate) fn suppressed(&self, cause: &str) {
        self.suppressed.get(&[cause], Counter::default).add(1);
    }

    /// Records a submit that was refused.
    pub(crate) fn refused(&self, cause: &str) {
        self.submit_refused.get(&[cause], Counter::default).add(1);
    }

    /// Records the start of a run. It is in progress until the result is dropped.
    pub(crate) fn started(&self, job: &Claimed) -> Option<InFlight> {
        if !self.on {
            return None;
        }
        let series = self.job(&job.spec.queue, &job.spec.name);
        series.started.add(1);
        series.wait.get_or_init(Recorder::default).duration(job.queue_wait());
        Some(InFlight::new(series))
    }

    /// Records what the store has done with a settlement.
    pub(crate) fn settled(&self, job: &Claimed, settlement: &Settlement, settled: &Settled) {
        if !self.on {
            return;
        }
        let series = self.job(&job.spec.queue, &job.spec.name);
        match settled {
            Settled::Applied(_) => {}
            Settled::Stale { .. } => return series.stale.add(1),
            Settled::Blocked { .. } => return,
        }
        let position = outcomes::position(settlement);
        self.outcomes.of(series, position).add(1);
        series.ended(position);
        if outcomes::is_timeout(settlement) {
            series.timed_out.add(1);
        }
        let queue = &series.queue;
        match &settlement.verdict {
            Verdict::Succeed { .. } => {
                queue.attempts.get_or_init(Recorder::default).number(u64::from(job.attempt()));
            }
            Verdict::Fail { attempts, .. } => {
                queue.attempts.get_or_init(Recorder::default).number(u64::from(*attempts));
            }
            Verdict::Retry { attempts, .. } => {
                // The first attempt is not a retry.
                let most = job.spec.options.max_retries.saturating_add(1);
                let left = u64::from(most.saturating_sub(*attempts));
                queue.attempts_left.get_or_init(Recorder::default).number(left);
            }
            // These runs have not happened, or nothing is known about their duration.
            Verdict::Release | Verdict::Rescue { .. } => return,
            Verdict::Defer { .. } => {}
        }
        series.run.get_or_init(Recorder::default).duration(settlement.duration);
        for reject in &settlement.rejects {
            let labels = [&*job.spec.name, &*reject.fingerprint];
            self.rejects.get(&labels, Counter::default).add(1);
        }
        for hand_off in &settlement.hand_offs {
            self.handed_off.get(&[&hand_off.pipeline], Counter::default).add(1);
        }
        for (pipeline, count) in &settlement.refused_hand_offs {
            self.handoff_refusals.get(&[pipeline], Counter::default).add(*count);
        }
    }

    /// Records the end of a run whose job was canceled.
    pub(crate) fn canceled_run(&self, job: &Claimed) {
        if self.on {
            let series = self.job(&job.spec.queue, &job.spec.name);
            self.outcomes.of(series, outcomes::CANCELED).add(1);
            series.ended(outcomes::CANCELED);
        }
    }

    /// Records that a command or a graph has canceled a job.
    pub(crate) fn canceled(&self, cause: CancelCause) {
        let cause = match cause {
            CancelCause::Requested => "requested",
            CancelCause::UpstreamFailed => "upstream_failed",
            CancelCause::UpstreamCanceled => "upstream_canceled",
            CancelCause::NotTaken => "not_taken",
            _ => "other",
        };
        self.canceled.get(&[cause], Counter::default).add(1);
    }

    /// Records that a run has reached its soft timeout.
    pub(crate) fn soft_timeout(&self, job: &Claimed) {
        if self.on {
            self.job(&job.spec.queue, &job.spec.name).soft_timeouts.add(1);
        }
    }

    /// Records a run of a job without a signature.
    pub(crate) fn accepted_unsigned(&self) {
        self.unsigned.add(1);
    }

    /// Records an outcome that the store permanently refuses.
    pub(crate) fn stuck(&self) {
        self.stuck.add(1);
    }

    /// Records a run whose task was dropped.
    pub(crate) fn vanished(&self) {
        self.vanished.add(1);
    }

    /// Records the number of jobs that a claim has returned.
    pub(crate) fn claimed(&self, jobs: usize) {
        if !self.on {
            return;
        }
        match u64::try_from(jobs).unwrap_or(u64::MAX) {
            0 => self.claim_empty.add(1),
            jobs => self.claim_size.get_or_init(Recorder::default).number(jobs),
        }
    }

    /// Records the rescue of an orphan.
    pub(crate) fn rescued(&self, queue: &str) {
        self.queue(queue).rescued.add(1);
    }

    /// Records the change of a breaker.
    pub(crate) fn breaker(&self, service: &str, change: BreakerChange) {
        let to = match change {
            BreakerChange::Opened { .. } => "open",
            BreakerChange::Closed => "closed",
        };
        self.breaker_transitions.get(&[service, to], Counter::default).add(1);
    }

    /// Records an occurrence whose job was stored.
    pub(crate) fn fired(&self, schedule: &str, late: Duration) {
        self.schedule_lateness.get(&[schedule], Recorder::default).duration(late);
    }

    /// Records that a firing has passed over an earlier occurrence.
    pub(crate) fn missed(&self, schedule: &str) {
        self.schedule_missed.get(&[schedule], Counter::default).add(1);
    }

    /// Records whether a sink has accepted a delivery.
    pub(crate) fn delivery(&self, channel: Channel, accepted: bool) {
        let table = if accepted { &self.delivered } else { &self.delivery_failures };
        table.get(&[channel.name()], Counter::default).add(1);
    }

    /// Records that a checkpoint was taken from a pipeline, this long after it was stored.
    pub(crate) fn hand_off_taken(&self, pipeline: &str, after: Duration) {
        self.handoff_latency.get(&[pipeline], Recorder::default).duration(after);
    }

    /// Records that a checkpoint was admitted as a job, this long after it was stored.
    pub(crate) fn hand_off_admitted(&self, pipeline: &str, after: Duration) {
        self.hand_off_taken(pipeline, after);
        self.handoff_admitted.get(&[pipeline], Counter::default).add(1);
    }

    /// Returns the pipelines that this process has handed checkpoints to or taken them from.
    pub(crate) fn pipelines(&self) -> Vec<Arc<str>> {
        let sent = self.handed_off.all().into_iter().map(|series| &series.labels[0]);
        let taken = self.handoff_latency.all().into_iter().map(|series| &series.labels[0]);
        let mut all: Vec<_> = sent.chain(taken).map(Arc::clone).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Keeps a sample of the store.
    pub(crate) fn set_sample(&self, sample: Sample) {
        self.sampled.set(sample);
    }

    /// Records the duration of a call to the store.
    pub(crate) fn store_call(&self, operation: &str, took: Duration) {
        if self.on {
            self.store_duration.get(&[operation], Recorder::default).duration(took);
        }
    }

    /// Records an error of the store.
    pub(crate) fn store_error(&self, operation: &str, error: &StoreError) {
        let labels = [operation, kind_name(error.kind())];
        self.store_errors.get(&labels, Counter::default).add(1);
    }

    /// Records a sweep that has failed.
    pub(crate) fn sweep_failed(&self) {
        self.sweep_failures.add(1);
    }
}

fn kind_name(kind: StoreErrorKind) -> &'static str {
    match kind {
        StoreErrorKind::Unavailable => "unavailable",
        StoreErrorKind::ReadOnly => "read_only",
        StoreErrorKind::Full => "full",
        StoreErrorKind::Corrupt => "corrupt",
        StoreErrorKind::Schema => "schema",
        StoreErrorKind::Data => "data",
        StoreErrorKind::Locked => "locked",
        StoreErrorKind::Config => "config",
        StoreErrorKind::Denied => "denied",
        _ => "other",
    }
}
