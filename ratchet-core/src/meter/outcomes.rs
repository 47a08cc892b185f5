//! The outcomes of runs as they are counted: the outcome and its reason.

use ratchet_store::model::{Deferral, FailureKind, Settlement, TerminalReason, Verdict};

/// Every outcome with its reason.
#[rustfmt::skip]
pub(super) const OUTCOMES: [(&str, &str); 26] = [
    ("succeeded", ""),
    ("released", ""),
    ("rescued", ""),
    ("canceled", ""),
    ("deferred", "snooze"),
    ("deferred", "reject"),
    ("deferred", "breaker"),
    ("retried", "error"),
    ("retried", "panic"),
    ("retried", "timed_out"),
    ("retried", "invalid"),
    ("retried", "signature"),
    ("retried", "crashed"),
    ("retried", "deferred"),
    ("retried", "other"),
    ("failed", "retry_exhausted"),
    ("failed", "non_retryable"),
    ("failed", "policy_refused"),
    ("failed", "invalid"),
    ("failed", "poisoned"),
    ("failed", "rejected_signature"),
    ("failed", "timed_out"),
    ("failed", "deferral_exhausted"),
    ("failed", "other"),
    ("deferred", "missing_key"),
    ("deferred", "pipeline_full"),
];

/// The position of a run that was canceled.
pub(super) const CANCELED: usize = 3;

/// Returns the position of the outcome of a settlement.
pub(super) fn position(settlement: &Settlement) -> usize {
    match &settlement.verdict {
        Verdict::Succeed { .. } => 0,
        Verdict::Release => 1,
        Verdict::Rescue { .. } => 2,
        Verdict::Defer { why, .. } => match why {
            Deferral::Snooze => 4,
            Deferral::Reject => 5,
            Deferral::Breaker => 6,
            Deferral::MissingKey => 24,
            Deferral::PipelineFull => 25,
        },
        Verdict::Retry { failure, .. } => of_kind(failure.kind),
        Verdict::Fail { envelope, .. } => of_reason(envelope.reason),
    }
}

/// How a run can end, without the reason.
pub(super) const ENDS: [&str; 7] =
    ["succeeded", "retried", "failed", "deferred", "released", "rescued", "canceled"];

/// Returns the position in [`ENDS`] of an outcome.
pub(super) fn end(position: usize) -> usize {
    match position {
        0 => 0,
        1 => 4,
        2 => 5,
        CANCELED => 6,
        4..7 | 24 | 25 => 3,
        7..15 => 1,
        _ => 2,
    }
}

/// Returns whether a run has exceeded its timeout.
pub(super) fn is_timeout(settlement: &Settlement) -> bool {
    match &settlement.verdict {
        Verdict::Retry { failure, .. } => failure.kind == FailureKind::Timeout,
        Verdict::Fail { envelope, .. } => envelope.failure.kind == FailureKind::Timeout,
        _ => false,
    }
}

fn of_kind(kind: FailureKind) -> usize {
    match kind {
        FailureKind::Error => 7,
        FailureKind::Panic => 8,
        FailureKind::Timeout => 9,
        FailureKind::Invalid => 10,
        FailureKind::Signature => 11,
        FailureKind::Crash => 12,
        FailureKind::Deferral => 13,
        _ => 14,
    }
}

fn of_reason(reason: TerminalReason) -> usize {
    match reason {
        TerminalReason::RetryExhausted => 15,
        TerminalReason::NonRetryable => 16,
        TerminalReason::PolicyRefused => 17,
        TerminalReason::Invalid => 18,
        TerminalReason::Poisoned => 19,
        TerminalReason::RejectedSignature => 20,
        TerminalReason::TimedOut => 21,
        TerminalReason::DeferralExhausted => 22,
        _ => 23,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v_03_outcomes_are_counted_under_the_names_that_are_stored() {
        use FailureKind as Kind;
        let kinds = [
            Kind::Error,
            Kind::Panic,
            Kind::Timeout,
            Kind::Invalid,
            Kind::Signature,
            Kind::Crash,
            Kind::Deferral,
        ];
        for kind in kinds {
            assert_eq!(OUTCOMES[of_kind(kind)], ("retried", kind.default_code()));
        }
        use TerminalReason as Reason;
        let reasons = [
            Reason::RetryExhausted,
            Reason::NonRetryable,
            Reason::PolicyRefused,
            Reason::Invalid,
            Reason::Poisoned,
            Reason::RejectedSignature,
            Reason::TimedOut,
            Reason::DeferralExhausted,
        ];
        for reason in reasons {
            assert_eq!(OUTCOMES[of_reason(reason)], ("failed", reason.name()));
        }
        assert_eq!(OUTCOMES[CANCELED].0, "canceled");
        for (position, (outcome, _)) in OUTCOMES.iter().enumerate() {
            assert_eq!(ENDS[end(position)], *outcome);
        }
    }
}
