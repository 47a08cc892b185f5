//! The heart: what happens to a job after a run. Pure functions, no I/O, no clock, no randomness but a passed-in seed.
//!
//! For a failed attempt the checks come in this order:
//!
//! 1. the attempt counter goes up;
//! 2. invalid, badly signed, `#[do_not_retry]`, fatal, or a panic that may not be retried: dead letter;
//! 3. the [`RetryPolicy`] says no: dead letter;
//! 4. attempts exceed `max_retries`: dead letter;
//! 5. otherwise another attempt, after the backoff.

mod breaker;
mod follow_up;
mod orphan;
mod policy;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(crate) use breaker::{after_probe, vote};
pub(crate) use follow_up::follow_up;
pub(crate) use orphan::decide_orphan;
pub(crate) use policy::Contained;
pub use policy::{AlwaysRetry, Policies, RetryPolicy};

use crate::failure::{Failure, Permanence};
use crate::job::PanicPolicy;
use crate::model::{
    AttemptOutcome, Claimed, Deferral, Envelope, FailureKind, FailureRecord, OutcomeKind,
    TerminalReason, Verdict,
};

/// How a run ended, before anything is decided.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The handler returned.
    Done {
        /// What it returned, as JSON.
        output: Option<String>,
    },
    /// The run failed: error, panic, timeout or refusal.
    Failed(Box<Failure>),
    /// The run was put off.
    Deferred {
        /// By whom.
        why: Deferral,
        /// For how long, if that was said.
        delay: Option<Duration>,
        /// In words.
        note: String,
    },
    /// The worker is stopping and gives the job back.
    Released,
}

impl Outcome {
    /// How the history calls it.
    pub fn in_history(&self) -> AttemptOutcome {
        match self {
            Self::Done { .. } => AttemptOutcome::Success,
            Self::Failed(failure) => OutcomeKind::from(failure.record.kind).into(),
            Self::Deferred { why: Deferral::Snooze, .. } => AttemptOutcome::Snoozed,
            Self::Deferred { why: Deferral::Reject, .. } => AttemptOutcome::Rejected,
            Self::Deferred { why: Deferral::Breaker, .. } => AttemptOutcome::BreakerOpen,
            Self::Released => AttemptOutcome::Released,
        }
    }
}

/// What happens to a job after a run.
pub fn decide(job: &Claimed, outcome: &Outcome, policies: &Policies, seed: u64) -> Verdict {
    match outcome {
        Outcome::Done { output } => Verdict::Succeed { output: output.clone() },
        Outcome::Released => Verdict::Release,
        Outcome::Deferred { why, delay, note } => {
            decide_deferred(job, *why, *delay, note, policies, seed)
        }
        Outcome::Failed(failure) => decide_failed(job, failure, policies, seed),
    }
}

fn decide_failed(job: &Claimed, failure: &Failure, policies: &Policies, seed: u64) -> Verdict {
    let attempts = job.attempts.saturating_add(1);
    let dead = |reason, explanation: Option<String>| Verdict::Fail {
        attempts,
        crashes: job.crashes,
        envelope: Box::new(envelope(
            job,
            attempts,
            reason,
            explanation,
            failure.record.clone(),
            policies,
        )),
    };
    if let Some((reason, explanation)) = beyond_retry(job, failure) {
        return dead(reason, explanation);
    }
    if !policies.retry.should_retry(attempts, failure) {
        let timed_out = failure.record.kind == FailureKind::Timeout;
        return dead(
            if timed_out { TerminalReason::TimedOut } else { TerminalReason::PolicyRefused },
            None,
        );
    }
    if attempts > job.spec.options.max_retries {
        return dead(TerminalReason::RetryExhausted, None);
    }
    let delay = failure
        .retry_after
        .or_else(|| policies.retry.backoff(attempts, failure))
        .unwrap_or_else(|| job.spec.options.backoff.delay(attempts, seed));
    Verdict::Retry { delay, attempts, failure: failure.record.clone() }
}

/// Failures for which no number of attempts is enough.
fn beyond_retry(job: &Claimed, failure: &Failure) -> Option<(TerminalReason, Option<String>)> {
    match (failure.record.kind, &failure.permanence) {
        (FailureKind::Signature, _) => Some((TerminalReason::RejectedSignature, None)),
        (FailureKind::Invalid, _) => Some((TerminalReason::Invalid, None)),
        (_, Permanence::Annotated(reason)) => {
            Some((TerminalReason::NonRetryable, Some(reason.clone())))
        }
        (_, Permanence::Fatal) => Some((TerminalReason::NonRetryable, None)),
        (FailureKind::Panic, _) if job.spec.options.panic == PanicPolicy::Dlq => Some((
            TerminalReason::NonRetryable,
            Some("the job asks that a panic is not retried".to_owned()),
        )),
        _ => None,
    }
}

fn decide_deferred(
    job: &Claimed,
    why: Deferral,
    delay: Option<Duration>,
    note: &str,
    policies: &Policies,
    seed: u64,
) -> Verdict {
    let deferrals = job.deferrals.saturating_add(1);
    if policies.max_deferrals.is_some_and(|most| deferrals > most) {
        let message = format!("put off {deferrals} times, last: {note}");
        let record =
            crate::failure::record(FailureKind::Deferral, "Deferred".to_owned(), message, None);
        let envelope =
            envelope(job, job.attempts, TerminalReason::DeferralExhausted, None, record, policies);
        return Verdict::Fail {
            attempts: job.attempts,
            crashes: job.crashes,
            envelope: Box::new(envelope),
        };
    }
    let delay = delay.unwrap_or_else(|| policies.reject_backoff.delay(deferrals, seed));
    Verdict::Defer { delay, why, note: note.to_owned() }
}

/// The terminal envelope of a job that ends in the dead-letter queue.
fn envelope(
    job: &Claimed,
    attempts: u32,
    reason: TerminalReason,
    explanation: Option<String>,
    failure: FailureRecord,
    policies: &Policies,
) -> Envelope {
    let spec = &job.spec;
    Envelope {
        tenant: spec.tenant.clone(),
        execution_key: job.execution_key(),
        transition_key: job.transition_key(),
        correlation_id: spec.correlation_id.clone(),
        queue: spec.queue.clone(),
        explanation,
        attempts,
        binary_version: policies.binary_version.clone(),
        ..Envelope::new(job.id(), spec.name.clone(), reason, failure, job.node)
    }
}
