//! [`decide`]: the verdict on a job after a run. These are pure functions, without I/O or a clock. Randomness comes
//! from a seed that the caller passes.
//!
//! A failed attempt is checked in this order:
//!
//! 1. The attempt counter is incremented.
//! 2. If the failure is invalid arguments, an error marked `#[do_not_retry]`, a fatal error, or a
//!    panic of a job with `panic = "dlq"`, the job becomes a dead letter.
//! 3. If the [`RetryPolicy`] refuses another attempt, the job becomes a dead letter.
//! 4. If the attempts exceed `max_retries`, the job becomes a dead letter.
//! 5. If the next attempt would start after `retry_until`, the job becomes a dead letter.
//! 6. Otherwise the job is retried after the backoff.

mod breaker;
mod follow_up;
mod orphan;
mod policy;
#[cfg(test)]
mod tests;

use std::time::Duration;

pub(crate) use breaker::{after_probe, sample};
pub(crate) use follow_up::follow_up;
pub(crate) use orphan::decide_orphan;
pub(crate) use policy::Contained;
pub use policy::{AlwaysRetry, FailedJob, Policies, RetryPolicy};

use crate::failure::{Failure, Retryability};
use ratchet_store::model::PanicPolicy;
use ratchet_store::model::{
    AttemptOutcome, Claimed, Deferral, Envelope, FailureKind, FailureRecord, OutcomeKind,
    TerminalReason, Verdict, later,
};

/// How a run ended: the input of [`decide`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The handler returned successfully.
    Done {
        /// The returned value as JSON; `None` if there is none or it was not kept.
        output: Option<String>,
        /// Whether the value is a domain failure: the `Err` of a `Result`.
        domain_failure: bool,
    },
    /// The run failed: an error, a panic, a timeout, or arguments that were refused.
    Failed(Box<Failure>),
    /// The run was deferred. This does not count as an attempt.
    Deferred {
        /// The cause: a snooze, a reject, an open breaker, or a missing key.
        why: Deferral,
        /// The delay before the next run. If `None`, [`Policies::reject_backoff`] applies.
        delay: Option<Duration>,
        /// A description for the history.
        note: String,
    },
    /// The worker is stopping and returns the job to the queue.
    Released,
}

impl Outcome {
    /// Returns the outcome as recorded in the job's history.
    pub fn in_history(&self) -> AttemptOutcome {
        match self {
            Self::Done { domain_failure: true, .. } => AttemptOutcome::DomainFailure,
            Self::Done { .. } => AttemptOutcome::Success,
            Self::Failed(failure) => OutcomeKind::from(failure.record.kind).into(),
            Self::Deferred { why: Deferral::Snooze, .. } => AttemptOutcome::Snoozed,
            Self::Deferred { why: Deferral::Breaker, .. } => AttemptOutcome::BreakerOpen,
            // The note names the key or the pipeline.
            Self::Deferred {
                why: Deferral::Reject | Deferral::MissingKey | Deferral::PipelineFull,
                ..
            } => AttemptOutcome::Rejected,
            Self::Released => AttemptOutcome::Released,
        }
    }
}

/// Decides what happens to a job after a run of this duration. `seed` determines the jitter of delays.
pub fn decide(
    job: &Claimed,
    outcome: &Outcome,
    duration: Duration,
    policies: &Policies,
    seed: u64,
) -> Verdict {
    match outcome {
        Outcome::Done { output, .. } => Verdict::Succeed { output: output.clone() },
        Outcome::Released => Verdict::Release,
        Outcome::Deferred { why, delay, note } => {
            decide_deferred(job, *why, *delay, note, policies, seed)
        }
        Outcome::Failed(failure) => decide_failed(job, failure, duration, policies, seed),
    }
}

fn decide_failed(
    job: &Claimed,
    failure: &Failure,
    duration: Duration,
    policies: &Policies,
    seed: u64,
) -> Verdict {
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
    let (policy, judged) = (policies.retry_of(&job.spec), FailedJob::new(job));
    if !policy.should_retry(&judged, failure) {
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
        .or_else(|| policy.backoff(&judged, failure))
        .unwrap_or_else(|| job.spec.options.backoff.delay(attempts, seed));
    let next = later(job.claimed_at, duration.saturating_add(delay));
    if let Some(until) = job.retry_until().filter(|until| next > *until) {
        let why = format!("the next attempt would start after `retry_until`, which is {until}");
        return dead(TerminalReason::RetryExhausted, Some(why));
    }
    Verdict::Retry { delay, attempts, failure: failure.record.clone() }
}

/// Returns the terminal reason of a failure that must not be retried, with an explanation if there is one.
fn beyond_retry(job: &Claimed, failure: &Failure) -> Option<(TerminalReason, Option<String>)> {
    match (failure.record.kind, &failure.retryability) {
        (FailureKind::Signature, _) => Some((TerminalReason::RejectedSignature, None)),
        (FailureKind::Invalid, _) => Some((TerminalReason::Invalid, None)),
        (_, Retryability::Annotated(reason)) => {
            Some((TerminalReason::NonRetryable, Some(reason.clone())))
        }
        (_, Retryability::Fatal) => Some((TerminalReason::NonRetryable, None)),
        (FailureKind::Panic, _) if job.spec.options.panic == PanicPolicy::Dlq => Some((
            TerminalReason::NonRetryable,
            Some("the option `panic = \"dlq\"` forbids retries after a panic".to_owned()),
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
    // A job whose key is missing waits until an operator adds the key, and one whose pipeline is full until it has room.
    let may_end = !matches!(why, Deferral::MissingKey | Deferral::PipelineFull);
    if may_end && policies.max_deferrals.is_some_and(|most| deferrals > most) {
        let message = format!("deferred {deferrals} times, last: {note}");
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

/// Builds the terminal envelope of a job that becomes a dead letter.
fn envelope(
    job: &Claimed,
    attempts: u32,
    reason: TerminalReason,
    explanation: Option<String>,
    failure: FailureRecord,
    policies: &Policies,
) -> Envelope {
    let spec = &job.spec;
    let mut envelope = Envelope::new(job.id(), spec.name.clone(), reason, failure, job.node);
    envelope.tenant = spec.tenant.clone();
    envelope.execution_key = job.execution_key();
    envelope.transition_key = job.transition_key();
    envelope.correlation_id = spec.correlation_id.clone();
    envelope.queue = spec.queue.clone();
    envelope.explanation = explanation;
    envelope.attempts = attempts;
    envelope.crashes = job.crashes;
    if let Some(step) = spec.step.as_deref() {
        envelope.group = step.group;
        envelope.step.clone_from(&step.name);
    }
    envelope.binary_version = policies.binary_version.clone();
    envelope
}
