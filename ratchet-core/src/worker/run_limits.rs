//! [`RunLimits`]: when a worker stops by itself.

use std::fmt;
use std::time::Duration;

use crate::config::{Config, RunMode};

/// Why a worker has stopped by itself.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// # async fn demo(worker: ratchet_core::Worker) {
/// use ratchet::runtime::{Completion, Stopped};
///
/// // For a worker with `.drain_and_exit().max_time(…)`.
/// match worker.stopped().await {
///     Stopped::Completed(Completion::Drained) => println!("the queues are empty"),
///     Stopped::Completed(reason) => println!("jobs are left: {reason}"),
///     other => println!("{other:?}"),
/// }
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Completion {
    /// No job was due that the worker could run ([`RunMode::Drain`]).
    Drained,
    /// The jobs of its only claim have ended ([`RunMode::Once`]).
    RanOnce,
    /// It has run [`max_jobs`](Config::max_jobs) jobs.
    MaxJobs,
    /// It has run for [`max_time`](Config::max_time).
    MaxTime,
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drained => "no job is due",
            Self::RanOnce => "it has claimed once",
            Self::MaxJobs => "it has run the maximum number of jobs",
            Self::MaxTime => "it has run for the maximum time",
        })
    }
}

/// What a worker may still claim before it stops by itself.
#[derive(Debug)]
pub(super) struct RunLimits {
    mode: RunMode,
    /// How many more jobs may be claimed. Jobs that claims in flight request are already subtracted.
    left: Option<u64>,
    requested: u64,
    until: Option<Duration>,
    /// The first sweep has rescued orphans and fired schedules. A worker that stops by itself waits for it.
    swept: bool,
    /// The only claim was sent.
    claimed: bool,
    drained: bool,
}

impl RunLimits {
    pub(super) fn new(config: &Config, now: Duration) -> Self {
        Self {
            mode: config.run,
            left: config.max_jobs,
            requested: 0,
            until: config.max_time.map(|time| now.saturating_add(time)),
            swept: config.run == RunMode::UntilStopped,
            claimed: false,
            drained: false,
        }
    }

    pub(super) fn swept(&mut self) {
        self.swept = true;
    }

    /// Returns whether the worker stops when nothing is due.
    pub(super) fn drains(&self) -> bool {
        self.mode == RunMode::Drain
    }

    /// Returns whether another claim may be sent.
    pub(super) fn may_claim(&self) -> bool {
        let again = !(self.mode == RunMode::Once && self.claimed);
        self.swept && again && !self.drained && self.left != Some(0)
    }

    /// Returns how many jobs the next claim may request.
    pub(super) fn portion(&self, most: usize) -> usize {
        let left = self.left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
        most.min(left)
    }

    /// Records a claim that was sent.
    pub(super) fn sent(&mut self, jobs: u32) {
        self.claimed = true;
        self.requested += u64::from(jobs);
        self.left = self.left.map(|left| left.saturating_sub(u64::from(jobs)));
    }

    /// Records the reply to a claim: how many jobs it had requested, and how many were started. `None` if it failed.
    pub(super) fn answered(&mut self, jobs: u32, started: Option<u32>) {
        if started.is_none() {
            self.claimed = false;
        }
        let unused = u64::from(jobs.saturating_sub(started.unwrap_or(0)));
        self.requested = self.requested.saturating_sub(u64::from(jobs));
        self.left = self.left.map(|left| left.saturating_add(unused));
    }

    /// Records that nothing is due.
    pub(super) fn drained(&mut self) {
        self.drained = self.drains();
    }

    /// Returns when the worker must stop.
    pub(super) fn until(&self) -> Option<Duration> {
        self.until
    }

    /// Returns why the worker must stop as soon as its runs have ended.
    pub(super) fn completion(&self) -> Option<Completion> {
        if self.requested > 0 {
            None
        } else if self.mode == RunMode::Once && self.claimed {
            Some(Completion::RanOnce)
        } else if self.left == Some(0) {
            Some(Completion::MaxJobs)
        } else {
            self.drained.then_some(Completion::Drained)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(run: RunMode, max_jobs: Option<u64>) -> RunLimits {
        let config = Config { run, max_jobs, ..Config::default() };
        RunLimits::new(&config, Duration::ZERO)
    }

    #[test]
    fn c_08_a_worker_without_limits_never_stops_by_itself() {
        let mut limits = limits(RunMode::UntilStopped, None);
        limits.sent(10);
        limits.answered(10, Some(0));
        limits.drained();
        assert!(limits.may_claim());
        assert_eq!((limits.portion(500), limits.completion()), (500, None));
    }

    #[test]
    fn c_08_unused_jobs_of_a_claim_can_be_claimed_again() {
        let mut limits = limits(RunMode::UntilStopped, Some(5));
        assert_eq!(limits.portion(500), 5);
        limits.sent(3);
        assert_eq!(limits.portion(500), 2, "claims in flight count");
        limits.sent(2);
        assert!(!limits.may_claim());
        assert_eq!(limits.completion(), None, "not before the replies");
        limits.answered(3, Some(1));
        limits.answered(2, None);
        assert_eq!(limits.portion(500), 4);
        limits.sent(4);
        limits.answered(4, Some(4));
        assert_eq!(limits.completion(), Some(Completion::MaxJobs));
    }

    #[test]
    fn c_08_a_claim_that_failed_is_not_the_only_one() {
        let mut limits = limits(RunMode::Once, Some(2));
        assert!(!limits.may_claim(), "the first sweep comes first");
        limits.swept();
        limits.sent(2);
        assert!(!limits.may_claim());
        limits.answered(2, None);
        assert!(limits.may_claim());
        limits.sent(2);
        limits.answered(2, Some(1));
        assert!(!limits.may_claim());
        assert_eq!(limits.completion(), Some(Completion::RanOnce));
    }

    #[test]
    fn c_08_a_drained_worker_claims_no_more() {
        let mut limits = limits(RunMode::Drain, None);
        limits.swept();
        limits.sent(2);
        limits.answered(2, Some(0));
        assert_eq!(limits.completion(), None);
        limits.drained();
        assert!(!limits.may_claim());
        assert_eq!(limits.completion(), Some(Completion::Drained));
    }
}
