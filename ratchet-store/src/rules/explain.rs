//! Explains why a job is not running, by applying the conditions of a claim to one job.
//!
//! A store returns the state around a job ([`ClaimContext`]). The conditions are evaluated by the [`ClaimPlan`] that
//! claims use.

use serde::Serialize;
use std::fmt;

use jiff::Timestamp;

use super::Admission;
use super::claim::{Candidate, ClaimPlan, Holders, Obstacle};
use crate::model::{
    Breaker, CancelCause, Gate, JobId, JobRecord, JobState, KeyRate, NodeRecord, QueueDemand,
    QueueRules, Suspects, Vertex, Wait,
};

/// The state that a claim would evaluate for one job.
#[derive(Debug, Clone)]
pub struct ClaimContext {
    /// The job to explain.
    pub job: JobRecord,
    /// The time by the store's clock.
    pub now: Timestamp,
    /// The rules of the job's queue.
    pub rules: QueueRules,
    /// The number of running jobs of the queue.
    pub running: u64,
    /// The jobs whose runs hold the concurrency key.
    pub holders: Vec<JobId>,
    /// The state of the concurrency key, if its queue has a rate per key.
    pub key_rate: KeyRate,
    /// The breaker of the job's service, or `None` if the store has none yet.
    pub breaker: Option<Breaker>,
    /// The number of running probes of the breaker's current opening.
    pub probing: u64,
    /// The nodes of the cluster.
    pub nodes: Vec<NodeRecord>,
}

/// A reason why a pending job is not running.
///
/// ```
/// # mod ratchet { pub use ratchet_store::rules as manage; }
/// use ratchet::manage::{Explanation, Waiting};
///
/// // Whether a job waits only because an operator has paused its queue.
/// fn is_only_paused(explanation: &Explanation) -> bool {
///     let Explanation::Waits(reasons) = explanation else { return false };
///     reasons.iter().all(|reason| matches!(reason, Waiting::QueuePaused { .. }))
/// }
///
/// let paused = Waiting::QueuePaused { queue: "mail".to_owned() };
/// assert_eq!(paused.to_string(), "queue `mail` is paused");
/// assert!(is_only_paused(&Explanation::Waits(vec![paused])));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Waiting {
    /// It is not due yet.
    NotDue {
        /// When it falls due.
        due: Timestamp,
    },
    /// It has expired, and the next sweep cancels it.
    Expired {
        /// When it expired.
        at: Timestamp,
    },
    /// It is a step, and its parents have not ended.
    ParentNotDone {
        /// The number of steps it waits for. Zero if it waits for its group to begin.
        parents: u32,
        /// How many of them have ended.
        ended: u32,
    },
    /// The jobs with its key run in order, and the job before it has not ended, or has failed and holds up the rest.
    NotItsTurn {
        /// The key that the order applies to.
        key: String,
        /// The job before it.
        follows: JobId,
    },
    /// Its queue is paused.
    QueuePaused {
        /// The name of the queue.
        queue: String,
    },
    /// Its queue has reached its cluster-wide concurrency limit.
    QueueFull {
        /// The name of the queue.
        queue: String,
        /// The maximum number of running jobs.
        limit: u32,
    },
    /// Its queue has reached its rate limit.
    RateLimited {
        /// The name of the queue.
        queue: String,
        /// When the next job can be claimed.
        until: Timestamp,
    },
    /// Its concurrency key has used up the rate that its queue allows each key.
    KeyRateLimited {
        /// The name of the queue.
        queue: String,
        /// The concurrency key.
        key: String,
        /// When the next job of the key can be claimed.
        until: Timestamp,
    },
    /// Its concurrency key has reached its limit.
    KeyHeld {
        /// The concurrency key.
        key: String,
        /// The maximum number of holders.
        limit: u32,
        /// The jobs that hold the key.
        holders: Vec<JobId>,
    },
    /// The breaker of its service is open.
    BreakerOpen {
        /// The name of the service.
        service: String,
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
    /// The breaker of its service is half-open, and all of its probes are running.
    BreakerProbing {
        /// The name of the service.
        service: String,
        /// The number of running probes.
        probing: u64,
    },
    /// No live worker knows the job in this version.
    NoWorkerKnowsIt {
        /// The name of the job.
        name: String,
        /// The version of its payload.
        version: u32,
    },
    /// No live worker that knows the job serves its queue.
    NoWorkerServesIt {
        /// The name of the queue.
        queue: String,
    },
    /// A worker did not have the key with which it was signed or encrypted.
    MissingKey {
        /// The reason as text, with the id of the key.
        why: String,
    },
    /// A pipeline that it hands off to was full when it was to run.
    PipelineFull {
        /// The reason as text, with the pipeline, its backlog and its limit.
        why: String,
    },
    /// It has crashed its workers and waits for a worker that runs no other job.
    MustRunAlone {
        /// The number of crashes.
        crashes: u32,
    },
}

