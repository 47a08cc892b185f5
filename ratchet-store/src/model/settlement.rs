//! The settlement of a run: the request that the engine sends to the store, and the reply.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AttemptOutcome, BreakerChange, BreakerSample, Confidential, Envelope, FailureRecord,
    GraphEffects, GroupId, GroupKind, InsertError, JobId, JobState, LogLine, NewGraph, NewHandOff,
    NewJob, NewReject, Notice, Progress, Token,
};

/// How a claimed job is to be settled, with everything that must commit in the same transaction.
///
/// Contains delays and no instants: the store adds delays to its own clock.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settlement {
    /// The claim that is settled. If it is no longer current, nothing changes.
    pub token: Token,
    /// The transition to apply.
    pub verdict: Verdict,
    /// How the run ended, for the history.
    pub outcome: AttemptOutcome,
    /// How long the run took, by the worker's monotonic clock.
    pub duration: Duration,
    /// Progress, checkpoint, logs and warnings of the run.
    pub notes: RunNotes,
    /// Jobs to insert in the same commit: children and callbacks.
    pub spawned: Vec<NewJob>,
    /// Chains, batches and workflows to insert in the same commit, after all spawned jobs of the batch.
    pub graphs: Vec<NewGraph>,
    /// Messages to publish after the commit.
    pub notices: Vec<Notice>,
    /// The call result for the breaker of the service. Results are counted in the order of the batch.
    pub sample: Option<BreakerSample>,
    /// The results of the conditions on the outgoing edges of a step, by condition name.
    pub condition_results: Vec<(String, bool)>,
    /// Items that the run rejected.
    pub rejects: Vec<NewReject>,
    /// Checkpoints that the run hands to other pipelines.
    pub hand_offs: Vec<NewHandOff>,
    /// How many hand-offs and runs a full pipeline has refused, by pipeline. Counted with any verdict.
    pub refused_hand_offs: Vec<(String, u64)>,
    /// The handler is still running although its run has ended. The run keeps its slots until
    /// [`Store::release_holds`](crate::Store::release_holds) or until its node leaves or its lease expires.
    pub lingering: bool,
}

impl Settlement {
    /// Creates the settlement of a run that did not happen: its job returns to the queue and keeps its place.
    pub fn release(token: Token) -> Self {
        Self::new(token, Verdict::Release, AttemptOutcome::Released)
    }

    /// Creates a settlement with a verdict and an outcome, and with all other fields empty.
    pub fn new(token: Token, verdict: Verdict, outcome: AttemptOutcome) -> Self {
        Self {
            token,
            verdict,
            outcome,
            duration: Duration::ZERO,
            notes: RunNotes::default(),
            spawned: Vec::new(),
            graphs: Vec::new(),
            notices: Vec::new(),
            sample: None,
            condition_results: Vec::new(),
            rejects: Vec::new(),
            hand_offs: Vec::new(),
            refused_hand_offs: Vec::new(),
            lingering: false,
        }
    }
}

/// The transition of a job at the end of a run.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The job succeeded.
    Succeed {
        /// The return value as JSON; `None` if there is none or it was not kept.
        output: Option<String>,
    },
    /// Another attempt is made later.
    Retry {
        /// The delay before the next attempt, added to the store's clock.
        delay: Duration,
        /// The number of failed attempts, including this one.
        attempts: u32,
        /// The failure of this attempt.
        failure: FailureRecord,
    },
    /// The run is deferred. Uses no attempt, but is counted in `deferrals`.
    Defer {
        /// The delay before the job is due again, added to the store's clock.
        delay: Duration,
        /// The kind of deferral.
        why: Deferral,
        /// The reason as text, for the history.
        note: String,
    },
    /// Returned to the queue unchanged: the job keeps its due time and its position in the queue.
    Release,
    /// Returned to the queue after its worker died.
    Rescue {
        /// The delay before the job is due again, added to the store's clock.
        delay: Duration,
        /// The number of crashes, including this one if it counts.
        crashes: u32,
    },
    /// Failed permanently: the job goes to the dead-letter queue.
    Fail {
        /// The number of failed attempts, including this one if it counts.
        attempts: u32,
        /// The number of crashes, including this one if it counts.
        crashes: u32,
        /// The terminal envelope. The store sets its time.
        envelope: Box<Envelope>,
    },
}

