//! The types of a claim: the request, the reply, and claimed and orphaned jobs.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{JobId, JobSpec, NodeId, Progress, Suspects, Token};

/// A request to claim due jobs.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The node that claims.
    pub node: NodeId,
    /// The queues to claim from, each with its free capacity.
    pub queues: Vec<QueueDemand>,
    /// The jobs that the node can run. Other jobs are left for other nodes.
    pub known: Arc<KnownJobs>,
    /// How many jobs the reply may contain that have crashed their workers.
    pub suspects: Suspects,
    /// Whether the handlers start immediately. Only a started job is charged with a crash if its worker dies.
    pub starting: bool,
}

/// The free capacity for one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDemand {
    /// The name of the queue.
    pub queue: String,
    /// The maximum number of jobs to claim.
    pub limit: u32,
}

/// The jobs that a node can run, by name, with the newest payload version it can read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KnownJobs(pub BTreeMap<String, u32>);

impl KnownJobs {
    /// Returns `true` if a job of this name and payload version can be run.
    pub fn knows(&self, name: &str, version: u32) -> bool {
        self.0.get(name).is_some_and(|newest| version <= *newest)
    }

    /// Returns `true` if the node knows the job's name and version, and every condition that is evaluated after it.
    pub fn can_run(&self, spec: &JobSpec) -> bool {
        let judges = |condition: &String| self.knows_condition(condition);
        self.knows(&spec.name, spec.version)
            && spec.step.as_ref().is_none_or(|step| step.conditions.iter().all(judges))
    }

    /// Returns `true` if the condition can be evaluated. Conditions are stored in the same map, under names that no job
    /// can have.
    pub fn knows_condition(&self, name: &str) -> bool {
        self.0.contains_key(&Self::condition(name))
    }

    /// Returns the name under which a condition is stored among the jobs.
    pub fn condition(name: &str) -> String {
        format!("?{name}")
    }
}

/// The result of a claim.
#[derive(Debug, Clone, Default)]
pub struct ClaimReply {
    /// The claimed jobs, in queue order.
    pub jobs: Vec<Claimed>,
    /// A due job was skipped because it must run isolated, although capacity was left when its turn came.
    pub isolated_waiting: bool,
    /// A due job was skipped because the claim could return no more [suspects](Suspects) like it.
    pub suspects_waiting: bool,
    /// The time until more jobs may become claimable: the next job of these queues that the node knows falls due, a
    /// rate limit frees capacity, or a breaker half-opens. `None` if none of these is expected.
    pub next_due: Option<Duration>,
}

/// A claimed job, with everything a worker needs to run it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// The fencing token of this claim.
    pub token: Token,
    /// The job as it was submitted.
    pub spec: Arc<JobSpec>,
    /// The number of failed attempts so far in this generation.
    pub attempts: u32,
    /// How often a worker died while it ran the job, in this generation.
    pub crashes: u32,
    /// How often the job was deferred, in this generation.
    pub deferrals: u32,
    /// Starts at 1; incremented by every manual retry.
    pub generation: u32,
    /// The number of this run, over all generations.
    pub run: u64,
    /// When the job was submitted.
    pub queued_at: Timestamp,
    /// When the job fell due.
    pub due: Timestamp,
    /// When the job was claimed, by the store's clock.
    pub claimed_at: Timestamp,
    /// The node that claimed the job.
    pub node: NodeId,
    /// The last progress that a run reported.
    pub progress: Option<Progress>,
    /// The last checkpoint that a run saved.
    pub checkpoint: Option<serde_json::Value>,
    /// If this run is a probe of a half-open breaker: the number of the opening it probes.
    pub probe: Option<u64>,
}

impl Claimed {
    /// Returns the id of the job.
    pub fn id(&self) -> JobId {
        self.token.job
    }

    /// Returns the number of this attempt in this generation, starting at 1.
    pub fn attempt(&self) -> u32 {
        self.attempts.saturating_add(1)
    }

    /// Returns a key that is the same for all attempts of a generation, so that downstream systems can detect repeats.
    pub fn execution_key(&self) -> String {
        format!("{}:{}", self.id(), self.generation)
    }

    /// Returns a key that is unique per run: `job:step:run`. The step of a job outside of a group is 0.
    pub fn transition_key(&self) -> String {
        let step = self.spec.step.as_ref().map_or(0, |step| step.number);
        format!("{}:{step}:{}", self.id(), self.run)
    }

    /// Returns until when a failed run may be retried. A manual retry starts another generation, which has no limit.
    pub fn retry_until(&self) -> Option<Timestamp> {
        let limit = self.spec.retry_until.filter(|_| self.generation <= 1)?;
        Some(limit.at(self.queued_at))
    }

    /// Returns how long the job waited, from due to claimed.
    pub fn queue_wait(&self) -> Duration {
        Duration::try_from(self.claimed_at.duration_since(self.due)).unwrap_or_default()
    }
}

/// A claimed job whose node's lease expired.
#[derive(Debug, Clone, PartialEq)]
pub struct Orphan {
    /// The lost claim.
    pub claimed: Claimed,
    /// Whether the handler had started.
    pub started: bool,
}
