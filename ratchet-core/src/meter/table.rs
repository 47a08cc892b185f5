//! [`Metric`]: the table of all metrics, from which the exposition, the documentation and the tests derive.

/// The kind of a metric.
///
/// ```
/// # mod ratchet { pub use ratchet_core as metrics; }
/// use ratchet::metrics::{Metric, MetricKind};
///
/// let counters = Metric::all().iter().filter(|metric| metric.kind == MetricKind::Counter);
/// for counter in counters {
///     assert!(counter.prometheus_name().ends_with("_total"));
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// A number that only grows. It starts at 0 with the process.
    Counter,
    /// A number that can go up and down.
    Gauge,
    /// A distribution of values.
    Histogram,
}

impl MetricKind {
    /// Returns the name of the kind in the Prometheus text format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// One row of the table of metrics.
///
/// ```
/// # mod ratchet { pub use ratchet_core as metrics; }
/// use ratchet::metrics::Metric;
///
/// let depth = Metric::all().iter().find(|metric| metric.name == "ratchet.queue.depth");
/// let depth = depth.expect("it is in the table");
/// assert_eq!((depth.unit, depth.labels), ("{job}", &["queue"][..]));
/// assert_eq!(depth.prometheus_name(), "ratchet_queue_depth");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// The name, as OpenTelemetry uses it: `ratchet.job.run.duration`.
    pub name: &'static str,
    /// The kind of metric.
    pub kind: MetricKind,
    /// The unit in UCUM notation: `s` for seconds, `1` for a ratio or state, `{job}` for a number of jobs.
    pub unit: &'static str,
    /// The names of the labels.
    pub labels: &'static [&'static str],
    /// What the metric measures.
    pub help: &'static str,
}

impl Metric {
    /// Returns the table of all metrics.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as metrics; }
    /// use ratchet::metrics::Metric;
    ///
    /// for metric in Metric::all() {
    ///     println!("{} {}", metric.prometheus_name(), metric.help);
    /// }
    /// ```
    pub fn all() -> &'static [&'static Self] {
        METRICS
    }

    /// Returns the name in the Prometheus text format: `ratchet_job_run_duration_seconds`. Counters end in `_total`.
    pub fn prometheus_name(&self) -> String {
        let mut name = self.name.replace('.', "_");
        if self.unit == "s" {
            name.push_str("_seconds");
        }
        if self.kind == MetricKind::Counter {
            name.push_str("_total");
        }
        name
    }
}

macro_rules! metrics {
    ($($id:ident: $kind:ident $name:literal [$unit:literal] ($($label:literal),*) $help:literal;)*) => {
        $(pub(crate) static $id: Metric = Metric {
            name: $name,
            kind: MetricKind::$kind,
            unit: $unit,
            labels: &[$($label),*],
            help: $help,
        };)*

        static METRICS: &[&Metric] = &[$(&$id),*];
    };
}

