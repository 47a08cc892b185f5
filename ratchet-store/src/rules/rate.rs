//! The arithmetic of rates: how many jobs may start now, and when the next one may. The rate of a queue and the rate of
//! a concurrency key use the same functions.

use std::time::Duration;

use jiff::Timestamp;

use crate::model::{KeyRate, Rate, RateWindow, Recent, later};

/// The window is closed: the instant at its end is still inside.
const AFTER: Duration = Duration::from_micros(1);

impl Rate {
    /// Returns `true` if at least one job may start in a time longer than zero.
    pub(crate) fn is_valid(self) -> bool {
        self.jobs >= 1 && !self.per.is_zero()
    }

    /// Returns the rate with fewer jobs in the long run, and of two equal ones the rate with the shorter period.
    pub(crate) fn lower(self, other: Self) -> Self {
        let product = |jobs: u32, per: Duration| u128::from(jobs).saturating_mul(per.as_nanos());
        let order = product(self.jobs, other.per).cmp(&product(other.jobs, self.per));
        if order.then(self.per.cmp(&other.per)).is_le() { self } else { other }
    }
}

impl RateWindow {
    /// Returns how many more jobs may start.
    pub fn room(&self, rate: Rate, now: Timestamp) -> u32 {
        let used =
            self.counting(rate, now).fold(0_u32, |used, recent| used.saturating_add(recent.jobs));
        rate.jobs.saturating_sub(used)
    }

    /// Returns when the oldest of the starts that count no longer does, or `now` if none counts.
    pub fn frees_at(&self, rate: Rate, now: Timestamp) -> Timestamp {
        let ends = self.counting(rate, now).map(|recent| later(recent.last, rate.per)).min();
        ends.map_or(now, |end| later(end, AFTER))
    }

    /// Returns when none of the starts counts any more.
    pub fn ends_at(&self, rate: Rate) -> Option<Timestamp> {
        let ends = self.recent.iter().map(|recent| later(recent.last, rate.per)).max();
        ends.map(|end| later(end, AFTER))
    }

    /// Returns until when no job may start; `None` if one may.
    pub fn full_until(&self, rate: Rate, now: Timestamp) -> Option<Timestamp> {
        (self.room(rate, now) == 0).then(|| self.frees_at(rate, now))
    }

    /// Counts starts.
    pub(crate) fn count(&mut self, rate: Rate, jobs: u32, now: Timestamp) {
        if jobs == 0 {
            return;
        }
        self.recent.retain(|recent| counts(recent, rate, now));
        match self.recent.back_mut() {
            Some(recent) if now < later(recent.first, rate.per / 100) => {
                recent.last = recent.last.max(now);
                recent.jobs = recent.jobs.saturating_add(jobs);
            }
            _ => self.recent.push_back(Recent { first: now, last: now, jobs }),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.recent.clear();
    }

    fn counting(&self, rate: Rate, now: Timestamp) -> impl Iterator<Item = &Recent> {
        self.recent.iter().filter(move |recent| counts(recent, rate, now))
    }
}

impl KeyRate {
    /// Returns the claims that count.
    pub fn window(&self) -> &RateWindow {
        &self.window
    }

    /// Returns until when the key has used up its rate, if it has.
    pub fn full_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.full_until.filter(|until| *until > now)
    }

    /// Returns when a job that was passed over may start, if there is such a job. An idle worker must claim then.
    pub fn frees_waiting_at(&self, now: Timestamp) -> Option<Timestamp> {
        self.full_until(now).filter(|_| self.waiting)
    }

    /// Returns `true` if a claim has passed over a job of the key because the rate was used up.
    pub fn is_waiting(&self) -> bool {
        self.waiting
    }

    /// Returns when no counted claim is left in the period, so that the state can be deleted.
    pub fn ends_at(&self, rate: Rate) -> Timestamp {
        self.window.ends_at(rate).unwrap_or(Timestamp::MIN)
    }

    /// Judges the state by a new rate.
    #[must_use]
    pub fn judged_by(mut self, rate: Rate, now: Timestamp) -> Self {
        self.full_until = self.window.full_until(rate, now);
        self.waiting &= self.full_until.is_some();
        self
    }

