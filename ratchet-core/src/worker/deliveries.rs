//! [`Deliveries`]: tracks the round of deliveries in progress, to detect a sink that blocks its thread.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratchet_store::model::Channel;

/// The round of deliveries in progress. There is one round at a time, in one task, so a sink that blocks its thread
/// stops all deliveries.
#[derive(Debug, Default)]
pub(crate) struct Deliveries(Mutex<Option<Round>>);

#[derive(Debug, Clone, Copy)]
struct Round {
    /// The channel whose sink was called last.
    channel: Option<Channel>,
    /// The last time that the round began, or a sink was called or returned.
    moved: Duration,
    reported: bool,
}

impl Deliveries {
    fn round(&self) -> MutexGuard<'_, Option<Round>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a round, unless one is in progress.
    pub(super) fn begin(&self, now: Duration) -> bool {
        let mut round = self.round();
        if round.is_some() {
            return false;
        }
        *round = Some(Round { channel: None, moved: now, reported: false });
        true
    }

    pub(super) fn end(&self) {
        *self.round() = None;
    }

    /// Records that a sink is called or has returned.
    pub(super) fn moved(&self, channel: Channel, now: Duration) {
        *self.round() = Some(Round { channel: Some(channel), moved: now, reported: false });
    }

    /// Returns a message if the round has made no progress for longer than `limit`.
    pub(super) fn problem(&self, now: Duration, limit: Duration) -> Option<String> {
        let round = (*self.round())?;
        let still = now.saturating_sub(round.moved);
        (still > limit).then(|| {
            let sink = match round.channel {
                Some(Channel::Alerts) => "the alert sink",
                Some(Channel::DeadLetters) => "the dead letter sink",
                Some(Channel::Outcomes) => "the outcome sink",
                None => "the first delivery",
            };
            format!("{sink} has blocked its thread for {}s; nothing is delivered", still.as_secs())
        })
    }

    /// Like [`Self::problem`], but returns each problem only once.
    pub(super) fn new_problem(&self, now: Duration, limit: Duration) -> Option<String> {
        let problem = self.problem(now, limit)?;
        let mut round = self.round();
        let reported = &mut round.as_mut()?.reported;
        (!std::mem::replace(reported, true)).then_some(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn h_06_sink_that_blocks_its_thread_is_reported_once_and_shown_until_it_returns() {
        let (deliveries, limit) = (Deliveries::default(), 30 * SECOND);
        assert!(deliveries.begin(SECOND));
        assert!(!deliveries.begin(SECOND), "one round at a time");
        deliveries.moved(Channel::Outcomes, 2 * SECOND);
        assert_eq!(deliveries.problem(32 * SECOND, limit), None);
        let problem = "the outcome sink has blocked its thread for 31s; nothing is delivered";
        assert_eq!(deliveries.new_problem(33 * SECOND, limit).as_deref(), Some(problem));
        assert_eq!(deliveries.new_problem(33 * SECOND, limit), None);
        assert_eq!(deliveries.problem(33 * SECOND, limit).as_deref(), Some(problem));
        deliveries.moved(Channel::Outcomes, 34 * SECOND);
        assert_eq!(deliveries.problem(35 * SECOND, limit), None);
        deliveries.end();
        assert_eq!(deliveries.problem(1000 * SECOND, limit), None);
        assert!(deliveries.begin(1000 * SECOND));
    }
}