/// The answer to "why is this job not running?".
///
/// ```
/// # use ratchet_store::model::{JobId, JobRecord, JobSpec};
/// # use ratchet_store::rules::ClaimContext;
/// # mod ratchet { pub use ratchet_store::rules as manage; }
/// use ratchet::manage::Explanation;
///
/// fn show(explanation: &Explanation) {
///     match explanation {
///         Explanation::Waits(reasons) => reasons.iter().for_each(|reason| println!("- {reason}")),
///         other => println!("{other}"),
///     }
/// }
/// # let (id, now) = (JobId::from_uuid(uuid::Uuid::from_u128(7)), jiff::Timestamp::UNIX_EPOCH);
/// # let job = JobRecord::pending(id, JobSpec::new("mail", Vec::new()), now, now);
/// # let explanation = ClaimContext::new(job, now).explain(5);
/// show(&explanation);
/// assert_eq!(explanation.to_string(), "no live worker knows `mail` in version 1");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Explanation {
    /// The job is not pending; this is its state.
    NotWaiting(JobState),
    /// The job was canceled, because a branch that it waits for was not taken.
    BranchNotTaken {
        /// The job or group that took another branch.
        root: Option<Vertex>,
        /// The number of edges that the job waits for.
        parents: u32,
        /// How many of them can no longer fire.
        dead: u32,
    },
    /// The job was canceled, because it had not started before it expired.
    Expired {
        /// When it expired.
        at: Timestamp,
    },
    /// The job has failed or was canceled, and an operator has submitted another job in its place.
    HasSuccessor {
        /// The state of the job.
        state: JobState,
        /// The job that was submitted.
        successor: JobId,
    },
    /// The job waits for all of these reasons.
    Waits(Vec<Waiting>),
    /// No condition blocks the job. It is claimed as soon as its turn comes and a worker has capacity.
    AllClear,
}

impl ClaimContext {
    /// Creates the surroundings of a job without limits, breaker or nodes.
    pub fn new(job: JobRecord, now: Timestamp) -> Self {
        Self {
            job,
            now,
            rules: QueueRules::default(),
            running: 0,
            holders: Vec::new(),
            key_rate: KeyRate::default(),
            breaker: None,
            probing: 0,
            nodes: Vec::new(),
        }
    }

    /// Returns why the job is not running. `isolate_after_crashes` is the number of crashes from which on a job must
    /// run isolated.
    pub fn explain(&self, isolate_after_crashes: u32) -> Explanation {
        if self.job.state == JobState::Canceled
            && self.job.canceled == Some(CancelCause::NotTaken)
            && let Some(wait) = self.job.wait.filter(Wait::is_partly_dead)
        {
            let root = self.job.root_cause;
            return Explanation::BranchNotTaken { root, parents: wait.edges, dead: wait.dead };
        }
        if self.job.canceled == Some(CancelCause::Expired)
            && let Some(at) = self.job.expires_at()
        {
            return Explanation::Expired { at };
        }
        if self.job.state != JobState::Pending {
            return Explanation::NotWaiting(self.job.state);
        }
        let mut reasons = Vec::new();
        reasons.extend(self.due());
        reasons.extend(self.parents());
        reasons.extend(self.obstacles(isolate_after_crashes));
        reasons.extend(self.worker());
        if reasons.is_empty() { Explanation::AllClear } else { Explanation::Waits(reasons) }
    }

