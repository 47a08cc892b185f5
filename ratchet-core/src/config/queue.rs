//! Configuration of one queue.

use std::collections::BTreeSet;
use std::time::Duration;

use ratchet_store::model::limits::{self, Field, brief};
use ratchet_store::model::{QueueLimits, Rate};

/// The configuration of one queue.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::QueueConfig;
///
/// let queue = QueueConfig::default().concurrency(8).weight(3).allow(["shop.send_email"]);
/// assert!(!queue.allows("shop.format_disk"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueConfig {
    /// How many of its jobs this worker runs at once; `None` for the limit of the worker.
    pub concurrency: Option<u32>,
    /// Its share of the capacity when several queues have work. Must be at least 1.
    pub weight: u32,
    /// The names of the only jobs allowed in the queue; empty means all.
    pub allow: BTreeSet<String>,
    /// The waiting time that counts as one level of priority. Zero disables aging; `None` uses the default of the
    /// configuration.
    pub boost: Option<Duration>,
    /// Cluster-wide limits. They belong to the [program](crate::Builder::program): when a worker of its newest version
    /// has started, they replace what the program has declared before. Limits that an operator has set take precedence.
    pub cluster: QueueLimits,
    /// How many jobs can wait; `None` for no limit.
    pub depth: Option<DepthLimit>,
}

/// How many jobs can wait in a queue, and what happens to a submission beyond that.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::{DepthLimit, QueueConfig};
///
/// // More than 10,000 emails indicate a problem. Reports can be submitted later.
/// let mail = QueueConfig::default().warn_above(10_000);
/// let reports = QueueConfig::default().max_depth(500);
/// assert_eq!(mail.depth, Some(DepthLimit::Warn(10_000)));
/// assert_eq!(reports.depth, Some(DepthLimit::Refuse(500)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DepthLimit {
    /// The submission fails and nothing is stored.
    Refuse(u64),
    /// A warning is logged.
    Warn(u64),
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            concurrency: None,
            weight: 1,
            allow: BTreeSet::new(),
            boost: None,
            cluster: QueueLimits::default(),
            depth: None,
        }
    }
}

impl QueueConfig {
    /// Sets how many of its jobs this worker runs at once.
    pub fn concurrency(mut self, limit: u32) -> Self {
        self.concurrency = Some(limit);
        self
    }

    /// Sets its share of the capacity when several queues have work. Must be at least 1.
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Adds jobs to the only ones allowed in the queue. Other jobs are refused at submission, and again before they
    /// run.
    pub fn allow(mut self, jobs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allow.extend(jobs.into_iter().map(Into::into));
        self
    }

    /// Sets the waiting time that counts as one level of priority. Zero disables aging.
    pub fn boost(mut self, interval: Duration) -> Self {
        self.boost = Some(interval);
        self
    }

    /// Sets how many of its jobs run at once in the whole cluster.
    pub fn cluster_concurrency(mut self, limit: u32) -> Self {
        self.cluster.concurrency = Some(limit);
        self
    }

    /// Sets how many of its jobs are claimed in any window of this length, in the whole cluster. Retries count.
    pub fn rate(mut self, jobs: u32, per: Duration) -> Self {
        self.cluster.rate = Some(Rate { jobs, per });
        self
    }

    /// Sets how many of the jobs with the same concurrency key are claimed in any window of this length, in the whole
    /// cluster. Retries count. Jobs without a concurrency key are not affected. A key that has used up its rate delays no
    /// other job of the queue.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratchet_core::QueueConfig;
    /// // At most five jobs per minute for each customer, and 50 per second in all.
    /// let minute = Duration::from_secs(60);
    /// let queue = QueueConfig::default().rate_per_key(5, minute).rate(50, Duration::from_secs(1));
    /// assert!(queue.cluster.rate_per_key.is_some());
    /// ```
    pub fn rate_per_key(mut self, jobs: u32, per: Duration) -> Self {
        self.cluster.rate_per_key = Some(Rate { jobs, per });
        self
    }

    /// Makes the tenants of the queue take turns: a claim takes one job of each tenant before it takes a second one of
    /// any. A tenant with a long backlog then delays the others by one job per turn.
    ///
    /// Priorities order the jobs of one tenant. A job without a tenant keeps its place in the queue.
    ///
    /// ```
    /// # use ratchet_core::QueueConfig;
    /// let queue = QueueConfig::default().fair();
    /// assert!(queue.cluster.fair);
    /// ```
    pub fn fair(mut self) -> Self {
        self.cluster.fair = true;
        self
    }

    /// Sets how many jobs can wait. A submission beyond that is refused.
    ///
    /// The submitting process decides based on a count that is at most 250 ms old. Producers in several processes may
    /// exceed the limit by the jobs they submit in the meantime. Jobs that a handler submits through its context are
    /// never refused.
    pub fn max_depth(mut self, jobs: u64) -> Self {
        self.depth = Some(DepthLimit::Refuse(jobs));
        self
    }

    /// Sets how many jobs can wait. A submission beyond that logs a warning.
    pub fn warn_above(mut self, jobs: u64) -> Self {
        self.depth = Some(DepthLimit::Warn(jobs));
        self
    }

    pub(super) fn problems(&self, name: &str, problems: &mut Vec<String>) {
        let mut check = |ok: bool, problem: String| {
            if !ok {
                problems.push(problem);
            }
        };
        let of = |what: &str| format!("`{what}` of queue `{name}` must be at least 1");
        check(self.concurrency != Some(0), of("concurrency"));
        check(self.weight >= 1, of("weight"));
        if let Some(problem) = self.cluster.problem() {
            check(false, format!("the cluster limits of queue `{name}`: {problem}"));
        }
        check(
            limits::check(Field::Queue, name).is_ok(),
            format!("queue `{}` has a name of letters, digits and `_ - . / :`", brief(name)),
        );
    }

    /// Returns `true` if the job is allowed in this queue.
    pub fn allows(&self, job: &str) -> bool {
        self.allow.is_empty() || self.allow.contains(job)
    }
}
