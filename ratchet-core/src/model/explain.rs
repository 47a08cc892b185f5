//! Why a job waits: the claim's own conditions, asked of one job.
//!
//! A store says what is around a job ([`Surroundings`]); the conditions themselves are the functions that claims use:
//! [`QueueRules::gate`], [`Breaker::admits`], [`ConcurrencyKey::has_room`].

use std::fmt;

use jiff::Timestamp;

use super::{
    Admission, Breaker, ConcurrencyKey, Gate, JobId, JobRecord, JobState, NodeRecord, QueueRules,
};

/// What a claim would see around a job.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The job.
    pub job: JobRecord,
    /// The store's clock.
    pub now: Timestamp,
    /// The rules of its queue.
    pub rules: QueueRules,
    /// How many jobs of its queue run.
    pub running: u64,
    /// The jobs whose runs hold its concurrency key.
    pub holders: Vec<JobId>,
    /// The breaker of its service, if there is one that was ever heard of.
    pub breaker: Option<Breaker>,
    /// How many probes of the breaker's present opening are running.
    pub probing: u64,
    /// The nodes of the cluster.
    pub nodes: Vec<NodeRecord>,
}

/// One reason why a pending job is not running.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiting {
    /// It is not due yet.
    NotDue {
        /// When it is.
        due: Timestamp,
    },
    /// It is a step, and what it waits for has not come to its end.
    ParentNotDone {
        /// How many steps it waits for.
        parents: u32,
        /// How many of them have ended.
        ended: u32,
    },
    /// Its queue is paused.
    QueuePaused {
        /// The queue.
        queue: String,
    },
    /// As many jobs of its queue run as may in the cluster.
    QueueFull {
        /// The queue.
        queue: String,
        /// How many may.
        limit: u32,
    },
    /// As many jobs of its queue were claimed as may in its period.
    RateSpent {
        /// The queue.
        queue: String,
        /// When the next may be claimed.
        until: Timestamp,
    },
    /// Its concurrency key is held.
    KeyHeld {
        /// The key.
        key: String,
        /// How many may hold it.
        limit: u32,
        /// Who does.
        holders: Vec<JobId>,
    },
    /// The breaker of its service is open.
    BreakerOpen {
        /// The service.
        service: String,
        /// Until then; without it, until an operator closes it.
        until: Option<Timestamp>,
    },
    /// The breaker of its service is waiting for its probes.
    BreakerProbing {
        /// The service.
        service: String,
        /// How many runs try it.
        probing: u64,
    },
    /// No live worker knows this job in this version.
    NoWorkerKnowsIt {
        /// The job's name.
        name: String,
        /// The version of its payload.
        version: u32,
    },
    /// No live worker that knows it serves its queue.
    NoWorkerServesIt {
        /// The queue.
        queue: String,
    },
    /// It has crashed its workers and waits for one that has nothing else to do.
    MustRunAlone {
        /// How often.
        crashes: u32,
    },
}

/// The answer to "why is this job not running?".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// It is not waiting: this is where it is.
    NotWaiting(JobState),
    /// It waits, for all of these.
    Waits(Vec<Waiting>),
    /// Nothing holds it back: it is claimed as soon as its turn comes and a worker has room.
    AllClear,
}

impl Surroundings {
    /// A job with nothing around it.
    pub fn new(job: JobRecord, now: Timestamp) -> Self {
        Self {
            job,
            now,
            rules: QueueRules::default(),
            running: 0,
            holders: Vec::new(),
            breaker: None,
            probing: 0,
            nodes: Vec::new(),
        }
    }

    /// Why the job waits. `lonely_after` is how many crashes make a job one that must run alone.
    pub fn explain(&self, lonely_after: u32) -> Explanation {
        if self.job.state != JobState::Pending {
            return Explanation::NotWaiting(self.job.state);
        }
        let mut reasons = Vec::new();
        reasons.extend(self.due());
        reasons.extend(self.parents());
        reasons.extend(self.queue());
        reasons.extend(self.key());
        reasons.extend(self.service());
        reasons.extend(self.worker());
        if self.job.crashes >= lonely_after {
            reasons.push(Waiting::MustRunAlone { crashes: self.job.crashes });
        }
        if reasons.is_empty() { Explanation::AllClear } else { Explanation::Waits(reasons) }
    }

    fn due(&self) -> Option<Waiting> {
        (self.job.due > self.now).then_some(Waiting::NotDue { due: self.job.due })
    }

    fn parents(&self) -> Option<Waiting> {
        let wait = self.job.wait?;
        Some(Waiting::ParentNotDone { parents: wait.edges, ended: wait.fired + wait.dead })
    }

    fn queue(&self) -> Option<Waiting> {
        let queue = self.job.spec.queue.clone();
        match self.rules.gate(self.running, self.now) {
            Gate::Open { .. } => None,
            Gate::Paused => Some(Waiting::QueuePaused { queue }),
            Gate::Full { limit } => Some(Waiting::QueueFull { queue, limit }),
            Gate::Spent { until } => Some(Waiting::RateSpent { queue, until }),
        }
    }

    fn key(&self) -> Option<Waiting> {
        let ConcurrencyKey { key, limit } = self.job.spec.concurrency.as_ref()?;
        let wanted = self.job.spec.concurrency.as_ref()?;
        if wanted.has_room(self.holders.len() as u64) {
            return None;
        }
        Some(Waiting::KeyHeld { key: key.clone(), limit: *limit, holders: self.holders.clone() })
    }

    fn service(&self) -> Option<Waiting> {
        let service = self.job.spec.service.clone()?;
        match self.breaker.as_ref()?.admits(self.probing, self.now) {
            Admission::All | Admission::Probes { left: 1.., .. } => None,
            Admission::Probes { left: 0, .. } => {
                Some(Waiting::BreakerProbing { service, probing: self.probing })
            }
            Admission::Nothing { until } => Some(Waiting::BreakerOpen { service, until }),
        }
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

impl ConcurrencyKey {
    /// Whether one more run fits.
    pub fn has_room(&self, taken: u64) -> bool {
        taken < u64::from(self.limit)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotWaiting(state) => write!(f, "it is not waiting: it is {state}"),
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
            Self::ParentNotDone { parents: 0, .. } => f.write_str("its group has not begun"),
            Self::ParentNotDone { parents, ended } => {
                write!(f, "{ended} of the {parents} steps it waits for have ended")
            }
            Self::QueuePaused { queue } => write!(f, "queue `{queue}` is paused"),
            Self::QueueFull { queue, limit } => {
                write!(
                    f,
                    "queue `{queue}` runs {limit} jobs at once in the cluster, and they are running"
                )
            }
            Self::RateSpent { queue, until } => {
                write!(f, "the rate limit of queue `{queue}` is used up until {until}")
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
            Self::MustRunAlone { crashes } => write!(
                f,
                "its worker died {crashes} times with it, so it waits for a worker that runs nothing else"
            ),
        }
    }
}
