//! [`Rest`]: a queue from which nothing is claimed for a while, because a handler has rejected its job.

use std::time::Duration;

use ratchet_store::model::{Backoff, Jitter};

/// The rejections of a queue that no health check guards.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// Rejections in a row, not counting those of runs that had begun before the rest.
    rejections: u32,
    until: Option<Duration>,
}

impl Rest {
    /// Short, so that a queue in which single jobs are rejected loses little time.
    const FIRST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_secs(10);

    /// Records a rejection. Returns how long nothing is claimed, or `None` if the queue rests already.
    pub(super) fn reject(&mut self, now: Duration) -> Option<Duration> {
        if self.until.is_some() {
            return None;
        }
        self.rejections = self.rejections.saturating_add(1);
        let window = Backoff::exponential(Self::FIRST, Self::LONGEST).jitter(Jitter::None);
        let window = window.delay(self.rejections, 0);
        self.until = Some(now.saturating_add(window));
        Some(window)
    }

    /// Records that a handler has not rejected its job. The next rest is short again.
    pub(super) fn accept(&mut self) {
        self.rejections = 0;
    }

    /// Ends the rest if its time is over. Returns whether it has ended.
    pub(super) fn end(&mut self, now: Duration) -> bool {
        let over = self.until.is_some_and(|until| until <= now);
        if over {
            self.until = None;
        }
        over
    }

    /// Returns when the rest ends, if there is one.
    pub(super) fn until(&self) -> Option<Duration> {
        self.until
    }

    pub(super) fn rejections(&self) -> u32 {
        self.rejections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn h_04_a_rest_grows_with_every_rejection_after_it_and_is_short_again_after_a_success() {
        let (mut rest, mut now) = (Rest::default(), Duration::ZERO);
        let mut windows = Vec::new();
        for _ in 0..12 {
            let window = rest.reject(now).expect("a rest");
            assert_eq!(rest.reject(now + window / 2), None, "a run that had begun before");
            assert!(!rest.end(now + window.saturating_sub(MS)));
            now += window;
            assert!(rest.end(now) && rest.until().is_none());
            windows.push(window.as_millis());
        }
        assert_eq!(windows, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_000, 10_000]);
        rest.accept();
        assert_eq!(rest.reject(now), Some(10 * MS));
    }
}
