//! What the application decides about retrying.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::{Failure, Panics, guarded};
use crate::job::Backoff;

/// Has a say in whether and when a failed attempt is followed by another.
///
/// Consulted after `#[do_not_retry]` and before the attempt counter. Must be pure: no I/O, no clock; it is called on the
/// road of every failure. A policy that panics is counted and logged, and has no say: the attempt counter and the job's own
/// backoff decide. The same holds for a policy that does not return: its run times out first.
pub trait RetryPolicy: Send + Sync + fmt::Debug + 'static {
    /// Whether a failure may be retried. `attempt` counts this one; the first is 1.
    fn should_retry(&self, attempt: u32, failure: &Failure) -> bool {
        let _ = (attempt, failure);
        true
    }

    /// The delay before the next attempt; `None` leaves it to the job's own backoff.
    fn backoff(&self, attempt: u32, failure: &Failure) -> Option<Duration> {
        let _ = (attempt, failure);
        None
    }
}

/// The default: retry whatever the attempt counter allows.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlwaysRetry;

impl RetryPolicy for AlwaysRetry {}

/// The application's policy, whose panics decide nothing: the attempt counter and the job's own backoff are left then.
#[derive(Debug)]
pub(crate) struct Contained {
    policy: Arc<dyn RetryPolicy>,
    panics: Arc<Panics>,
}

impl Contained {
    pub(crate) fn new(policy: impl RetryPolicy, panics: &Arc<Panics>) -> Self {
        Self { policy: Arc::new(policy), panics: Arc::clone(panics) }
    }

    fn ask<T>(&self, otherwise: T, question: impl FnOnce(&dyn RetryPolicy) -> T) -> T {
        guarded(|| question(self.policy.as_ref())).unwrap_or_else(|panic| {
            self.panics.note("retry policy", &panic);
            otherwise
        })
    }
}

impl RetryPolicy for Contained {
    fn should_retry(&self, attempt: u32, failure: &Failure) -> bool {
        self.ask(true, |policy| policy.should_retry(attempt, failure))
    }

    fn backoff(&self, attempt: u32, failure: &Failure) -> Option<Duration> {
        self.ask(None, |policy| policy.backoff(attempt, failure))
    }
}

/// Everything the decisions depend on beside the job and its outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policies {
    /// The application's say.
    pub retry: Arc<dyn RetryPolicy>,
    /// How long a rejected job waits; grows with each deferral.
    pub reject_backoff: Backoff,
    /// How often a job may be put off before that counts as a failure.
    pub max_deferrals: Option<u32>,
    /// How many crashes a job may cause before it counts as poison.
    pub crash_limit: u32,
    /// How long an orphan waits; grows with each crash.
    pub rescue_backoff: Backoff,
    /// How long the same alert stays quiet.
    pub alert_window: Duration,
    /// Whether dead letters are published outside.
    pub publish_dead_letters: bool,
    /// Whether the end of every job is published outside.
    pub publish_outcomes: bool,
    /// The version of this program.
    pub binary_version: String,
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            retry: Arc::new(AlwaysRetry),
            reject_backoff: Backoff::exponential(
                Duration::from_millis(500),
                Duration::from_secs(30),
            ),
            max_deferrals: None,
            crash_limit: 10,
            rescue_backoff: Backoff::exponential(Duration::from_secs(1), Duration::from_mins(1)),
            alert_window: Duration::from_hours(1),
            publish_dead_letters: false,
            publish_outcomes: false,
            binary_version: String::new(),
        }
    }
}
