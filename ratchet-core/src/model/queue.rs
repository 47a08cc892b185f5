//! What holds a whole queue back: pause, cluster-wide concurrency, rate.
//!
//! A store keeps [`QueueRules`] per queue that has any and asks [`QueueRules::gate`] before it claims; `explain` asks the
//! same function.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::later;

/// Limits of a queue over the whole cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueLimits {
    /// How many of its jobs may run at once.
    pub concurrency: Option<u32>,
    /// How many of its jobs may be claimed in a period.
    pub rate: Option<Rate>,
}

/// So many claims in any window of a period; retries count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// How many.
    pub jobs: u32,
    /// In which time.
    pub per: Duration,
}

/// What a store keeps of a queue that is paused or limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRules {
    /// Nothing is claimed.
    pub paused: bool,
    /// Its limits.
    pub limits: QueueLimits,
    /// Claims that still count against the rate.
    recent: VecDeque<Recent>,
}

/// Claims that came close together: they stop counting together, when the last of them does. So a window never holds
/// more than it may, and a busy queue is remembered in a hundred entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Recent {
    first: Timestamp,
    last: Timestamp,
    jobs: u32,
}

/// How many jobs of a queue may be claimed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// This many at most.
    Open {
        /// How many; `u32::MAX` if nothing limits them.
        most: u32,
    },
    /// None: it is paused.
    Paused,
    /// None: as many run as may.
    Full {
        /// How many may.
        limit: u32,
    },
    /// None: as many were claimed as may.
    Spent {
        /// When the next may be.
        until: Timestamp,
    },
}

/// What an operator does to a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueOrder {
    /// Claim nothing from it.
    Pause,
    /// Claim from it again.
    Resume,
    /// Limit it, over the whole cluster.
    Limit(QueueLimits),
}

/// A queue with rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRecord {
    /// Its name.
    pub queue: String,
    /// Its rules.
    pub rules: QueueRules,
    /// How many of its jobs run.
    pub running: u64,
    /// What a claim may take of it now.
    pub gate: Gate,
}

impl QueueRules {
    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How many more jobs may be claimed, given how many run.
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
                // The instant itself is still inside of a closed window.
                return Gate::Spent { until: later(until, Duration::from_micros(1)) };
            }
        }
        Gate::Open { most }
    }

    /// Remembers that jobs were claimed.
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

    /// Carries out what an operator wants; answers whether anything changed.
    pub fn obey(&mut self, order: QueueOrder) -> bool {
        let before = (self.paused, self.limits);
        match order {
            QueueOrder::Pause => self.paused = true,
            QueueOrder::Resume => self.paused = false,
            QueueOrder::Limit(limits) => {
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
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Gate {
    /// How many jobs it lets through.
    pub fn most(self) -> u32 {
        match self {
            Self::Open { most } => most,
            Self::Paused | Self::Full { .. } | Self::Spent { .. } => 0,
        }
    }

    /// When it may let more through, if that is a matter of time.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            Self::Spent { until } => Some(until),
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
        assert!(rules.obey(QueueOrder::Limit(limits)));
        rules
    }

    #[test]
    fn q_01_concurrency_and_pause() {
        let mut rules = limited(QueueLimits { concurrency: Some(3), rate: None });
        assert_eq!(rules.gate(1, at(0)), Gate::Open { most: 2 });
        assert_eq!(rules.gate(3, at(0)), Gate::Full { limit: 3 });
        assert_eq!(rules.gate(7, at(0)), Gate::Full { limit: 3 });
        assert!(rules.obey(QueueOrder::Pause));
        assert!(!rules.obey(QueueOrder::Pause));
        assert_eq!(rules.gate(0, at(0)), Gate::Paused);
        assert!(rules.obey(QueueOrder::Resume));
        assert_eq!(rules.gate(0, at(0)), Gate::Open { most: 3 });
    }

    #[test]
    fn q_01_a_rate_opens_again_when_the_oldest_claim_leaves_the_window() {
        let rate = Rate { jobs: 10, per: Duration::from_secs(1) };
        let mut rules = limited(QueueLimits { concurrency: None, rate: Some(rate) });
        rules.claimed(4, at(0));
        rules.claimed(6, at(500_000));
        assert_eq!(rules.gate(0, at(900_000)), Gate::Spent { until: at(1_000_001) });
        assert_eq!(rules.gate(0, at(1_000_000)), Gate::Spent { until: at(1_000_001) });
        assert_eq!(rules.gate(0, at(1_000_001)), Gate::Open { most: 4 });
        assert_eq!(rules.gate(0, at(1_500_001)), Gate::Open { most: 10 });
    }

    proptest! {
        /// Whoever takes all he may, whenever he likes: no window of the period ever holds more than the limit.
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
