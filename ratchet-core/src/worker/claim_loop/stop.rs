//! Stopping the claim loop.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ClaimLoop;
use crate::runtime::Core;
use crate::worker::run_limits::Completion;
use ratchet_store::model::NodeId;

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
    /// Records a claim that has started nothing. `trusted` is set if the reply can mean only that nothing is due: a store
    /// may report a failed claim as empty if it has settled runs in the same call.
    pub(super) fn note_empty_claim(&mut self, trusted: bool) {
        if !self.limits.drains() {
            return;
        }
        let idle = self.capacity.running() == 0 && self.settler.is_empty();
        if trusted && idle && !self.isolated_waiting && !self.capacity.any_closed() {
            self.limits.drained();
        } else if !trusted {
            // Ask again at once, without settlements.
            self.pacer.assume_work();
        }
    }

    /// Stops the worker if it has done everything that its run mode and limits allow.
    pub(super) fn complete_if_done(&mut self, now: Duration) {
        if self.stop.is_some() {
            return;
        }
        let late = self.limits.until().is_some_and(|until| until <= now);
        let completion = if late {
            Some(Completion::MaxTime)
        } else {
            self.limits.completion().filter(|_| self.has_landed())
        };
        if let Some(completion) = completion {
            // Only the first reason is kept.
            let _ = self.shared.completed.set(completion);
            self.begin_stop(now, self.shared.core.config.shutdown_grace);
        }
    }

    /// Returns whether no run and no settlement is left.
    fn has_landed(&self) -> bool {
        self.running_jobs.only_runaways()
            && self.settler.is_empty()
            && self.holds_to_release.is_empty()
            && self.undecided.is_empty()
            && self.in_flight.exchanges == 0
    }

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
        self.has_landed() || self.now() >= stop.give_up
    }

    pub(super) async fn leave(self) {
        write_last_stats(&self.shared.core, self.shared.node()).await;
        if let Err(error) = self.shared.core.store.leave(self.shared.node()).await {
            tracing::warn!(%error, "the node could not sign off; its lease will expire");
        }
        self.shared.log_stop(self.stop.map_or(0, |stop| stop.released_before));
    }
}

/// Writes what this process has counted since the last sweep, and adds it up if this node leads. Does not wait long for
/// a store that does not answer.
async fn write_last_stats(core: &Core, node: NodeId) {
    const LIMIT: Duration = Duration::from_secs(1);
    let write = async {
        core.write_stats().await?;
        core.fold_stats(node).await
    };
    tokio::select! {
        biased;
        written = write => {
            if let Err(error) = written {
                tracing::debug!(%error, "the statistics of the last seconds were not written");
            }
        }
        () = core.clock.sleep(LIMIT) => {
            tracing::debug!("the store does not answer, so the statistics of the last seconds were not written");
        }
    }
}