#[rustfmt::skip]
metrics! {
    SUBMITTED: Counter "ratchet.job.submitted" ["{job}"] ("queue", "job_name") "Jobs that this process has stored. Jobs submitted with SQL or in a transaction of the caller are not included.";
    STARTED: Counter "ratchet.job.started" ["{run}"] ("queue", "job_name") "Runs that this process has started.";
    RUNNING: Gauge "ratchet.job.running" ["{run}"] ("queue", "job_name") "Runs in progress in this process, including handlers that ignore their stop.";
    OUTCOMES: Counter "ratchet.job.outcomes" ["{run}"] ("queue", "job_name", "outcome", "reason") "Runs whose outcome the store has applied. The outcome is succeeded, retried, failed, deferred, released, rescued or canceled. The reason is the kind of failure, the reason of a dead letter or the cause of a deferral.";
    WAIT: Histogram "ratchet.job.wait.duration" ["s"] ("queue", "job_name") "Time from when a job was due until it was claimed.";
    RUN: Histogram "ratchet.job.run.duration" ["s"] ("queue", "job_name") "Duration of a run, from its start until its outcome was known.";
    SOFT_TIMEOUTS: Counter "ratchet.job.soft_timeouts" ["{run}"] ("queue", "job_name") "Runs that have reached their soft timeout.";
    ATTEMPTS: Histogram "ratchet.job.attempts" ["{attempt}"] ("queue") "Attempts that a job had used when it succeeded or failed permanently.";
    ATTEMPTS_LEFT: Histogram "ratchet.job.attempts_left" ["{attempt}"] ("queue") "Attempts that a job had left when an attempt failed and was scheduled again.";
    STALE: Counter "ratchet.settle.stale" ["{run}"] ("queue", "job_name") "Outcomes that were discarded because the run was no longer current.";
    STUCK: Counter "ratchet.settle.stuck" ["{run}"] () "Outcomes that the store permanently refuses. Their jobs are rescued when this node is gone.";
    UNSIGNED: Counter "ratchet.job.unsigned" ["{run}"] () "Runs of jobs without a signature, which `Sign::AcceptUnsigned` accepts.";
    SETTLE_HELD: Gauge "ratchet.settle.held" ["{run}"] () "Outcomes that wait in memory to be stored.";
    QUEUE_DEPTH: Gauge "ratchet.queue.depth" ["{job}"] ("queue") "Pending jobs in the store, including those that are due later or wait for other steps. Sampled.";
    QUEUE_RUNNING: Gauge "ratchet.queue.running" ["{job}"] ("queue") "Running jobs in the whole cluster. Sampled.";
    QUEUE_PAUSED: Gauge "ratchet.queue.paused" ["{job}"] ("queue") "Paused jobs in the store. Sampled.";
    QUEUE_BLOCKED: Gauge "ratchet.queue.blocked" ["{job}"] ("queue", "cause") "Pending jobs of a queue from which nothing can be claimed because it is paused, or because its concurrency or rate limit is reached. Sampled.";
    FULL_KEYS: Gauge "ratchet.queue.full_keys" ["{key}"] ("queue") "Concurrency keys of a queue that have used up their rate. Only queues with a rate per key. Sampled.";
    OLDEST_AGE: Gauge "ratchet.queue.oldest_age" ["s"] ("queue") "How long the oldest job of a queue that could be claimed according to its state has been due. Jobs that a limit, a key or a breaker holds back are included. Exact unless more than 1,000 jobs of different priorities are due; then at most four aging intervals too low. Sampled.";
    DLQ_DEPTH: Gauge "ratchet.dlq.depth" ["{job}"] ("queue") "Dead letters in the store. Sampled.";
    BREAKER_STATE: Gauge "ratchet.breaker.state" ["1"] ("service") "State of a circuit breaker: 0 closed, 1 half-open, 2 open. Sampled.";
    BREAKER_TRANSITIONS: Counter "ratchet.breaker.transitions" ["{transition}"] ("service", "to") "Changes of a circuit breaker that a run or a command of this process has caused.";
    NODES: Gauge "ratchet.node.live" ["{node}"] () "Nodes with a valid lease in the whole cluster. Sampled.";
    CAPACITY: Gauge "ratchet.node.capacity" ["{run}"] () "How many jobs the workers of this process run at once.";
    LEASE_LEFT: Gauge "ratchet.node.lease_left" ["s"] () "Time until the lease of this node expires. 0 if it may have expired.";
    RUNAWAYS: Gauge "ratchet.node.runaways" ["{run}"] () "Handlers that do not stop and hold their thread.";
    SUSPECTS: Gauge "ratchet.node.suspects" ["{run}"] () "Running jobs that have crashed their workers so often that their number is limited.";
    VANISHED: Counter "ratchet.node.vanished" ["{run}"] () "Runs whose task was dropped by its runtime before it ended.";
    UNREADABLE: Gauge "ratchet.node.unreadable_jobs" ["{job}"] () "Jobs that are set aside because their rows cannot be read, at the last check of this node.";
    RESCUED: Counter "ratchet.orphans.rescued" ["{job}"] ("queue") "Jobs of dead workers that this process has rescued or failed.";
    CLAIM_SIZE: Histogram "ratchet.claim.batch_size" ["{job}"] () "Jobs per claim that returned any.";
    CLAIM_EMPTY: Counter "ratchet.claim.empty" ["{claim}"] () "Claims that returned no job.";
    SCHEDULE_LATENESS: Histogram "ratchet.schedule.lateness" ["s"] ("schedule") "Time from an occurrence of a schedule until its job was stored.";
    SCHEDULE_MISSED: Counter "ratchet.schedule.missed" ["{firing}"] ("schedule") "Firings of a schedule that have passed over an earlier occurrence.";
    DELIVERED: Counter "ratchet.outbox.delivered" ["{message}"] ("channel") "Alerts, dead letters and outcomes that a sink of this process has accepted.";
    DELIVERY_FAILURES: Counter "ratchet.outbox.failures" ["{message}"] ("channel") "Deliveries that a sink of this process has not accepted. They are repeated.";
    OUTBOX_DEPTH: Gauge "ratchet.outbox.depth" ["{message}"] ("channel") "Messages for a sink of this process that wait in the store to be delivered. At most 100,000 are counted. Sampled.";
    OUTBOX_AGE: Gauge "ratchet.outbox.oldest_age" ["s"] ("channel") "Age of the oldest message for a sink of this process that waits in the store. Sampled.";
    HANDED_OFF: Counter "ratchet.handoff.sent" ["{checkpoint}"] ("pipeline") "Checkpoints in settlements that the store has applied, including repeats of a key.";
    HANDOFF_BACKLOG: Gauge "ratchet.handoff.backlog" ["{checkpoint}"] ("pipeline") "Unfinished checkpoints of a pipeline that this process has used. Sampled.";
    HANDOFF_LAG: Gauge "ratchet.handoff.lag" ["s"] ("pipeline") "Age of the oldest unfinished checkpoint of a pipeline. Sampled.";
    HANDOFF_FINISHED: Gauge "ratchet.handoff.finished" ["{checkpoint}"] ("pipeline") "Finished checkpoints of a pipeline. Sampled.";
    HANDOFF_REPEATS: Gauge "ratchet.handoff.repeats" ["{checkpoint}"] ("pipeline") "Hand-offs that were suppressed because their key was used before. Sampled.";
    HANDOFF_LATENCY: Histogram "ratchet.handoff.latency" ["s"] ("pipeline") "Time from the commit of a checkpoint until this process has taken it or admitted it as a job.";
    HANDOFF_ADMITTED: Counter "ratchet.handoff.admitted" ["{checkpoint}"] ("pipeline") "Checkpoints that this process has admitted as jobs.";
    HANDOFF_REFUSALS: Counter "ratchet.handoff.refusals" ["{checkpoint}"] ("pipeline") "Hand-offs and runs that were refused because the pipeline was full, in settlements that the store has applied.";
    REJECTS: Counter "ratchet.rejects" ["{item}"] ("job_name", "fingerprint") "Items that runs have rejected.";
    SUPPRESSED: Counter "ratchet.suppressed" ["{job}"] ("cause") "Submitted jobs that were not stored because of an idempotency key or a business key.";
    SUBMIT_REFUSED: Counter "ratchet.submit.refused" ["{submit}"] ("cause") "Submits that the store or a depth limit has refused.";
    CANCELED: Counter "ratchet.job.canceled" ["{job}"] ("cause") "Jobs that a command or a graph has canceled in this process.";
    STORE_ERRORS: Counter "ratchet.store.errors" ["{error}"] ("operation", "kind") "Errors of the store.";
    STORE_DURATION: Histogram "ratchet.store.duration" ["s"] ("operation") "Duration of calls to the store: insert, claim, settle and settle_and_claim.";
    SWEEP_FAILURES: Counter "ratchet.sweep.failures" ["{sweep}"] () "Sweeps that have failed.";
    SWEEP_AGE: Gauge "ratchet.sweep.age" ["s"] () "Time since the last sweep that succeeded, or since the start.";
    PANICS: Counter "ratchet.panics" ["{panic}"] ("component") "Panics of user code other than handlers.";
    EVENTS_LAGGED: Counter "ratchet.events.lagged" ["{event}"] () "Events that slow subscribers have missed.";
    HEALTH: Gauge "ratchet.health.check" ["1"] ("check") "1 if a check of readiness passes, 0 if it fails.";
    SAMPLE_AGE: Gauge "ratchet.meter.sample_age" ["s"] () "Time since the gauges that need the store were sampled.";
    OVERFLOW: Counter "ratchet.meter.overflow" ["{measurement}"] ("metric") "Measurements under the label value `overflow`, because a metric had 1,000 series.";
    INFO: Gauge "ratchet.info" ["1"] ("program", "version", "ratchet") "Always 1. The labels are the program, its version and the version of Ratchet.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn v_03_names_units_and_labels_of_the_table_are_well_formed() {
        let is_word = |text: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c == '_')
        };
        let (mut names, mut exposed) = (BTreeSet::new(), BTreeSet::new());
        for metric in Metric::all() {
            assert!(metric.name.starts_with("ratchet.") && metric.name.split('.').all(is_word));
            assert!(names.insert(metric.name) && exposed.insert(metric.prometheus_name()));
            // Prometheus adds `job` and `instance` by itself, and `le` belongs to histograms.
            let is_free = |label: &&&str| !matches!(**label, "job" | "instance" | "le");
            assert!(metric.labels.iter().all(|label| is_word(label) && is_free(&label)));
            assert!(metric.help.ends_with('.') && !metric.help.contains('\n'), "{}", metric.name);
            let is_unit = matches!(metric.unit, "s" | "1")
                || (metric.unit.starts_with('{') && metric.unit.ends_with('}'));
            assert!(is_unit, "{}", metric.name);
        }
    }
}
