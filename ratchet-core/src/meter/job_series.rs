//! The series of one job in one queue, and those of one queue. One lookup finds all of them.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;

use super::histogram::Recorder;
use super::outcomes::OUTCOMES;
use super::series::MOST;

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
    pub(super) running: AtomicI64,
    pub(super) wait: OnceLock<Recorder>,
    pub(super) run: OnceLock<Recorder>,
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
            running: AtomicI64::new(0),
            wait: OnceLock::new(),
            run: OnceLock::new(),
            outcomes: std::array::from_fn(|_| OnceLock::new()),
        }
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
    /// The time up to which this process has seen the queue claimed, in microseconds since 1970. 0 means never.
    claimed_up_to: AtomicI64,
    /// The queue is paused or at a limit, according to the last sample. Claims then find nothing, whatever waits.
    closed: AtomicBool,
}

impl QueueSeries {
    /// Records that no job of this queue that was due before `at` is waiting to be claimed.
    pub(super) fn claimed_up_to(&self, at: Timestamp) {
        self.claimed_up_to.fetch_max(at.as_microsecond(), Ordering::Relaxed);
    }

    /// Records that a claim has found no further job.
    pub(super) fn drained(&self, now: Timestamp) {
        if !self.closed.load(Ordering::Relaxed) {
            self.claimed_up_to(now);
        }
    }

    pub(super) fn set_closed(&self, closed: bool) {
        self.closed.store(closed, Ordering::Relaxed);
    }

    /// Returns an upper bound of how long the oldest claimable job has been due; `None` if nothing was claimed yet.
    pub(super) fn oldest_age(&self, now: Timestamp) -> Option<Duration> {
        let seen = self.claimed_up_to.load(Ordering::Relaxed);
        let age = u64::try_from(now.as_microsecond().saturating_sub(seen)).unwrap_or(0);
        (seen != 0).then(|| Duration::from_micros(age))
    }
}

/// A run in progress. Counted until this is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<JobSeries>);

impl InFlight {
    pub(super) fn new(job: &Arc<JobSeries>) -> Self {
        job.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(job))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}