    /// Counts the accepted jobs of a claim, and whether it has passed over a job.
    pub(super) fn claimed(&mut self, rate: Rate, taken: u32, refused: bool, now: Timestamp) {
        self.window.count(rate, taken, now);
        self.full_until = self.window.full_until(rate, now);
        self.waiting = refused;
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

    #[test]
    fn q_01_a_window_frees_its_oldest_start_first() {
        let rate = Rate { jobs: 10, per: Duration::from_secs(1) };
        let mut window = RateWindow::default();
        assert_eq!((window.frees_at(rate, at(7)), window.ends_at(rate)), (at(7), None));
        window.count(rate, 4, at(0));
        assert_eq!((window.room(rate, at(0)), window.full_until(rate, at(0))), (6, None));
        window.count(rate, 6, at(500_000));
        assert_eq!(window.full_until(rate, at(900_000)), Some(at(1_000_001)));
        assert_eq!(window.room(rate, at(1_000_000)), 0, "the instant at the end is inside");
        assert_eq!(window.room(rate, at(1_000_001)), 4);
        assert_eq!(window.ends_at(rate), Some(at(1_500_001)));
        assert_eq!(window.room(rate, at(1_500_001)), 10);
    }

    // spec: Q-06
    #[test]
    fn q_06_a_key_waits_only_while_a_job_was_passed_over() {
        let rate = Rate { jobs: 2, per: Duration::from_secs(1) };
        let mut key = KeyRate::default();
        key.claimed(rate, 1, false, at(0));
        assert_eq!((key.full_until(at(0)), key.frees_waiting_at(at(0))), (None, None));
        key.claimed(rate, 1, false, at(9));
        assert_eq!(key.full_until(at(9)), Some(at(1_000_010)), "both are in one entry");
        assert_eq!(key.frees_waiting_at(at(9)), None, "no job waits");
        key.claimed(rate, 0, true, at(10));
        assert_eq!(key.frees_waiting_at(at(10)), Some(at(1_000_010)));
        assert_eq!(key.frees_waiting_at(at(1_000_010)), None, "it is free");
        assert_eq!(key.ends_at(rate), at(1_000_010));
        key.claimed(rate, 1, false, at(1_000_010));
        assert!(!key.is_waiting());
    }

    // spec: Q-06
    #[test]
    fn q_06_a_new_rate_applies_to_the_starts_that_were_counted() {
        let (few, more) = (
            Rate { jobs: 1, per: Duration::from_secs(1) },
            Rate { jobs: 2, per: Duration::from_secs(5) },
        );
        let mut key = KeyRate::default();
        key.claimed(few, 1, true, at(0));
        let freed = key.clone().judged_by(more, at(1));
        assert_eq!((freed.full_until(at(1)), freed.is_waiting()), (None, false));
        let slower = key.judged_by(Rate { jobs: 1, ..more }, at(1));
        assert_eq!(slower.frees_waiting_at(at(1)), Some(at(5_000_001)));
    }

    #[test]
    fn q_06_the_state_of_a_key_survives_being_stored() {
        let rate = Rate { jobs: 2, per: Duration::from_secs(1) };
        let mut key = KeyRate::default();
        key.claimed(rate, 2, true, at(3));
        let stored = serde_json::to_string(&key).expect("is text");
        assert_eq!(serde_json::from_str::<KeyRate>(&stored).expect("is read"), key);
    }

    proptest! {
        /// A claimer takes as many jobs as the window allows at random times: no window of the period exceeds the limit.
        #[test]
        fn q_01_no_window_holds_more_than_the_rate(
            jobs in 1..50_u32, per_ms in 1..2_000_u64,
            steps in prop::collection::vec((0..400_000_u64, 1..40_u32), 1..200),
        ) {
            let rate = Rate { jobs, per: Duration::from_millis(per_ms) };
            let mut window = RateWindow::default();
            let (mut now, mut claims) = (0, Vec::new());
            for (pause, wanted) in steps {
                now += pause;
                let taken = window.room(rate, at(now)).min(wanted);
                window.count(rate, taken, at(now));
                claims.push((now, taken));
                let inside = claims.iter().filter(|(when, _)| *when + per_ms * 1000 >= now);
                prop_assert!(inside.map(|(_, taken)| *taken).sum::<u32>() <= jobs);
                prop_assert!(window.recent.len() <= 102);
                prop_assert!(window.full_until(rate, at(now)).is_none_or(|until| until > at(now)));
            }
        }
    }
}
