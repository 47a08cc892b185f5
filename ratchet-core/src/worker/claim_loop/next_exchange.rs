//! When the next exchange goes out, and what it carries.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ClaimLoop;
use crate::model::{Isolation, ClaimRequest};
use crate::worker::exchange::{Exchange, exchange};

/// Whether others claim from the same queues, by the last look around.
#[derive(Debug, Default)]
pub(super) struct Competition {
    exists: bool,
    next_check: Duration,
}

impl Competition {
    /// Who drains a queue moves many batches in this time.
    const PAUSE: Duration = Duration::from_millis(100);

    /// Whether it is time to look around; the next time is then some time later.
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
    /// How many jobs an exchange moves at most.
    fn portion(&self) -> usize {
        self.shared.core.config.portion(self.competition.exists)
    }

    /// How many ends of runs are worth a turn: the first, and then as many as make an exchange.
    pub(super) fn wake_threshold(&self) -> usize {
        let enough = match self.settler.len() {
            0 => 1,
            held => self.portion().saturating_sub(held),
        };
        enough.min(self.capacity.running() as usize).max(1)
    }

    /// The next exchange with the store, if there is something to say or to ask.
    pub(super) fn next_exchange(&mut self) -> Option<Exchange> {
        let now = self.now();
        let config = &self.shared.core.config;
        if self.settler.is_waiting(now) {
            return None;
        }
        let claim = self.wants_work(now);
        let portion = self.portion();
        let full = self.settler.len() >= portion;
        // What is in the air brings the next turn soon: only a full load goes beside it.
        let busy = self.in_flight.exchanges > 0;
        // Nobody else can come: no reason to wait for company.
        let last = self.capacity.running() == 0 || self.running_jobs.only_runaways();
        let ripe = self.settler.due_at(config.settle_delay).is_some_and(|at| now >= at);
        let urgent = claim && self.pacer.is_urgent();
        let settle = !self.settler.is_idle(now) && (full || urgent || (!busy && (last || ripe)));
        // A claim waits for the settlements that are about to come, unless there are none or it is urgent.
        let worthwhile = !busy || self.capacity.free() as usize >= portion;
        let claim = claim && (settle || urgent || (self.settler.is_idle(now) && worthwhile));
        let lets_go = self.holds_to_release.iter().any(|token| !self.unsettled_lingering.contains(token));
        if !settle && !claim && !lets_go {
            return None;
        }
        let batch = if settle { self.settler.take(portion, now) } else { Vec::new() };
        let request = claim.then(|| self.request());
        // Somebody waits for a job that comes alone. Those who come and go in batches do not notice.
        let check_competition = settle && claim && self.competition.is_check_due(now);
        self.pacer.on_request_sent();
        let holds_to_release = self.holds_to_release.extract_if(.., |token| !self.unsettled_lingering.contains(token));
        let holds_to_release = holds_to_release.collect();
        Some(Box::pin(exchange(Arc::clone(&self.shared), batch, request, holds_to_release, check_competition)))
    }

    fn wants_work(&self, now: Duration) -> bool {
        self.may_ask() && self.pacer.should_claim(now)
    }

    /// Whether a claim may go out, if there is appetite for one.
    fn may_ask(&self) -> bool {
        let shared = &self.shared;
        let open = self.stop.is_none()
            && !self.in_flight.isolated
            && !shared.fenced.load(Ordering::Relaxed)
            && !shared.stalled.load(Ordering::Relaxed)
            && self.isolated.is_none()
            && self.capacity.is_open();
        let dry_enough = !self.isolated_waiting || self.is_idle();
        open && dry_enough
    }

    /// Nothing runs, and nothing may come.
    fn is_idle(&self) -> bool {
        self.capacity.running() == 0 && self.in_flight.claims == 0
    }

    fn request(&mut self) -> ClaimRequest {
        let after_crashes = self.shared.core.config.isolate_after_crashes;
        let (idle, portion) = (self.is_idle(), self.portion());
        self.in_flight.claims += 1;
        self.in_flight.isolated = idle;
        ClaimRequest {
            node: self.shared.node(),
            queues: self.capacity.allot(portion),
            known: Arc::clone(&self.shared.known),
            isolation: if idle { Isolation::Allowed { after_crashes } } else { Isolation::NotNow { after_crashes } },
            starting: true,
        }
    }

    /// How long nothing can be due. Bounded, so that the watchdog sees the loop turn.
    pub(super) fn next_wait(&self) -> Duration {
        const LONGEST: Duration = Duration::from_secs(1);
        let now = self.now();
        let mut at = now.saturating_add(LONGEST);
        let mut sooner = |candidate: Option<Duration>| at = at.min(candidate.unwrap_or(at));
        sooner(self.running_jobs.next_check());
        if self.in_flight.exchanges == 0 {
            sooner(self.settler.due_at(self.shared.core.config.settle_delay));
            // Only what can then be done is worth a turn, or the loop would go round for nothing: a claim that may not go
            // out yet, or that waits for settlements, is no reason to wake.
            let asks = self.settler.is_idle(now) && self.may_ask();
            sooner(asks.then(|| self.pacer.next_claim().max(self.settler.not_before())));
        }
        sooner(self.stop.filter(|stop| !stop.released).map(|stop| stop.until));
        at.saturating_sub(now)
    }
}
