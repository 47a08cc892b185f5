//! The series of one job in one queue, and those of one queue. One lookup finds all of them.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::histogram::Recorder;
use super::outcomes::{ENDS, OUTCOMES, end};
use super::series::MOST;
use ratchet_store::model::{StatCounts, StatRow};

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The measurements of one job in one queue.
#[derive(Debug)]
pub(super) struct JobSeries {
    pub(super) queue: Arc<QueueSeries>,
    pub(super) submitted: Counter,
    pub(super) started: Counter,
    pub(super) stale: Counter,
    pub(super) soft_timeouts: Counter,
    /// Shared by the runs in progress, so its references are their number. It is an allocation of its own: handlers end on
    /// other threads than those that claim and settle.
    running: Arc<()>,
    pub(super) wait: OnceLock<Recorder>,
    pub(super) run: OnceLock<Recorder>,
    /// How runs have ended, without the reason, in the order of [`ENDS`]. Counted even if there are too many outcomes.
    ends: [Counter; ENDS.len()],
    pub(super) timed_out: Counter,
    pub(super) outcomes: [OnceLock<Arc<Counter>>; OUTCOMES.len()],
}

impl JobSeries {
    pub(super) fn new(queue: Arc<QueueSeries>) -> Self {
        Self {
            queue,
            submitted: Counter::default(),
            started: Counter::default(),
            stale: Counter::default(),
            soft_timeouts: Counter::default(),
            running: Arc::new(()),
            wait: OnceLock::new(),
            run: OnceLock::new(),
            ends: Default::default(),
            timed_out: Counter::default(),
            outcomes: std::array::from_fn(|_| OnceLock::new()),
        }
    }

    /// Returns the number of runs in progress.
    pub(super) fn running(&self) -> usize {
        Arc::strong_count(&self.running) - 1
    }

    /// Counts the end of a run by the position of its outcome.
    pub(super) fn ended(&self, outcome: usize) {
        self.ends[end(outcome)].add(1);
    }

    /// Returns what was counted since the process began.
    pub(super) fn totals(&self, queue: &str, name: &str) -> StatRow {
        let mut row = StatRow::new(0, queue, name);
        let [succeeded, retried, failed, deferred, released, rescued, canceled] =
            std::array::from_fn(|end| self.ends[end].get());
        let (submitted, started) = (self.submitted.get(), self.started.get());
        row.counts = StatCounts::from_values([
            submitted,
            started,
            succeeded,
            retried,
            failed,
            deferred,
            released,
            rescued,
            canceled,
            self.timed_out.get(),
        ]);
        row.wait = self.wait.get().map(|wait| wait.read(1)).unwrap_or_default();
        row.run = self.run.get().map(|run| run.read(1)).unwrap_or_default();
        row
    }
}

/// Hands out the counters of outcomes: one for each series up to the limit, then one for the rest.
#[derive(Debug, Default)]
pub(super) struct OutcomeCounters {
    count: AtomicUsize,
    pub(super) overflow: Arc<Counter>,
}

impl OutcomeCounters {
    /// Returns the counter of an outcome of a job. Allocates for the first one of a series.
    pub(super) fn of<'a>(&self, job: &'a JobSeries, outcome: usize) -> &'a Counter {
        job.outcomes[outcome].get_or_init(|| {
            let more = |count| (count < MOST).then_some(count + 1);
            match self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
                Ok(_) => Arc::default(),
                Err(_) => Arc::clone(&self.overflow),
            }
        })
    }
}

/// The measurements of one queue.
#[derive(Debug, Default)]
pub(super) struct QueueSeries {
    pub(super) attempts: OnceLock<Recorder>,
    pub(super) attempts_left: OnceLock<Recorder>,
    pub(super) rescued: Counter,
}

/// A run in progress. Counted until this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight {
    _run: Arc<()>,
}

impl InFlight {
    pub(super) fn new(job: &JobSeries) -> Self {
        Self { _run: Arc::clone(&job.running) }
    }
}
