//! [`Trouble`]: how long claims or settlements have been failing.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::failure::{clip, plain};
use ratchet_store::StoreError;

/// How long claims or settlements may fail before the worker is not ready.
const NOT_READY_AFTER: Duration = Duration::from_secs(10);

/// An operation of the store whose failures are tracked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Claim,
    Settle,
    Sweep,
}

/// The operations that currently fail.
#[derive(Debug, Default)]
pub(super) struct Trouble(Mutex<Failing>);

#[derive(Debug, Default)]
struct Failing {
    /// For each operation that fails: the time of its first failure since its last success, and its last error.
    slots: [Option<(Duration, String)>; 3],
    /// For each operation, when it has last succeeded.
    passed: [Option<Duration>; 3],
    /// When the first operation of this outage has failed.
    began: Option<Duration>,
}

impl Trouble {
    fn verbs(&self) -> MutexGuard<'_, Failing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a success. If it ends an outage, because no other operation fails any more, returns how long the outage
    /// has lasted.
    pub(super) fn passed(&self, verb: Verb, now: Duration) -> Option<Duration> {
        let mut verbs = self.verbs();
        verbs.passed[verb as usize] = Some(now);
        let (since, _) = verbs.slots[verb as usize].take()?;
        let began = *verbs.began.get_or_insert(since);
        if verbs.slots.iter().any(Option::is_some) {
            return None;
        }
        verbs.began = None;
        Some(now.saturating_sub(began))
    }

    /// Records a failure.
    pub(super) fn failed(&self, verb: Verb, now: Duration, error: &StoreError) {
        const LONGEST: usize = 500;
        let error = clip(plain(&error.to_string()).into_owned(), LONGEST);
        let mut verbs = self.verbs();
        verbs.began.get_or_insert(now);
        let slot = &mut verbs.slots[verb as usize];
        let since = slot.as_ref().map_or(now, |(since, _)| *since);
        *slot = Some((since, error));
    }

    /// Returns a message with the last error if an operation has failed for too long.
    pub(super) fn problem(&self, verb: Verb, now: Duration) -> Option<String> {
        let verbs = self.verbs();
        let (since, error) = verbs.slots[verb as usize].as_ref()?;
        let what = match verb {
            Verb::Claim => "jobs cannot be claimed",
            Verb::Settle => "outcomes cannot be stored",
            Verb::Sweep => "sweeps fail",
        };
        let lasting = now.saturating_sub(*since);
        (lasting > NOT_READY_AFTER).then(|| format!("{what} for {}s: {error}", lasting.as_secs()))
    }

    /// Returns the time since an operation has succeeded; `None` if it never has.
    pub(super) fn since_passed(&self, verb: Verb, now: Duration) -> Option<Duration> {
        self.verbs().passed[verb as usize].map(|at| now.saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratchet_store::StoreErrorKind;

    const SECOND: Duration = Duration::from_secs(1);

    impl Trouble {
        fn problems(&self, now: Duration) -> Vec<String> {
            let verbs = [Verb::Claim, Verb::Settle, Verb::Sweep];
            verbs.into_iter().filter_map(|verb| self.problem(verb, now)).collect()
        }
    }

    #[test]
    fn h_06_what_fails_for_longer_than_ten_seconds_is_told_with_its_last_error() {
        let trouble = Trouble::default();
        let error = |text: &str| StoreError::new(StoreErrorKind::Data, text);
        trouble.failed(Verb::Claim, SECOND, &error("first"));
        trouble.failed(Verb::Settle, 2 * SECOND, &error("no space"));
        assert!(trouble.problems(11 * SECOND).is_empty());
        trouble.failed(Verb::Claim, 12 * SECOND, &error("last\0"));
        assert_eq!(trouble.problems(12 * SECOND), ["jobs cannot be claimed for 11s: last"]);
        assert_eq!(
            trouble.problems(13 * SECOND),
            ["jobs cannot be claimed for 12s: last", "outcomes cannot be stored for 11s: no space"]
        );
        assert_eq!(trouble.passed(Verb::Claim, 13 * SECOND), None, "settlements still fail");
        assert_eq!(trouble.problems(13 * SECOND), ["outcomes cannot be stored for 11s: no space"]);
        assert_eq!(trouble.passed(Verb::Settle, 14 * SECOND), Some(13 * SECOND));
        assert_eq!(trouble.passed(Verb::Settle, 15 * SECOND), None, "nothing has failed since");
        assert!(trouble.problems(100 * SECOND).is_empty());
    }

    #[test]
    fn m_07_sweeps_that_fail_are_a_problem_and_the_age_is_that_of_the_last_success() {
        let trouble = Trouble::default();
        assert_eq!(trouble.since_passed(Verb::Sweep, SECOND), None);
        trouble.passed(Verb::Sweep, SECOND);
        let error = StoreError::new(StoreErrorKind::Unavailable, "gone");
        trouble.failed(Verb::Sweep, 2 * SECOND, &error);
        assert_eq!(
            trouble.problem(Verb::Sweep, 14 * SECOND).as_deref(),
            Some("sweeps fail for 12s: gone")
        );
        assert_eq!(trouble.since_passed(Verb::Sweep, 14 * SECOND), Some(13 * SECOND));
        trouble.passed(Verb::Sweep, 15 * SECOND);
        assert_eq!(trouble.problem(Verb::Sweep, 40 * SECOND), None);
    }
}
