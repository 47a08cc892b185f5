//! The rules of groups of failed jobs: the state that follows from a mark and the last failure.

use std::time::Duration;

use jiff::Timestamp;

use crate::model::{FailureMark, FailureState, Judgment, MarkFailure};

/// How long a mark is kept.
pub const KEPT: Duration = Duration::from_hours(400 * 24);

/// Returns the state of a group whose last job failed at `last`.
pub fn state(mark: Option<&FailureMark>, last: Timestamp, now: Timestamp) -> FailureState {
    let Some(mark) = mark else { return FailureState::Open };
    match mark.judgment {
        Judgment::Acknowledged => FailureState::Acknowledged,
        Judgment::Resolved if last > mark.at => FailureState::Reopened,
        Judgment::Resolved => FailureState::Resolved,
        Judgment::Ignored { until: Some(until) } if until <= now => FailureState::Open,
        Judgment::Ignored { .. } => FailureState::Ignored,
    }
}

/// Returns the mark after a change.
pub fn marked(change: &MarkFailure, now: Timestamp) -> Option<FailureMark> {
    let MarkFailure { job_name, fingerprint, judgment, actor } = change;
    let judgment = (*judgment)?;
    // A store keeps microseconds.
    let at = Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now);
    Some(FailureMark::new(job_name, fingerprint, judgment, actor.clone(), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_06_a_failure_after_the_resolution_reopens_its_group() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let mark = |judgment| Some(FailureMark::new("mail", "7c1e", judgment, None, at(10)));
        let ignored = |until| Judgment::Ignored { until };
        for (mark, last, now, expected) in [
            (None, 5, 20, FailureState::Open),
            (mark(Judgment::Acknowledged), 15, 20, FailureState::Acknowledged),
            (mark(Judgment::Resolved), 10, 20, FailureState::Resolved),
            (mark(Judgment::Resolved), 11, 20, FailureState::Reopened),
            (mark(ignored(None)), 11, 20, FailureState::Ignored),
            (mark(ignored(Some(at(21)))), 11, 20, FailureState::Ignored),
            (mark(ignored(Some(at(20)))), 11, 20, FailureState::Open),
        ] {
            assert_eq!(state(mark.as_ref(), at(last), at(now)), expected, "{mark:?}");
        }
    }
}
