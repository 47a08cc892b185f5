//! Settings of one queue.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::model::limits::brief;
use crate::model::{QueueLimits, Rate};

/// Settings of one queue.
///
/// ```
/// use ratchet_core::QueueConfig;
///
/// let queue = QueueConfig::default().concurrency(8).weight(3).allow(["shop.send_email"]);
/// assert!(!queue.allows("shop.format_disk"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueConfig {
    /// How many of its jobs this worker runs at once; the worker's own limit if not set.
    pub concurrency: Option<u32>,
    /// Its share of the room when several queues have work.
    pub weight: u32,
    /// The only jobs allowed on it; empty means all.
    pub allow: BTreeSet<String>,
    /// How long waiting counts as one level of priority; zero switches ageing off.
    pub boost: Option<Duration>,
    /// Limits over the whole cluster. The worker that starts last has the say.
    pub cluster: QueueLimits,
    /// How many jobs may wait.
    pub depth: Option<Depth>,
}

/// How many jobs may wait in a queue, and what a submit beyond that gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// An error: nothing is stored.
    Refuse(u64),
    /// A warning.
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
    /// How many of its jobs this worker runs at once.
    pub fn concurrency(mut self, limit: u32) -> Self {
        self.concurrency = Some(limit);
        self
    }

    /// Its share of the room when several queues have work; at least 1.
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// The only jobs allowed on it. Refused at submit and again at dispatch.
    pub fn allow(mut self, jobs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allow.extend(jobs.into_iter().map(Into::into));
        self
    }

    /// How long waiting counts as one level of priority; zero switches ageing off.
    pub fn boost(mut self, interval: Duration) -> Self {
        self.boost = Some(interval);
        self
    }

    /// How many of its jobs run at once in the whole cluster.
    pub fn cluster_concurrency(mut self, limit: u32) -> Self {
        self.cluster.concurrency = Some(limit);
        self
    }

    /// How many of its jobs are claimed in any window of this length, in the whole cluster. Retries count.
    pub fn rate(mut self, jobs: u32, per: Duration) -> Self {
        self.cluster.rate = Some(Rate { jobs, per });
        self
    }

    /// How many jobs may wait: a submit beyond that is refused.
    ///
    /// Judged by the submitting process from a count that is at most a quarter of a second old: producers in several
    /// processes may exceed it by what they submit meanwhile. What a handler enqueues through its context is never refused.
    pub fn depth(mut self, jobs: u64) -> Self {
        self.depth = Some(Depth::Refuse(jobs));
        self
    }

    /// How many jobs may wait: a submit beyond that gets a warning.
    pub fn warn_depth(mut self, jobs: u64) -> Self {
        self.depth = Some(Depth::Warn(jobs));
        self
    }

    pub(super) fn problems(&self, name: &str, problems: &mut Vec<String>) {
        let mut check = |ok: bool, problem: String| {
            if !ok {
                problems.push(problem);
            }
        };
        let of = |what: &str| format!("`{what}` of queue `{name}` is at least 1");
        check(self.concurrency != Some(0), of("concurrency"));
        check(self.cluster.concurrency != Some(0), of("cluster_concurrency"));
        check(self.weight >= 1, of("weight"));
        check(
            self.cluster.rate.is_none_or(|rate| rate.jobs >= 1 && !rate.per.is_zero()),
            format!("`rate` of queue `{name}` is at least one job in a time longer than zero"),
        );
        check(
            crate::client::is_name(name),
            format!("queue `{}` has a name of letters, digits and `_ - . / :`", brief(name)),
        );
    }

    /// Whether a job may be on this queue.
    pub fn allows(&self, job: &str) -> bool {
        self.allow.is_empty() || self.allow.contains(job)
    }
}
