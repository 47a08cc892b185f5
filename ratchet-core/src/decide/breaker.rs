//! How the outcome of a run counts for the circuit breaker of the service it called, and how a failed probe changes the
//! outcome.

use super::Outcome;
use crate::failure::{Failure, Retryability};
use crate::job::BreakerDef;
use ratchet_store::model::{Backoff, Jitter};
use ratchet_store::model::{
    BreakerSample, BreakerSettings, CallResult, Claimed, Deferral, FailureKind,
};

/// Returns the breaker sample of a run, or `None` if its job has no breaker.
pub(crate) fn sample(
    job: &Claimed,
    outcome: &Outcome,
    def: Option<&BreakerDef>,
    settings: BreakerSettings,
) -> Option<BreakerSample> {
    let service = job.spec.service.clone()?;
    Some(BreakerSample { service, result: result(outcome, def), probe: job.probe, settings })
}

/// Turns the failure of a probe into a deferral: the service is still down, so the job must not lose an attempt.
///
/// The delay is a little longer than the breaker stays open, so that another job is the next probe: the fault may lie
/// with this job.
pub(crate) fn after_probe(outcome: Outcome, sample: Option<&BreakerSample>, seed: u64) -> Outcome {
    match (outcome, sample) {
        (Outcome::Failed(failure), Some(sample))
            if sample.probe.is_some() && sample.result == CallResult::Failure =>
        {
            let open_for = sample.settings.open_for;
            let jitter = Backoff::fixed(open_for / 10).jitter(Jitter::Full).delay(1, seed);
            Outcome::Deferred {
                why: Deferral::Breaker,
                delay: Some(open_for.saturating_add(jitter)),
                note: format!(
                    "a trial run of `{}` failed, so its breaker is open again: {}",
                    sample.service, failure.record.message
                ),
            }
        }
        (outcome, _) => outcome,
    }
}

fn result(outcome: &Outcome, def: Option<&BreakerDef>) -> CallResult {
    match outcome {
        Outcome::Done { .. } => CallResult::Success,
        Outcome::Failed(failure) if blames_service(failure, def) => CallResult::Failure,
        Outcome::Failed(_) | Outcome::Deferred { .. } | Outcome::Released => CallResult::Ignored,
    }
}

fn blames_service(failure: &Failure, def: Option<&BreakerDef>) -> bool {
    // A permanent failure is not evidence against the service.
    if failure.retryability != Retryability::Transient {
        return false;
    }
    match failure.record.kind {
        // There is no error to match. A handler that hangs is assumed to be waiting for the service.
        FailureKind::Timeout => true,
        FailureKind::Error | FailureKind::Panic => def.is_none_or(|def| {
            let matches = |list: &[crate::job::ErrorMatcher]| {
                let error = failure.handler_error();
                error.is_some_and(|error| list.iter().any(|matcher| (matcher.matches)(error)))
            };
            !matches(def.ignore) && (def.record.is_empty() || matches(def.record))
        }),
        // The service was not called, or the worker crashed.
        _ => false,
    }
}
