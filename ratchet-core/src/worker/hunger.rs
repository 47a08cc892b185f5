//! When to ask for work.

use std::time::Duration;

use crate::job::{Backoff, Jitter};

/// The appetite of a worker: woken by announcements, slowed down by empty plates.
#[derive(Debug)]
pub(super) struct Hunger {
    /// There may be work: ask as soon as there is room.
    hungry: bool,
    /// New work was announced: do not wait for company.
    urgent: bool,
    /// Ask again at this instant in any case.
    next_poll: Duration,
    pause: Duration,
    shortest: Duration,
    longest: Duration,
}

impl Hunger {
    /// A worker that has just started asks at once; polls stay between these bounds.
    pub(super) fn new((shortest, longest): (Duration, Duration)) -> Self {
        Self {
            hungry: true,
            urgent: true,
            next_poll: Duration::ZERO,
            pause: shortest,
            shortest,
            longest,
        }
    }

    pub(super) fn asks(&self, now: Duration) -> bool {
        self.hungry || now >= self.next_poll
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// When it asks next, if nothing is announced before.
    pub(super) fn next_ask(&self) -> Duration {
        if self.hungry { Duration::ZERO } else { self.next_poll }
    }

    /// New work was announced.
    pub(super) fn announce(&mut self) {
        self.hungry = true;
        self.urgent = true;
    }

    /// There may be work.
    pub(super) fn guess(&mut self) {
        self.hungry = true;
    }

    /// A request is on its way. What is announced from now on is news.
    pub(super) fn asked(&mut self) {
        self.urgent = false;
    }

    /// A claim was answered: `full` if it brought all it asked for, so that more may wait. `seed` spreads the polls of many
    /// workers.
    pub(super) fn fed(
        &mut self,
        now: Duration,
        full: bool,
        any: bool,
        next_due: Option<Duration>,
        seed: u64,
    ) {
        self.hungry = full || self.urgent;
        self.pause = if any {
            self.shortest
        } else {
            self.pause.saturating_mul(2).clamp(self.shortest, self.longest)
        };
        let half = self.pause / 2;
        let pause = half + Backoff::fixed(half).jitter(Jitter::Full).delay(1, seed);
        self.next_poll = now.saturating_add(next_due.map_or(pause, |due| due.min(pause)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn s_09_polling_is_the_floor_and_slows_down_when_nothing_comes() {
        let mut hunger = Hunger::new((10 * MS, 100 * MS));
        let mut now = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..6 {
            assert!(hunger.asks(now));
            hunger.asked();
            hunger.fed(now, false, false, None, u64::MAX);
            assert!(!hunger.asks(now));
            pauses.push(hunger.next_ask().saturating_sub(now).as_millis());
            now = hunger.next_ask();
        }
        assert_eq!(pauses, [19, 39, 79, 99, 99, 99]);
        hunger.fed(now, false, true, None, u64::MAX);
        assert_eq!(
            hunger.next_ask().saturating_sub(now).as_millis(),
            9,
            "work makes it quick again"
        );
    }

    #[test]
    fn s_09_work_announced_while_a_request_is_in_the_air_is_not_forgotten() {
        let mut hunger = Hunger::new((10 * MS, 100 * MS));
        hunger.asked();
        hunger.announce();
        hunger.fed(Duration::ZERO, false, false, None, 0);
        assert!(hunger.asks(Duration::ZERO), "the answer may be older than the announcement");
    }

    #[test]
    fn h_06_the_longest_pause_does_not_overflow() {
        let mut hunger = Hunger::new((Duration::MAX, Duration::MAX));
        for now in [Duration::ZERO, Duration::MAX] {
            hunger.asked();
            hunger.fed(now, false, false, None, u64::MAX);
            assert!(hunger.next_ask() > now || now == Duration::MAX);
        }
    }

    #[test]
    fn c_05_a_job_that_falls_due_soon_is_asked_for_in_time() {
        let mut hunger = Hunger::new((10 * MS, 1000 * MS));
        hunger.asked();
        hunger.fed(Duration::ZERO, false, false, Some(3 * MS), 0);
        assert_eq!(hunger.next_ask(), 3 * MS);
    }
}
