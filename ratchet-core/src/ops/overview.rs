//! [`Overview`]: the state of the cluster at one moment.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use ratchet_store::StoreError;
use ratchet_store::model::{BreakerRecord, JobState, NodeRecord, QueueRecord, UnknownJob};
use serde::Serialize;

use crate::client::Ratchet;

/// The state of the cluster at one moment; see [`Ratchet::overview`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobState, Ratchet}; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::JobState;
///
/// let overview = ratchet.overview().await?;
/// println!("{} nodes are live", overview.live_nodes().count());
/// println!("{} dead letters", overview.count(JobState::Failed));
/// for unknown in &overview.unknown {
///     println!("no live worker knows {}: {} jobs wait", unknown.name, unknown.waiting);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Overview {
    /// The time of the store's clock.
    pub now: Timestamp,
    /// The queues that have jobs or rules, or that a live worker serves, ordered by name.
    pub queues: Vec<QueueOverview>,
    /// The nodes with a valid lease, and those that still hold jobs.
    pub nodes: Vec<NodeRecord>,
    /// The breakers that have counted a call or were set manually.
    pub breakers: Vec<BreakerRecord>,
    /// Names of waiting jobs that no live worker knows.
    pub unknown: Vec<UnknownJob>,
    /// The number of jobs whose rows cannot be read.
    pub unreadable: u64,
}

/// The state of a queue; see [`Overview`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::{JobState, Ratchet}; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::JobState;
///
/// for queue in ratchet.overview().await?.queues {
///     let waiting = queue.count(JobState::Pending);
///     if waiting > 0 && queue.workers == 0 {
///         println!("{waiting} jobs wait in {}, which no worker serves", queue.queue);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct QueueOverview {
    /// The name of the queue.
    pub queue: String,
    /// The number of jobs by state; states without jobs are absent.
    pub states: BTreeMap<JobState, u64>,
    /// When the job became due that has waited longest since.
    pub oldest_due: Option<Timestamp>,
    /// The number of live workers that serve the queue.
    pub workers: u64,
    /// The rules of the queue, if it has any.
    pub rules: Option<QueueRecord>,
}

impl QueueOverview {
    /// Returns the number of jobs in a state.
    pub fn count(&self, state: JobState) -> u64 {
        self.states.get(&state).copied().unwrap_or(0)
    }
}

impl Overview {
    /// Returns the number of jobs in a state, over all queues.
    pub fn count(&self, state: JobState) -> u64 {
        self.queues.iter().map(|queue| queue.count(state)).sum()
    }

    /// Returns the nodes with a valid lease.
    pub fn live_nodes(&self) -> impl Iterator<Item = &NodeRecord> {
        self.nodes.iter().filter(|node| node.alive)
    }
}

impl Overview {
    /// Returns the overview of a cluster without jobs and nodes.
    #[cfg(test)]
    pub(super) fn empty(now: Timestamp) -> Self {
        Self {
            now,
            queues: Vec::new(),
            breakers: Vec::new(),
            unknown: Vec::new(),
            unreadable: 0,
            nodes: Vec::new(),
        }
    }
}

impl Ratchet {
    /// Returns the state of the cluster: queues, nodes, breakers, and jobs that cannot run.
    ///
    /// The answer consists of several reads and is not a snapshot of one moment. If more than 100,000 jobs wait, the counts may
    /// be two seconds old.
    ///
    /// ```
    /// # use ratchet_core::{JobState, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let overview = ratchet.overview().await?;
    /// assert_eq!(overview.count(JobState::Pending), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn overview(&self) -> Result<Overview, StoreError> {
        let core = &self.core;
        let counts = core.recent_counts().await?;
        let rules = core.store.queues().await?;
        let nodes = core.store.nodes().await?;
        let now = core.store.now().await?;
        let oldest_due = core.store.oldest_due().await?;
        let mut names: BTreeSet<&str> = counts.queues.keys().map(String::as_str).collect();
        names.extend(rules.iter().map(|record| record.queue.as_str()));
        for node in nodes.iter().filter(|node| node.alive) {
            names.extend(node.info.queues.iter().map(String::as_str));
        }
        let mut queues = Vec::with_capacity(names.len());
        for name in names {
            let states =
                counts.queues.get(name).map(|counts| counts.states.clone()).unwrap_or_default();
            let serves = |node: &&NodeRecord| {
                node.alive && node.info.request.is_none() && node.info.queues.contains(name)
            };
            queues.push(QueueOverview {
                queue: name.to_owned(),
                states,
                oldest_due: oldest_due.get(name).copied(),
                workers: nodes.iter().filter(serves).count() as u64,
                rules: rules.iter().find(|record| record.queue == name).cloned(),
            });
        }
        Ok(Overview {
            now,
            queues,
            breakers: core.store.breakers().await?,
            unknown: core.store.unknown_jobs().await?,
            unreadable: core.store.count_unreadable().await?,
            nodes,
        })
    }
}
