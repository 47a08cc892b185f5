//! The limits of a queue: pause, cluster-wide concurrency and rate. The arithmetic of rates is in
//! [`rules::rate`](super::rate), the turns of tenants are in [`rules::turns`](super::turns), and the rates of
//! concurrency keys are part of a [claim](super::claim).
//!
//! A store keeps [`QueueRules`] for each queue that has any, and calls [`QueueRules::gate`] before it claims. `explain`
//! calls the same function.

use jiff::Timestamp;

use crate::model::{DeclaredLimits, Gate, QueueLimits, QueueRules, QueueUpdate, Rate};

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
            most = most.min(self.recent.room(rate, now));
            if most == 0 {
                return Gate::RateLimited { until: self.recent.frees_at(rate, now) };
            }
        }
        Gate::Open { most }
    }

    /// Counts claimed jobs against the rate limit.
    pub fn claimed(&mut self, jobs: u32, now: Timestamp) {
        if let Some(rate) = self.limits.rate {
            self.recent.count(rate, jobs, now);
        }
    }

    /// Applies a change of an operator or of a program. Returns `true` if anything changed.
    ///
    /// The store must have checked [`QueueUpdate::declarations`].
    pub fn apply(&mut self, order: QueueUpdate) -> bool {
        let origins = |rules: &Self| (rules.declared.clone(), rules.set_by_operator);
        let before = (self.paused, self.limits, origins(self));
        match order {
            QueueUpdate::Pause => self.paused = true,
            QueueUpdate::Resume => self.paused = false,
            QueueUpdate::Limit(limits) => self.set_by_operator = Some(limits),
            QueueUpdate::Reset => {
                self.set_by_operator = None;
                self.derive_limits();
            }
            QueueUpdate::Declare { declarations, limits } => {
                self.declared.retain(|declared| declared.program != declarations.program);
                if !limits.is_empty() {
                    self.declared.push(DeclaredLimits { program: declarations.program, limits });
                    self.declared.sort_by(|a, b| a.program.cmp(&b.program));
                }
            }
        }
        // Limits without an origin apply until there is one.
        if before.2 != origins(self) {
            self.derive_limits();
        }
        before != (self.paused, self.limits, origins(self))
    }

    /// Sets the limits that apply from their origins.
    fn derive_limits(&mut self) {
        let declared = || self.declared.iter().map(|declared| declared.limits);
        self.limits = self.set_by_operator.unwrap_or_else(|| {
            let concurrency = declared().filter_map(|limits| limits.concurrency).min();
            let rate = declared().filter_map(|limits| limits.rate).reduce(Rate::lower);
            let rate_per_key = declared().filter_map(|limits| limits.rate_per_key);
            let rate_per_key = rate_per_key.reduce(Rate::lower);
            let fair = declared().any(|limits| limits.fair);
            QueueLimits { concurrency, rate, rate_per_key, fair }
        });
        if self.limits.rate.is_none() {
            self.recent.clear();
        }
        if !self.limits.fair {
            self.last_tenant = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::{Declarations, later};

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
        let mut rules = limited(at_once(3));
        assert_eq!(rules.gate(1, at(0)), Gate::Open { most: 2 });
        assert_eq!(rules.gate(3, at(0)), Gate::Full { limit: 3 });
        assert_eq!(rules.gate(7, at(0)), Gate::Full { limit: 3 });
        assert!(rules.apply(QueueUpdate::Pause));
        assert!(!rules.apply(QueueUpdate::Pause));
        assert_eq!(rules.gate(0, at(0)), Gate::Paused);
        assert!(rules.apply(QueueUpdate::Resume));
        assert_eq!(rules.gate(0, at(0)), Gate::Open { most: 3 });
    }

    fn declares(program: &str, limits: QueueLimits) -> QueueUpdate {
        let declarations = Declarations { program: program.to_owned(), fingerprint: 1 };
        QueueUpdate::Declare { declarations, limits }
    }

    fn at_once(limit: u32) -> QueueLimits {
        QueueLimits { concurrency: Some(limit), ..QueueLimits::default() }
    }

    fn per(jobs: u32, per: u64) -> QueueLimits {
        let rate = Rate { jobs, per: Duration::from_secs(per) };
        QueueLimits { rate: Some(rate), ..QueueLimits::default() }
    }

    #[test]
    fn q_06_what_an_operator_sets_applies_until_it_is_reset() {
        let mut rules = QueueRules::default();
        assert!(rules.apply(declares("shop", at_once(3))));
        assert!(rules.apply(QueueUpdate::Limit(at_once(9))));
        assert!(!rules.apply(QueueUpdate::Limit(at_once(9))));
        assert!(rules.apply(declares("shop", at_once(4))));
        assert_eq!((rules.limits, rules.set_by_operator), (at_once(9), Some(at_once(9))));
        assert_eq!(rules.declared[0].limits, at_once(4));
        assert!(rules.apply(QueueUpdate::Limit(QueueLimits::default())), "no limit at all");
        assert_eq!(rules.gate(99, at(0)), Gate::Open { most: u32::MAX });
        assert!(rules.apply(QueueUpdate::Reset));
        assert_eq!((rules.limits, rules.set_by_operator), (at_once(4), None));
        assert!(!rules.apply(QueueUpdate::Reset));
        assert!(rules.apply(declares("shop", QueueLimits::default())));
        assert!(rules.is_empty());
    }

    #[test]
    fn q_06_the_lowest_of_several_declarations_applies() {
        let mut rules = QueueRules::default();
        let both = QueueLimits { rate: per(10, 1).rate, ..at_once(7) };
        assert!(rules.apply(declares("b", both)));
        assert!(rules.apply(declares("a", QueueLimits { rate: per(60, 60).rate, ..at_once(9) })));
        assert_eq!(rules.limits, QueueLimits { rate: per(60, 60).rate, ..at_once(7) });
        assert!(rules.apply(declares("c", per(1, 1))));
        assert_eq!(rules.limits.rate, per(1, 1).rate, "the same rate, in a shorter period");
        assert!(rules.apply(declares("c", QueueLimits::default())));
        assert!(rules.apply(declares("a", QueueLimits::default())));
        assert_eq!(rules.limits, both, "another program's declaration remains");
    }

    #[test]
    fn q_06_the_lowest_rate_per_key_applies_beside_the_other_limits() {
        let each =
            |jobs| QueueLimits { rate_per_key: per(jobs, 60).rate, ..QueueLimits::default() };
        let mut rules = QueueRules::default();
        assert!(rules.apply(declares("a", each(5))) && rules.apply(declares("b", each(3))));
        assert!(rules.apply(declares("c", at_once(9))));
        assert_eq!(rules.limits, QueueLimits { concurrency: Some(9), ..each(3) });
        assert!(rules.apply(QueueUpdate::Limit(each(8))));
        assert_eq!((rules.limits, rules.set_by_operator), (each(8), Some(each(8))));
        assert_eq!(rules.gate(0, at(0)), Gate::Open { most: u32::MAX }, "the queue is open");
        assert!(rules.apply(QueueUpdate::Reset));
        assert_eq!(rules.limits.rate_per_key, each(3).rate_per_key);
        assert!(rules.limits.problem().is_none());
        assert!(each(0).problem().is_some_and(|problem| problem.contains("`rate_per_key`")));
    }

    #[test]
    fn q_07_a_queue_is_fair_if_one_program_declares_it() {
        let fair = QueueLimits { fair: true, ..QueueLimits::default() };
        let mut rules = QueueRules::default();
        assert!(rules.apply(declares("a", at_once(3))) && rules.apply(declares("b", fair)));
        assert_eq!(rules.limits, QueueLimits { fair: true, ..at_once(3) });
        rules.last_tenant = Some("acme".to_owned());
        assert!(rules.apply(QueueUpdate::Pause) && rules.apply(QueueUpdate::Resume));
        assert_eq!(rules.last_tenant.as_deref(), Some("acme"));
        assert!(rules.apply(declares("b", QueueLimits::default())));
        assert!(rules.apply(declares("a", QueueLimits::default())));
        assert!(rules.is_empty(), "the last turn is forgotten");
    }

    #[test]
    fn q_06_limits_of_unknown_origin_apply_until_there_is_one() {
        let stored = r#"{"paused":false,"limits":{"concurrency":3,"rate":null},"recent":[]}"#;
        let stored: QueueRules = serde_json::from_str(stored).expect("rules of an earlier version");
        let mut rules = stored.clone();
        assert!(!rules.apply(declares("shop", QueueLimits::default())), "it declared nothing");
        assert!(rules.apply(QueueUpdate::Pause) && rules.apply(QueueUpdate::Resume));
        assert_eq!(rules, stored);
        assert!(rules.apply(declares("shop", at_once(5))));
        assert_eq!(rules.limits, at_once(5));
        let mut rules = stored;
        assert!(rules.apply(QueueUpdate::Reset) && rules.is_empty());
    }

    #[test]
    fn q_01_a_rate_opens_again_when_the_oldest_claim_leaves_the_window() {
        let rate = Rate { jobs: 10, per: Duration::from_secs(1) };
        let mut rules = limited(QueueLimits { rate: Some(rate), ..QueueLimits::default() });
        rules.claimed(4, at(0));
        rules.claimed(6, at(500_000));
        assert_eq!(rules.gate(0, at(900_000)), Gate::RateLimited { until: at(1_000_001) });
        assert_eq!(rules.gate(0, at(1_000_000)), Gate::RateLimited { until: at(1_000_001) });
        assert_eq!(rules.gate(0, at(1_000_001)), Gate::Open { most: 4 });
        assert_eq!(rules.gate(0, at(1_500_001)), Gate::Open { most: 10 });
    }
}
