//! [`RetryPolicy`], the application's rule for retries, and [`Policies`], the settings of the decisions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::{Failure, Panics, catch_panic};
use ratchet_store::model::{Backoff, Claimed, JobId, JobSpec};

/// Decides whether and when a failed attempt is retried.
///
/// A policy can be set for a job, for a queue and for all jobs; the first of these applies.
///
/// Consulted after `#[do_not_retry]` and before `max_retries`. A policy must be pure, without I/O or a clock, because
/// it is called for every failure. If a policy panics, the panic is counted and logged, and `max_retries` and the job's
/// own backoff decide. The same applies to a policy that does not return: the run times out first.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; }
/// use std::time::Duration;
/// use ratchet::hooks::{FailedJob, Failure, RetryPolicy};
///
/// /// Retries three times at most, and waits longer after each failure of the gateway.
/// #[derive(Debug)]
/// struct ThreeTimes;
///
/// impl RetryPolicy for ThreeTimes {
///     fn should_retry(&self, job: &FailedJob<'_>, _: &Failure) -> bool {
///         job.attempt <= 3
///     }
///
///     fn backoff(&self, job: &FailedJob<'_>, failure: &Failure) -> Option<Duration> {
///         failure.find::<std::io::Error>().map(|_| Duration::from_secs(60) * job.attempt)
///     }
/// }
/// ```
pub trait RetryPolicy: Send + Sync + fmt::Debug + 'static {
    /// Returns whether a failure may be retried.
    fn should_retry(&self, job: &FailedJob<'_>, failure: &Failure) -> bool {
        let _ = (job, failure);
        true
    }

    /// Returns the delay before the next attempt. With `None`, the job's own backoff applies.
    fn backoff(&self, job: &FailedJob<'_>, failure: &Failure) -> Option<Duration> {
        let _ = (job, failure);
        None
    }
}

/// The job that a [`RetryPolicy`] judges.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; }
/// use ratchet::hooks::{FailedJob, Failure, RetryPolicy};
/// use std::time::Duration;
///
/// /// Gives up jobs that are older than an hour, except those of one queue.
/// #[derive(Debug)]
/// struct Fresh;
///
/// impl RetryPolicy for Fresh {
///     fn should_retry(&self, job: &FailedJob<'_>, _: &Failure) -> bool {
///         job.queue == "reports" || job.age < Duration::from_secs(3600)
///     }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FailedJob<'a> {
    /// The id of the job.
    pub id: JobId,
    /// The stored name of the job.
    pub name: &'a str,
    /// The queue of the job.
    pub queue: &'a str,
    /// The tenant of the job.
    pub tenant: Option<&'a str>,
    /// The correlation id of the job.
    pub correlation_id: Option<&'a str>,
    /// The tags of the job.
    pub tags: &'a [String],
    /// The number of the failed attempt, starting at 1.
    pub attempt: u32,
    /// How many times the job may be retried.
    pub max_retries: u32,
    /// How often a worker died while it ran the job.
    pub crashes: u32,
    /// How often the job was deferred.
    pub deferrals: u32,
    /// Starts at 1; incremented by every manual retry.
    pub generation: u32,
    /// The time from the submission of the job to the start of the failed attempt.
    pub age: Duration,
}

impl<'a> FailedJob<'a> {
    /// Describes a claimed job whose run has failed.
    pub fn new(job: &'a Claimed) -> Self {
        let spec = &job.spec;
        Self {
            id: job.id(),
            name: &spec.name,
            queue: &spec.queue,
            tenant: spec.tenant.as_deref(),
            correlation_id: spec.correlation_id.as_deref(),
            tags: &spec.tags,
            attempt: job.attempt(),
            max_retries: spec.options.max_retries,
            crashes: job.crashes,
            deferrals: job.deferrals,
            generation: job.generation,
            age: job.claimed_at.duration_since(job.queued_at).try_into().unwrap_or_default(),
        }
    }
}

/// The default policy: retries every failure until `max_retries` is reached.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as hooks, self as runtime}; pub use ratchet_memory::MemoryStore; }
/// use ratchet::hooks::{AlwaysRetry, RetryPolicy};
/// use ratchet::{MemoryStore, Ratchet};
///
/// // The policy of the application applies to all jobs except those of one queue.
/// fn build(policy: impl RetryPolicy) -> ratchet::runtime::Builder {
///     Ratchet::builder(MemoryStore::new())
///         .retry_policy(policy)
///         .queue_retry_policy("mail", AlwaysRetry)
/// }
/// # drop(build(AlwaysRetry));
/// ```
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
    fn should_retry(&self, job: &FailedJob<'_>, failure: &Failure) -> bool {
        self.ask(true, |policy| policy.should_retry(job, failure))
    }

    fn backoff(&self, job: &FailedJob<'_>, failure: &Failure) -> Option<Duration> {
        self.ask(None, |policy| policy.backoff(job, failure))
    }
}

/// The settings that [`decide`](super::decide) depends on besides the job and its outcome.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policies {
    /// The retry policy of jobs that have none of their own; [`AlwaysRetry`] by default.
    pub retry: Arc<dyn RetryPolicy>,
    /// The retry policies of queues, by name.
    pub queue_retry: BTreeMap<String, Arc<dyn RetryPolicy>>,
    /// The retry policies of jobs, by stored name.
    pub job_retry: BTreeMap<String, Arc<dyn RetryPolicy>>,
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

impl Policies {
    /// Returns the retry policy of a job: its own, that of its queue, or that of all jobs.
    pub(super) fn retry_of(&self, spec: &JobSpec) -> &dyn RetryPolicy {
        let own = self.job_retry.get(&spec.name);
        own.or_else(|| self.queue_retry.get(&spec.queue)).unwrap_or(&self.retry).as_ref()
    }
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            retry: Arc::new(AlwaysRetry),
            queue_retry: BTreeMap::new(),
            job_retry: BTreeMap::new(),
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