/// The cause of a deferral.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deferral {
    /// The handler requested it.
    Snooze,
    /// The handler could not accept the work at this time.
    Reject,
    /// The breaker of the service was open.
    Breaker,
    /// The worker does not have the key with which the job was signed or encrypted.
    MissingKey,
    /// A pipeline that the job hands off to is full.
    PipelineFull,
}

/// The data that a handler recorded during its run. Every write must present the token of the claim.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RunNotes {
    /// The last reported progress.
    pub progress: Option<Progress>,
    /// The checkpoint saved for the next run.
    pub checkpoint: Option<serde_json::Value>,
    /// The lines that the handler logged.
    pub logs: Vec<LogLine>,
    /// Problems that did not change the outcome.
    pub warnings: Vec<String>,
    /// Set if the engine must encrypt the texts of this run. Stores ignore it.
    pub confidential: Option<Confidential>,
}

impl RunNotes {
    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        // Destructured, so that a new field cannot be forgotten.
        let Self { progress, checkpoint, logs, warnings, confidential: _ } = self;
        progress.is_none() && checkpoint.is_none() && logs.is_empty() && warnings.is_empty()
    }
}

/// The store's reply to a settlement.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // nearly always the large variant, and short-lived
pub enum Settled {
    /// The settlement is committed.
    Applied(Applied),
    /// The claim was no longer current; nothing changed.
    Stale {
        /// The current state of the job, or `None` if it no longer exists.
        state: Option<JobState>,
    },
    /// An open transaction holds a key that one of the children needs. Nothing changed. The settlement must be retried
    /// later.
    Blocked {
        /// A description of the lock, for logs.
        why: String,
    },
}

/// The result of a committed settlement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Applied {
    /// The new state of the job.
    pub state: JobState,
    /// The time of the commit, by the store's clock.
    pub at: Timestamp,
    /// When the job is due again, if it is pending.
    pub due: Option<Timestamp>,
    /// The spawned jobs that were created, including those of graphs. A job whose idempotency key was used before is
    /// neither here nor in `dropped`.
    pub spawned: Vec<JobId>,
    /// The spawned jobs that were not created because of a key.
    pub dropped: Vec<DroppedChild>,
    /// The graphs that were not created because of a key.
    pub dropped_graphs: Vec<DroppedGraph>,
    /// The change that the call result caused in the breaker of the service.
    pub breaker: Option<BreakerChange>,
    /// Other changes in the graphs of this commit. Reported once: with the first settlement that caused a change or,
    /// for a new graph, with the run that created it.
    pub effects: GraphEffects,
}

impl Applied {
    /// Creates the result of a settlement that spawned nothing.
    pub fn new(state: JobState, at: Timestamp, due: Option<Timestamp>) -> Self {
        Self {
            state,
            at,
            due,
            spawned: Vec::new(),
            dropped: Vec::new(),
            dropped_graphs: Vec::new(),
            breaker: None,
            effects: GraphEffects::default(),
        }
    }
}

/// A spawned job that could not be inserted. Its parent is settled anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedChild {
    /// The id that the child would have had.
    pub id: JobId,
    /// The job name of the child.
    pub name: String,
    /// The reason, for the warning on the parent.
    pub why: String,
}

/// A chain, batch or workflow that could not be inserted. The run that created it is settled anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedGraph {
    /// The id that the group would have had.
    pub id: GroupId,
    /// The kind of group.
    pub kind: GroupKind,
    /// The name of the group.
    pub name: String,
    /// The reason, for the warning on the parent.
    pub why: String,
}

impl DroppedGraph {
    /// Describes why a graph was dropped. Returns `None` if the graph has no groups.
    pub fn new(graph: &NewGraph, refused: &InsertError) -> Option<Self> {
        let root = graph.root()?;
        let why = refused.to_string();
        Some(Self { id: root.id, kind: root.kind, name: root.name.clone(), why })
    }
}

impl fmt::Display for DroppedGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, kind, name, why } = self;
        write!(f, "{kind} `{name}` ({id}) was dropped: {why}")
    }
}
