//! Limits on a whole queue: pause, cluster-wide concurrency and rate.
//!
//! A store keeps [`QueueRules`] for each queue that has any, and calls [`QueueRules::gate`] before it claims. `explain`
//! calls the same function.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::later;

/// The limits of a queue over the whole cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueLimits {
    /// How many of its jobs can run at once; `None` for no limit.
    pub concurrency: Option<u32>,
    /// How many of its jobs can be claimed per period; `None` for no limit.
    pub rate: Option<Rate>,
}

/// A maximum number of claims in any window of a period. Retries count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The maximum number of claims per period.
    pub jobs: u32,
    /// The length of the period.
    pub per: Duration,
}

/// The stored rules of a queue that is paused or limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRules {
    /// If `true`, no job is claimed from the queue.
    pub paused: bool,
    /// The cluster-wide limits.
    pub limits: QueueLimits,
    /// Claims that still count against the rate.
    recent: VecDeque<Recent>,
}

/// Claims made within a hundredth of the period. They all count until the last one leaves the window, so a window never
/// exceeds the limit, and a busy queue needs about a hundred entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    first: Timestamp,
    last: Timestamp,
    jobs: u32,
}

/// How many jobs of a queue can be claimed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Jobs can be claimed.
    Open {
        /// The maximum number of jobs; `u32::MAX` if the queue has no limit.
        most: u32,
    },
    /// None: the queue is paused.
    Paused,
    /// None: the concurrency limit is reached.
    Full {
        /// The concurrency limit.
        limit: u32,
    },
    /// None: the rate limit is reached.
    RateLimited {
        /// When the next job can be claimed.
        until: Timestamp,
    },
}

/// A change of a queue's rules by an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueUpdate {
    /// Stops claims from the queue.
    Pause,
    /// Allows claims from the queue again.
    Resume,
    /// Sets the cluster-wide limits.
    Limit(QueueLimits),
}

/// A queue that has rules, with its current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRecord {
    /// The name of the queue.
    pub queue: String,
    /// The stored rules.
    pub rules: QueueRules,
    /// The number of its running jobs.
    pub running: u64,
    /// How many jobs can be claimed now.
    pub gate: Gate,
}

impl QueueRules {
    /// Returns `true` if there are no rules to store.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how many more jobs can be claimed when `running` jobs run.
    pub fn gate(&self, running: u64, now: Timestamp) -> Gate {
        if self.paused {
            return Gate::Paused;
        }
        let mut most = u32::MAX;
        if let Some(limit) = self.limits.concurrency {
            most = limit.saturating_sub(u32::try_from(running).unwrap_or(u32::MAX));
            if most == 0 {
                return Gate::Full { limit };
            }
        }
        if let Some(rate) = self.limits.rate {
            let counting = self.recent.iter().filter(|recent| counts(recent, rate, now));
            let used =
                counting.clone().fold(0_u32, |used, recent| used.saturating_add(recent.jobs));
            most = most.min(rate.jobs.saturating_sub(used));
            if most == 0 {
                let until =
                    counting.map(|recent| later(recent.last, rate.per)).min().unwrap_or(now);
                // The window is closed: the instant `until` itself is still inside.
                return Gate::RateLimited { until: later(until, Duration::from_micros(1)) };
            }
        }
        Gate::Open { most }
    }

    /// Counts claimed jobs against the rate limit.
    pub fn claimed(&mut self, jobs: u32, now: Timestamp) {
        let Some(rate) = self.limits.rate.filter(|_| jobs > 0) else { return };
        self.recent.retain(|recent| counts(recent, rate, now));
        match self.recent.back_mut() {
            Some(recent) if now < later(recent.first, rate.per / 100) => {
                recent.last = recent.last.max(now);
                recent.jobs = recent.jobs.saturating_add(jobs);
            }
            _ => self.recent.push_back(Recent { first: now, last: now, jobs }),
        }
    }

