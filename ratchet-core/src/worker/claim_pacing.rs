//! [`ClaimPacer`]: decides when to claim.

use std::time::Duration;

use ratchet_store::model::{Backoff, Jitter};

/// Paces the claims of a worker: wake-ups make it claim immediately, empty replies make it poll less often.
#[derive(Debug)]
pub(super) struct ClaimPacer {
    /// There may be work: claim as soon as there is capacity.
    work_expected: bool,
    /// A wake-up announced new work: do not wait for settlements to send along.
    urgent: bool,
    /// Monotonic time of the next poll.
    next_poll: Duration,
    pause: Duration,
    shortest: Duration,
    longest: Duration,
}

impl ClaimPacer {
    /// Creates a pacer that claims immediately. The polling interval stays between the given bounds.
    pub(super) fn new((shortest, longest): (Duration, Duration)) -> Self {
        Self {
            work_expected: true,
            urgent: true,
            next_poll: Duration::ZERO,
            pause: shortest,
            shortest,
            longest,
        }
    }

    pub(super) fn should_claim(&self, now: Duration) -> bool {
        self.work_expected || now >= self.next_poll
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Returns when the next claim is due if there is no wake-up before.
    pub(super) fn next_claim(&self) -> Duration {
        if self.work_expected { Duration::ZERO } else { self.next_poll }
    }

    /// Handles a wake-up that announced new work.
    pub(super) fn on_wakeup(&mut self) {
        self.work_expected = true;
        self.urgent = true;
    }

    /// Notes that there may be work.
    pub(super) fn assume_work(&mut self) {
        self.work_expected = true;
    }

    /// Notes that a request was sent. Only later wake-ups are urgent.
    pub(super) fn on_request_sent(&mut self) {
        self.urgent = false;
    }

    /// Handles the reply to a claim. `any` means that it returned jobs. `seed` spreads the polls of different workers.
    pub(super) fn on_reply(
        &mut self,
        now: Duration,
        any: bool,
        next_due: Option<Duration>,
        seed: u64,
    ) {
        self.work_expected = self.urgent;
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
        let mut pacer = ClaimPacer::new((10 * MS, 100 * MS));
        let mut now = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..6 {
            assert!(pacer.should_claim(now));
            pacer.on_request_sent();
            pacer.on_reply(now, false, None, u64::MAX);
            assert!(!pacer.should_claim(now));
            pauses.push(pacer.next_claim().saturating_sub(now).as_millis());
            now = pacer.next_claim();
        }
        assert_eq!(pauses, [19, 39, 79, 99, 99, 99]);
        pacer.on_reply(now, true, None, u64::MAX);
        assert_eq!(
            pacer.next_claim().saturating_sub(now).as_millis(),
            9,
            "work makes it quick again"
        );
    }

    #[test]
    fn s_09_work_announced_while_a_request_is_in_the_air_is_not_forgotten() {
        let mut pacer = ClaimPacer::new((10 * MS, 100 * MS));
        pacer.on_request_sent();
        pacer.on_wakeup();
        pacer.on_reply(Duration::ZERO, false, None, 0);
        assert!(
            pacer.should_claim(Duration::ZERO),
            "the answer may be older than the announcement"
        );
    }

    #[test]
    fn h_06_the_longest_pause_does_not_overflow() {
        let mut pacer = ClaimPacer::new((Duration::MAX, Duration::MAX));
        for now in [Duration::ZERO, Duration::MAX] {
            pacer.on_request_sent();
            pacer.on_reply(now, false, None, u64::MAX);
            assert!(pacer.next_claim() > now || now == Duration::MAX);
        }
    }

    #[test]
    fn c_05_a_job_that_falls_due_soon_is_asked_for_in_time() {
        let mut pacer = ClaimPacer::new((10 * MS, 1000 * MS));
        pacer.on_request_sent();
        pacer.on_reply(Duration::ZERO, false, Some(3 * MS), 0);
        assert_eq!(pacer.next_claim(), 3 * MS);
    }
}
