//! What the claim loop does after a handler has rejected its job.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::ClaimLoop;
use ratchet_store::model::{Claimed, Deferral, Verdict};

impl ClaimLoop {
    /// If a handler rejected its job, closes its queue: until the health checks that guard the queue have run again, or
    /// for a short, growing time if there are none.
    pub(super) fn note_rejection(&mut self, job: &Claimed, verdict: &Verdict, now: Duration) {
        let queue = &job.spec.queue;
        match verdict {
            Verdict::Defer { why: Deferral::Reject, .. } => {}
            Verdict::Succeed { .. } => return self.capacity.accept(queue),
            _ => return,
        }
        if self.shared.core.checks.iter().any(|check| check.guards(queue)) {
            let request = self.shared.check_requests.fetch_add(1, Ordering::AcqRel) + 1;
            self.capacity.await_check(queue, request);
            self.shared.check_requested.notify_one();
        } else if let Some(rest) = self.capacity.reject(queue, now) {
            tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, queue, ?rest, "a handler has rejected its job; nothing is claimed from its queue for a while");
            self.shared.set_resting(self.capacity.rests());
        }
    }
}
