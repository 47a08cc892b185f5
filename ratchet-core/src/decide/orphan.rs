//! The verdict on an orphan: a job whose node's lease expired.

use super::{Policies, envelope};
use ratchet_store::model::{
    AttemptOutcome, FailureKind, Orphan, Settlement, TerminalReason, Verdict,
};

/// Returns an orphan to the queue without using an attempt, or fails it as poisoned after too many crashes.
///
/// Only a job whose handler had started is charged with the crash.
pub(crate) fn decide_orphan(orphan: &Orphan, policies: &Policies, seed: u64) -> Settlement {
    let job = &orphan.claimed;
    let crashes = job.crashes.saturating_add(u32::from(orphan.started));
    let verdict = if crashes > policies.crash_limit {
        let message = format!("its worker died {crashes} times while running it");
        let record =
            crate::failure::record(FailureKind::Crash, "WorkerDied".to_owned(), message, None);
        let mut envelope =
            envelope(job, job.attempts, TerminalReason::Poisoned, None, record, policies);
        envelope.crashes = crashes;
        Verdict::Fail { attempts: job.attempts, crashes, envelope: Box::new(envelope) }
    } else {
        Verdict::Rescue { delay: policies.rescue_backoff.delay(crashes.max(1), seed), crashes }
    };
    Settlement::new(job.token, verdict, AttemptOutcome::Crashed)
}