    /// Returns what would keep a claim of this job alone, by a worker that knows it, from taking it.
    fn obstacles(&self, isolate_after_crashes: u32) -> Vec<Waiting> {
        let spec = &self.job.spec;
        let demand = QueueDemand { queue: spec.queue.clone(), limit: 1 };
        let suspects = Suspects::beside_others(isolate_after_crashes);
        let mut plan = ClaimPlan::new(&[demand], suspects, self.now);
        plan.set_rules(&spec.queue, self.rules.clone(), self.running);
        if let Some(key) = &spec.concurrency {
            plan.set_holders(key.key.clone(), Holders::Runs(self.holders.len() as u64));
            plan.set_key_rate(&spec.queue, key.key.clone(), self.key_rate.clone());
        }
        if let (Some(service), Some(breaker)) = (&spec.service, &self.breaker) {
            plan.set_breaker(service.clone(), breaker.clone(), self.probing);
        }
        let candidate = Candidate {
            queue: &spec.queue,
            known: true,
            crashes: self.job.crashes,
            concurrency: spec.concurrency.as_ref(),
            service: spec.service.as_deref(),
            expired: self.job.is_expired(self.now),
        };
        plan.obstacles(&candidate).filter_map(|obstacle| self.waiting(obstacle)).collect()
    }

    fn waiting(&self, obstacle: Obstacle) -> Option<Waiting> {
        let spec = &self.job.spec;
        let queue = spec.queue.clone();
        Some(match obstacle {
            Obstacle::Expired => Waiting::Expired { at: self.job.expires_at()? },
            Obstacle::Queue(Gate::Paused) => Waiting::QueuePaused { queue },
            Obstacle::Queue(Gate::Full { limit }) => Waiting::QueueFull { queue, limit },
            Obstacle::Queue(Gate::RateLimited { until }) => Waiting::RateLimited { queue, until },
            Obstacle::Key => {
                let key = spec.concurrency.as_ref()?;
                let holders = self.holders.clone();
                Waiting::KeyHeld { key: key.key.clone(), limit: key.limit, holders }
            }
            Obstacle::KeyRate { until } => {
                let key = spec.concurrency.as_ref()?.key.clone();
                Waiting::KeyRateLimited { queue, key, until }
            }
            Obstacle::Service(admission) => {
                let service = spec.service.clone()?;
                match admission {
                    Admission::Nothing { until } => Waiting::BreakerOpen { service, until },
                    Admission::All | Admission::Probes { .. } => {
                        Waiting::BreakerProbing { service, probing: self.probing }
                    }
                }
            }
            Obstacle::Isolation => Waiting::MustRunAlone { crashes: self.job.crashes },
            Obstacle::Unknown | Obstacle::Suspect | Obstacle::Queue(Gate::Open { .. }) => {
                return None;
            }
        })
    }

    fn due(&self) -> Option<Waiting> {
        (self.job.due > self.now).then_some(Waiting::NotDue { due: self.job.due })
    }

    fn parents(&self) -> Option<Waiting> {
        let wait = self.job.wait?;
        if let (Some(follows), Some(key)) = (wait.follows, &self.job.spec.concurrency) {
            return Some(Waiting::NotItsTurn { key: key.key.clone(), follows });
        }
        Some(Waiting::ParentNotDone { parents: wait.edges, ended: wait.fired + wait.dead })
    }

