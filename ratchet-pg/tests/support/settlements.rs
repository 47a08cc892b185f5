//! Settlements of a run, one for each way in which it can end.

use std::time::Duration;

use ratchet_store::model::{
    AttemptOutcome, Claimed, Envelope, FailureKind, FailureRecord, Settlement, TerminalReason,
    Verdict,
};

pub(crate) fn succeed(run: &Claimed) -> Settlement {
    Settlement::new(run.token, Verdict::Succeed { output: None }, AttemptOutcome::Success)
}

pub(crate) fn release(run: &Claimed) -> Settlement {
    Settlement::new(run.token, Verdict::Release, AttemptOutcome::Released)
}

pub(crate) fn retry(run: &Claimed) -> Settlement {
    let attempts = run.attempts.saturating_add(1);
    let verdict = Verdict::Retry { delay: Duration::ZERO, attempts, failure: failure() };
    Settlement::new(run.token, verdict, AttemptOutcome::Failure)
}

pub(crate) fn fail(run: &Claimed) -> Settlement {
    let reason = TerminalReason::NonRetryable;
    let envelope = Envelope::new(run.id(), &run.spec.name, reason, failure(), run.node);
    let verdict = Verdict::Fail { attempts: 1, crashes: 0, envelope: Box::new(envelope) };
    Settlement::new(run.token, verdict, AttemptOutcome::Failure)
}

/// Marks the handler of the run as still running.
pub(crate) fn lingering(mut settlement: Settlement) -> Settlement {
    settlement.lingering = true;
    settlement
}

fn failure() -> FailureRecord {
    FailureRecord {
        kind: FailureKind::Error,
        error_type: "Odd".to_owned(),
        message: "boom".to_owned(),
        code: "error".to_owned(),
        fingerprint: "boom".to_owned(),
        retryable: true,
    }
}
