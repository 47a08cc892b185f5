//! Taking work.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{JobId, JobSpec, NodeId, Progress, Token};

/// A request for work.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// Who asks.
    pub node: NodeId,
    /// The queues it serves and how much of each it has room for.
    pub queues: Vec<QueueDemand>,
    /// The jobs it knows; others are left for other workers.
    pub known: Arc<KnownJobs>,
    /// Whether a job that must run alone may be given.
    pub alone: Alone,
    /// Whether the handlers start at once. Only a started job is charged when its worker dies.
    pub starting: bool,
}

/// Room in one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDemand {
    /// The queue.
    pub queue: String,
    /// How many jobs at most.
    pub limit: u32,
}

/// Names of jobs with the newest payload version the node can read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownJobs(pub BTreeMap<String, u32>);

impl KnownJobs {
    /// Whether a job of this name and version can be run.
    pub fn knows(&self, name: &str, version: u32) -> bool {
        self.0.get(name).is_some_and(|newest| version <= *newest)
    }

    /// Whether a job can be run: its name, its version, and every condition to be judged after it.
    pub fn can_run(&self, spec: &JobSpec) -> bool {
        let judges = |condition: &String| self.knows_condition(condition);
        self.knows(&spec.name, spec.version)
            && spec.step.as_ref().is_none_or(|step| step.conditions.iter().all(judges))
    }

    /// Whether a condition can be judged. They stand among the jobs under a name that no job can have.
    pub fn knows_condition(&self, name: &str) -> bool {
        self.0.contains_key(&Self::condition(name))
    }

    /// What a condition is called among the jobs.
    pub fn condition(name: &str) -> String {
        format!("?{name}")
    }
}

/// Whether a claim may bring a job that has crashed its worker before and must run with no other beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// No: the worker is busy.
    No {
        /// How many crashes make a job one that must run alone.
        crashes: u32,
    },
    /// Yes, if it stands first of all that this claim could take, over all its queues: then it comes alone. The worker
    /// runs nothing else.
    Yes {
        /// How many crashes make a job one that must run alone.
        crashes: u32,
    },
}

/// What a claim brought.
#[derive(Debug, Clone, Default)]
pub struct ClaimReply {
    /// The jobs, in the order of their queue.
    pub jobs: Vec<Claimed>,
    /// A due job was passed over because it must run alone: there was room left when its turn came.
    pub lonely_waiting: bool,
    /// How long until the next job of these queues that the node knows falls due, a rate lets more through, or a breaker
    /// half-opens, if any of that is to be expected.
    pub next_due: Option<Duration>,
}

/// A claimed job: everything a worker needs to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The fence of this claim.
    pub token: Token,
    /// What is to run.
    pub spec: Arc<JobSpec>,
    /// Failed attempts so far in this life.
    pub attempts: u32,
    /// How often its worker died with it.
    pub crashes: u32,
    /// How often it was put off.
    pub deferrals: u32,
    /// Which life this is.
    pub generation: u32,
    /// The number of this run, over all lives.
    pub run: u64,
    /// When it was submitted.
    pub queued_at: Timestamp,
    /// When it fell due.
    pub due: Timestamp,
    /// When it was claimed, by the store's clock.
    pub claimed_at: Timestamp,
    /// The node it was claimed by.
    pub node: NodeId,
    /// The last progress a run reported.
    pub progress: Option<Progress>,
    /// The last state a run saved.
    pub checkpoint: Option<serde_json::Value>,
    /// This run tries a service whose breaker is half open: which opening it is a probe of.
    pub probe: Option<u64>,
}

impl Claimed {
    /// The job.
    pub fn id(&self) -> JobId {
        self.token.job
    }

    /// The number of this attempt in this life; the first is 1.
    pub fn attempt(&self) -> u32 {
        self.attempts.saturating_add(1)
    }

    /// Stable over all attempts of this life: what downstream systems can tell repeats by.
    pub fn execution_key(&self) -> String {
        format!("{}:{}", self.id(), self.generation)
    }

    /// Unique per run: `job:step:run`. A job on its own is step 0.
    pub fn transition_key(&self) -> String {
        let step = self.spec.step.as_ref().map_or(0, |step| step.number);
        format!("{}:{step}:{}", self.id(), self.run)
    }

    /// How long the job waited from due to claimed.
    pub fn queue_wait(&self) -> Duration {
        Duration::try_from(self.claimed_at.duration_since(self.due)).unwrap_or_default()
    }
}

/// A claimed job whose node's lease ran out.
#[derive(Debug, Clone, PartialEq)]
pub struct Orphan {
    /// The claim that was lost.
    pub claimed: Claimed,
    /// Whether its handler had started.
    pub started: bool,
}