    fn worker(&self) -> Option<Waiting> {
        let spec = &self.job.spec;
        let alive = self.nodes.iter().filter(|node| node.alive);
        let mut know = alive.filter(|node| node.info.known.can_run(spec)).peekable();
        if know.peek().is_none() {
            let (name, version) = (spec.name.clone(), spec.version);
            return Some(Waiting::NoWorkerKnowsIt { name, version });
        }
        let served = know.any(|node| node.info.queues.contains(&spec.queue));
        (!served).then(|| Waiting::NoWorkerServesIt { queue: spec.queue.clone() })
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWaiting(state) => write!(f, "it is not waiting: it is {state}"),
            Self::BranchNotTaken { root, parents, dead } => {
                write!(
                    f,
                    "it was canceled: it waits for all of {parents} steps, and {dead} of them are on a branch that was not taken"
                )?;
                if let Some(root) = root {
                    write!(f, " after {root}")?;
                }
                f.write_str("; a join over alternative branches needs `any()`")
            }
            Self::Expired { at } => {
                write!(f, "it was canceled: it expired at {at}, before it was started")
            }
            Self::HasSuccessor { state, successor } => {
                write!(f, "it is {state}, and job {successor} was submitted in its place")
            }
            Self::AllClear => f.write_str(
                "nothing holds it back: it runs when its turn comes and a worker has room",
            ),
            Self::Waits(reasons) => {
                for (at, reason) in reasons.iter().enumerate() {
                    write!(f, "{}{reason}", if at == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDue { due } => write!(f, "it is not due before {due}"),
            Self::Expired { at } => {
                write!(f, "it expired at {at}, and the next sweep of a worker cancels it")
            }
            Self::ParentNotDone { parents: 0, .. } => f.write_str("its group has not begun"),
            Self::ParentNotDone { parents, ended } => {
                write!(f, "{ended} of the {parents} steps it waits for have ended")
            }
            Self::NotItsTurn { key, follows } => {
                write!(
                    f,
                    "jobs with the key `{key}` run in order, and job {follows} before it has not ended or has failed"
                )
            }
            Self::QueuePaused { queue } => write!(f, "queue `{queue}` is paused"),
            Self::QueueFull { queue, limit } => {
                write!(
                    f,
                    "queue `{queue}` runs {limit} jobs at once in the cluster, and they are running"
                )
            }
            Self::RateLimited { queue, until } => {
                write!(f, "the rate limit of queue `{queue}` is used up until {until}")
            }
            Self::KeyRateLimited { queue, key, until } => {
                write!(
                    f,
                    "the rate of its concurrency key `{key}` in queue `{queue}` is used up until {until}"
                )
            }
            Self::KeyHeld { key, limit, holders } => {
                let holders: Vec<_> = holders.iter().map(ToString::to_string).collect();
                let holders = holders.join(", ");
                write!(f, "its concurrency key `{key}` is held by {holders} (limit {limit})")
            }
            Self::BreakerOpen { service, until: Some(until) } => {
                write!(f, "the breaker of `{service}` is open until {until}")
            }
            Self::BreakerOpen { service, until: None } => {
                write!(f, "the breaker of `{service}` is open until an operator closes it")
            }
            Self::BreakerProbing { service, probing } => {
                write!(f, "the breaker of `{service}` waits for its {probing} trial runs")
            }
            Self::NoWorkerKnowsIt { name, version } => {
                write!(f, "no live worker knows `{name}` in version {version}")
            }
            Self::NoWorkerServesIt { queue } => {
                write!(f, "no live worker that knows it serves queue `{queue}`")
            }
            Self::MissingKey { why } | Self::PipelineFull { why } => f.write_str(why),
            Self::MustRunAlone { crashes } => write!(
                f,
                "its worker died {crashes} times with it, so it waits for a worker that runs nothing else"
            ),
        }
    }
}
