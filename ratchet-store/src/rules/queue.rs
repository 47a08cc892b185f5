//! The limits of a queue: pause, cluster-wide concurrency and rate.
//!
//! A store keeps [`QueueRules`] for each queue that has any, and calls [`QueueRules::gate`] before it claims. `explain`
//! calls the same function.

use std::time::Duration;

use jiff::Timestamp;

use crate::model::{Gate, QueueRules, QueueUpdate, Rate, Recent, later};

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

fn counts(recent: &Recent, rate: Rate, now: Timestamp) -> bool {
    now <= later(recent.last, rate.per)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::QueueLimits;

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