    /// Applies an operator's change. Returns `true` if anything changed.
    pub fn apply(&mut self, order: QueueUpdate) -> bool {
        let before = (self.paused, self.limits);
        match order {
            QueueUpdate::Pause => self.paused = true,
            QueueUpdate::Resume => self.paused = false,
            QueueUpdate::Limit(limits) => {
                self.limits = limits;
                if limits.rate.is_none() {
                    self.recent.clear();
                }
            }
        }
        before != (self.paused, self.limits)
    }
}

impl QueueLimits {
    /// Returns `true` if no limit is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Gate {
    /// Returns how many jobs can be claimed.
    pub fn most(self) -> u32 {
        match self {
            Self::Open { most } => most,
            Self::Paused | Self::Full { .. } | Self::RateLimited { .. } => 0,
        }
    }

    /// Returns when more jobs can be claimed, if that depends only on time.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            Self::RateLimited { until } => Some(until),
            Self::Open { .. } | Self::Paused | Self::Full { .. } => None,
        }
    }
}

fn counts(recent: &Recent, rate: Rate, now: Timestamp) -> bool {
    now <= later(recent.last, rate.per)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(micros: u64) -> Timestamp {
        later(Timestamp::UNIX_EPOCH, Duration::from_micros(micros))
    }

    fn limited(limits: QueueLimits) -> QueueRules {
        let mut rules = QueueRules::default();
        assert!(rules.apply(QueueUpdate::Limit(limits)));
        rules
    }

    #[test]
    fn q_01_concurrency_and_pause() {
        let mut rules = limited(QueueLimits { concurrency: Some(3), rate: None });
        assert_eq!(rules.gate(1, at(0)), Gate::Open { most: 2 });
        assert_eq!(rules.gate(3, at(0)), Gate::Full { limit: 3 });
        assert_eq!(rules.gate(7, at(0)), Gate::Full { limit: 3 });
        assert!(rules.apply(QueueUpdate::Pause));
        assert!(!rules.apply(QueueUpdate::Pause));
        assert_eq!(rules.gate(0, at(0)), Gate::Paused);
        assert!(rules.apply(QueueUpdate::Resume));
        assert_eq!(rules.gate(0, at(0)), Gate::Open { most: 3 });
    }

    #[test]
    fn q_01_a_rate_opens_again_when_the_oldest_claim_leaves_the_window() {
        let rate = Rate { jobs: 10, per: Duration::from_secs(1) };
        let mut rules = limited(QueueLimits { concurrency: None, rate: Some(rate) });
        rules.claimed(4, at(0));
        rules.claimed(6, at(500_000));
        assert_eq!(rules.gate(0, at(900_000)), Gate::RateLimited { until: at(1_000_001) });
        assert_eq!(rules.gate(0, at(1_000_000)), Gate::RateLimited { until: at(1_000_001) });
        assert_eq!(rules.gate(0, at(1_000_001)), Gate::Open { most: 4 });
        assert_eq!(rules.gate(0, at(1_500_001)), Gate::Open { most: 10 });
    }

    proptest! {
        /// A claimer takes as many jobs as the gate allows at random times: no window of the period exceeds the limit.
        #[test]
        fn q_01_no_window_holds_more_than_the_rate(
            jobs in 1..50_u32, per_ms in 1..2_000_u64,
            steps in prop::collection::vec((0..400_000_u64, 1..40_u32), 1..200),
        ) {
            let rate = Rate { jobs, per: Duration::from_millis(per_ms) };
            let mut rules = limited(QueueLimits { concurrency: None, rate: Some(rate) });
            let (mut now, mut claims) = (0, Vec::new());
            for (pause, wanted) in steps {
                now += pause;
                let taken = rules.gate(0, at(now)).most().min(wanted);
                rules.claimed(taken, at(now));
                claims.push((now, taken));
                let window = claims.iter().filter(|(when, _)| *when + per_ms * 1000 >= now);
                prop_assert!(window.map(|(_, taken)| *taken).sum::<u32>() <= jobs);
                prop_assert!(rules.recent.len() <= 102);
            }
        }
    }
}
