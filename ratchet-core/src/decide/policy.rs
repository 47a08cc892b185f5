//! [`RetryPolicy`], the application's rule for retries, and [`Policies`], the settings of the decisions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::{Failure, Panics, catch_panic};
use ratchet_store::model::Backoff;

/// Decides whether and when a failed attempt is retried.
///
/// Consulted after `#[do_not_retry]` and before `max_retries`. A policy must be pure, without I/O or a clock, because
/// it is called for every failure. If a policy panics, the panic is counted and logged, and `max_retries` and the job's
/// own backoff decide. The same applies to a policy that does not return: the run times out first.
pub trait RetryPolicy: Send + Sync + fmt::Debug + 'static {
    /// Returns whether a failure may be retried. `attempt` is the number of the failed attempt, starting at 1.
    fn should_retry(&self, attempt: u32, failure: &Failure) -> bool {
        let _ = (attempt, failure);
        true
    }

    /// Returns the delay before the next attempt. With `None`, the job's own backoff applies.
    fn backoff(&self, attempt: u32, failure: &Failure) -> Option<Duration> {
        let _ = (attempt, failure);
        None
    }
}

/// The default policy: retries every failure until `max_retries` is reached.
#[derive(Debug, Clone, Copy, Default)]
pub struct AlwaysRetry;

impl RetryPolicy for AlwaysRetry {}

/// Wraps the application's policy. If it panics, `max_retries` and the job's own backoff decide.
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
        catch_panic(|| question(self.policy.as_ref())).unwrap_or_else(|panic| {
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

/// The settings that [`decide`](super::decide) depends on besides the job and its outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policies {
    /// The application's retry policy; [`AlwaysRetry`] by default.
    pub retry: Arc<dyn RetryPolicy>,
    /// The delay of a deferral that names none; grows with each deferral.
    pub reject_backoff: Backoff,
    /// How many times a job may be deferred. One more deferral makes it a dead letter. `None` means no limit.
    pub max_deferrals: Option<u32>,
    /// How many crashes of its worker a job may cause. One more makes it a dead letter.
    pub crash_limit: u32,
    /// The delay before an orphan runs again; grows with each crash.
    pub rescue_backoff: Backoff,
    /// How long further alerts of the same kind are suppressed.
    pub alert_window: Duration,
    /// Whether dead letters are delivered to a sink.
    pub publish_dead_letters: bool,
    /// Whether the outcome of every job is delivered to a sink.
    pub publish_outcomes: bool,
    /// The version of this program, stored in envelopes.
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
