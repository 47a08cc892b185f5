//! Stopping the claim loop.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ClaimLoop;

/// The limits of a stop that has begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    /// Runs may continue until then.
    pub(super) until: Duration,
    /// Settlements are retried until then.
    pub(super) give_up: Duration,
    pub(super) released: bool,
    /// How many jobs had been returned to their queue before the stop.
    pub(super) released_before: u64,
}

impl ClaimLoop {
    pub(super) fn begin_stop(&mut self, now: Duration, grace: Duration) {
        let config = &self.shared.core.config;
        let until = now.saturating_add(grace);
        let give_up = until.saturating_add(config.runaway_after).saturating_add(config.lease);
        let sooner = self.stop.is_none_or(|stop| until < stop.until);
        if sooner {
            let now_released = self.shared.counters.verdicts.released.load(Ordering::Relaxed);
            let (released, released_before) = self
                .stop
                .map_or((false, now_released), |stop| (stop.released, stop.released_before));
            self.stop = Some(Stop { until, give_up, released, released_before });
        }
        self.shared.stopping.cancel();
    }

    pub(super) fn is_done(&self) -> bool {
        let Some(stop) = self.stop else { return false };
        let landed = self.running_jobs.only_runaways()
            && self.settler.is_empty()
            && self.holds_to_release.is_empty();
        let landed = landed && self.undecided.is_empty();
        (landed && self.in_flight.exchanges == 0) || self.now() >= stop.give_up
    }

    pub(super) async fn leave(self) {
        if let Err(error) = self.shared.core.store.leave(self.shared.node()).await {
            tracing::warn!(%error, "the node could not sign off; its lease will expire");
        }
        self.shared.log_stop(self.stop.map_or(0, |stop| stop.released_before));
    }
}
