//! What a run says of the service it called, and what that makes of its outcome.

use super::Outcome;
use crate::failure::{Failure, Permanence};
use crate::job::{Backoff, BreakerDef, Jitter};
use crate::model::{Ballot, BreakerSettings, Claimed, Deferral, FailureKind, Vote};

/// The vote of a run, if its job has a breaker.
pub(crate) fn vote(
    job: &Claimed,
    outcome: &Outcome,
    def: Option<&BreakerDef>,
    settings: BreakerSettings,
) -> Option<Vote> {
    let service = job.spec.service.clone()?;
    Some(Vote { service, ballot: ballot(outcome, def), probe: job.probe, settings })
}

/// A failed probe says that the service is still down: the job is put off, and no attempt is used.
///
/// It waits a little longer than the breaker stays open, so that another job tries next: the fault may be this one's.
pub(crate) fn after_probe(outcome: Outcome, vote: Option<&Vote>, seed: u64) -> Outcome {
    match (outcome, vote) {
        (Outcome::Failed(failure), Some(vote))
            if vote.probe.is_some() && vote.ballot == Ballot::Bad =>
        {
            let open_for = vote.settings.open_for;
            let jitter = Backoff::fixed(open_for / 10).jitter(Jitter::Full).delay(1, seed);
            Outcome::Deferred {
                why: Deferral::Breaker,
                delay: Some(open_for.saturating_add(jitter)),
                note: format!(
                    "a trial run of `{}` failed, so its breaker is open again: {}",
                    vote.service, failure.record.message
                ),
            }
        }
        (outcome, _) => outcome,
    }
}

fn ballot(outcome: &Outcome, def: Option<&BreakerDef>) -> Ballot {
    match outcome {
        Outcome::Done { .. } => Ballot::Good,
        Outcome::Failed(failure) if blames_service(failure, def) => Ballot::Bad,
        Outcome::Failed(_) | Outcome::Deferred { .. } | Outcome::Released => Ballot::Blank,
    }
}

fn blames_service(failure: &Failure, def: Option<&BreakerDef>) -> bool {
    // What will never work says nothing of the service.
    if failure.permanence != Permanence::Transient {
        return false;
    }
    match failure.record.kind {
        FailureKind::Invalid
        | FailureKind::Signature
        | FailureKind::Deferral
        | FailureKind::Crash => false,
        // There is no error to look at: a handler that waits in vain waits for the service.
        FailureKind::Timeout => true,
        FailureKind::Error | FailureKind::Panic => def.is_none_or(|def| {
            let matches = |list: &[crate::job::ErrorMatcher]| {
                list.iter().any(|matcher| failure.chain().any(|link| (matcher.matches)(link)))
            };
            !matches(def.ignore) && (def.record.is_empty() || matches(def.record))
        }),
    }
}
