//! Decides when the next exchange with the store is sent, and what it settles and claims.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ClaimLoop;
use crate::worker::exchange::{Exchange, exchange};
use ratchet_store::model::ClaimRequest;

/// Whether other nodes claim from the same queues, according to the last check.
#[derive(Debug, Default)]
pub(super) struct Competition {
    exists: bool,
    next_check: Duration,
}

impl Competition {
    /// The time between two checks. A worker that drains a queue exchanges many batches in this time.
    const PAUSE: Duration = Duration::from_millis(100);

    /// Returns whether a check is due, and schedules the next one.
    fn is_check_due(&mut self, now: Duration) -> bool {
        let due = now >= self.next_check;
        if due {
            self.next_check = now.saturating_add(Self::PAUSE);
        }
        due
    }

    pub(super) fn seen(&mut self, competing: Option<bool>) {
        self.exists = competing.unwrap_or(self.exists);
    }
}

impl ClaimLoop {
    /// The largest number of jobs that one exchange settles or claims.
    fn exchange_size(&self) -> usize {
        self.shared.core.config.exchange_size(self.competition.exists)
    }

    /// How many ended runs wake the loop: the first one, then as many as fill an exchange.
    pub(super) fn wake_threshold(&self) -> usize {
        let enough = match self.settler.len() {
            0 => 1,
            held => self.exchange_size().saturating_sub(held),
        };
        enough.min(self.capacity.running() as usize).max(1)
    }

    /// Returns the next exchange with the store, if there is something to settle, claim or release.
    pub(super) fn next_exchange(&mut self) -> Option<Exchange> {
        let now = self.now();
        let config = &self.shared.core.config;
        if self.settler.is_waiting(now) {
            return None;
        }
        let claim = self.wants_work(now);
        let portion = self.exchange_size();
        let full = self.settler.len() >= portion;
        // An exchange in flight wakes the loop when it completes, so only a full batch is sent in parallel.
        let busy = self.in_flight.exchanges > 0;
        // No other run can end, so waiting for a larger batch is pointless.
        let last = self.capacity.running() == 0 || self.running_jobs.only_runaways();
        let ripe = self.settler.due_at(config.settle_delay).is_some_and(|at| now >= at);
        let urgent = claim && self.pacer.is_urgent();
        let settle = !self.settler.is_idle(now) && (full || urgent || (!busy && (last || ripe)));
        // A claim waits to be sent together with pending settlements, unless there are none or it is urgent.
        let worthwhile = !busy || self.capacity.free() as usize >= portion;
        let claim = claim && (settle || urgent || (self.settler.is_idle(now) && worthwhile));
        let lets_go =
            self.holds_to_release.iter().any(|token| !self.unsettled_lingering.contains(token));
        if !settle && !claim && !lets_go {
            return None;
        }
        let batch = if settle { self.settler.take(portion, now) } else { Vec::new() };
        let request = claim.then(|| self.request());
        // Check only with exchanges that settle and claim. A single job is latency-sensitive; batches are not.
        let check_competition = settle && claim && self.competition.is_check_due(now);
        self.pacer.on_request_sent();
        let holds_to_release =
            self.holds_to_release.extract_if(.., |token| !self.unsettled_lingering.contains(token));
        let holds_to_release = holds_to_release.collect();
        Some(Box::pin(exchange(
            Arc::clone(&self.shared),
            batch,
            request,
            holds_to_release,
            check_competition,
        )))
    }

    fn wants_work(&self, now: Duration) -> bool {
        self.may_ask() && (self.capacity.expects_work() || self.pacer.should_claim(now))
    }

    /// Returns whether a claim may be sent now, regardless of the pacing.
    fn may_ask(&self) -> bool {
        let shared = &self.shared;
        let open = self.stop.is_none()
            && self.limits.may_claim()
            && !self.suspects.is_isolated()
            && !shared.fenced.load(Ordering::Relaxed)
            && !shared.quiet.load(Ordering::Relaxed)
            && !shared.stalled.load(Ordering::Relaxed)
            && self.capacity.is_open();
        let dry_enough = !self.isolated_waiting || self.is_idle();
        open && dry_enough
    }

    /// Returns whether no job is running and no claim is in flight.
    fn is_idle(&self) -> bool {
        self.capacity.running() == 0 && self.in_flight.claims == 0
    }

    fn request(&mut self) -> ClaimRequest {
        let (idle, portion) = (self.is_idle(), self.limits.portion(self.exchange_size()));
        self.in_flight.claims += 1;
        let queues = self.capacity.allot(portion);
        self.limits.sent(queues.iter().map(|queue| queue.limit).sum());
        ClaimRequest {
            node: self.shared.node(),
            queues,
            known: Arc::clone(&self.shared.known),
            suspects: self.suspects.reserve(idle),
            starting: true,
        }
    }

    /// Returns the time until the next event. Bounded, so that liveness sees the loop make progress.
    pub(super) fn next_wait(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(1);
        let now = self.now();
        let mut at = now.saturating_add(LONGEST);
        let mut sooner = |candidate: Option<Duration>| at = at.min(candidate.unwrap_or(at));
        sooner(self.running_jobs.next_check());
        if self.in_flight.exchanges == 0 {
            sooner(self.settler.due_at(self.shared.core.config.settle_delay));
            // Wake only for a claim that can then be sent, or the loop would spin: not for a claim that is not allowed
            // yet or that waits for settlements.
            let asks = self.settler.is_idle(now) && self.may_ask();
            let next_claim =
                if self.capacity.expects_work() { Duration::ZERO } else { self.pacer.next_claim() };
            sooner(asks.then(|| next_claim.max(self.settler.not_before())));
        }
        sooner(self.capacity.next_rest_end());
        sooner(self.limits.until().filter(|_| self.stop.is_none()));
        sooner(self.stop.filter(|stop| !stop.released).map(|stop| stop.until));
        at.saturating_sub(now)
    }
}
