//! The end of a run: what the engine decided and what the store made of it.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AttemptOutcome, BreakerChange, Envelope, FailureRecord, GroupId, GroupKind, InsertError, JobId,
    JobState, LogLine, NewGraph, NewHandOff, NewJob, NewReject, Notice, Progress, Ripples, Token,
    Vote,
};

/// What is to happen to a claimed job, with everything that must commit together with it.
///
/// It carries delays, never instants: the store adds its own now.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Settlement {
    /// The claim this settles. If it is no longer the current one, nothing changes.
    pub token: Token,
    /// What was decided.
    pub verdict: Verdict,
    /// How the run ended, for the history.
    pub outcome: AttemptOutcome,
    /// How long the run took.
    pub duration: Duration,
    /// What the handler left behind.
    pub notes: RunNotes,
    /// Jobs that come into being with this commit: children and callbacks.
    pub spawned: Vec<NewJob>,
    /// Chains, batches and workflows that come into being with this commit, after all spawned jobs of the batch.
    pub graphs: Vec<NewGraph>,
    /// What is to be published once this is committed.
    pub notices: Vec<Notice>,
    /// What the run says of the service it called: counted in the order of the batch.
    pub vote: Option<Vote>,
    /// How the conditions on the edges of a step were judged.
    pub answers: Vec<(String, bool)>,
    /// Items that the run set aside.
    pub rejects: Vec<NewReject>,
    /// Checkpoints that the run hands on.
    pub hand_offs: Vec<NewHandOff>,
    /// The handler is still running although its run is over: what it holds stays taken until
    /// [`Store::let_go`](crate::store::Store::let_go) or the end of its node.
    pub lingering: bool,
}

impl Settlement {
    /// A settlement with nothing beside the verdict.
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
            vote: None,
            answers: Vec::new(),
            rejects: Vec::new(),
            hand_offs: Vec::new(),
            lingering: false,
        }
    }
}

/// Where a job goes after a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Done.
    Succeed {
        /// What it returned, as JSON.
        output: Option<String>,
    },
    /// Another attempt later.
    Retry {
        /// After this long.
        delay: Duration,
        /// Failed attempts, this one included.
        attempts: u32,
        /// What went wrong.
        failure: FailureRecord,
    },
    /// Put off; no attempt used, but counted.
    Defer {
        /// For this long.
        delay: Duration,
        /// What put it off.
        why: Deferral,
        /// In words.
        note: String,
    },
    /// Given back unharmed: its due time stays, and so does its place in the queue.
    Release,
    /// Brought back after its worker died.
    Rescue {
        /// After this long.
        delay: Duration,
        /// Crashes, this one included if it counts.
        crashes: u32,
    },
    /// Into the dead-letter queue.
    Fail {
        /// Failed attempts, this one included if it counts.
        attempts: u32,
        /// Crashes, this one included if it counts.
        crashes: u32,
        /// The terminal envelope.
        envelope: Box<Envelope>,
    },
}

/// What put a run off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Deferral {
    /// The handler asked for it.
    Snooze,
    /// The handler could not take the work now.
    Reject,
    /// The breaker of its service was open.
    Breaker,
}

/// What a handler left behind: each write must present the claim's token.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RunNotes {
    /// How far it came.
    pub progress: Option<Progress>,
    /// The state it saved for its next run.
    pub checkpoint: Option<serde_json::Value>,
    /// What it logged.
    pub logs: Vec<LogLine>,
    /// What went wrong beside the outcome.
    pub warnings: Vec<String>,
}

impl RunNotes {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the store made of a settlement.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // nearly always the large one, and gone as soon as it was told
pub enum Settled {
    /// It is committed.
    Applied(Applied),
    /// The claim was no longer the current one; nothing changed.
    Stale {
        /// The state the job is in, if it still exists.
        state: Option<JobState>,
    },
    /// Another transaction holds a key that one of its children needs, and has not ended yet. Nothing changed: settle it
    /// again later.
    Blocked {
        /// What was waited for.
        why: String,
    },
}

/// A committed settlement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Applied {
    /// The state of the job now.
    pub state: JobState,
    /// When the store committed it.
    pub at: Timestamp,
    /// When the job is due again, if it is pending.
    pub due: Option<Timestamp>,
    /// The spawned jobs that came into being, those of graphs too. One whose idempotency key was seen before is neither
    /// here nor dropped.
    pub spawned: Vec<JobId>,
    /// The spawned jobs that do not, because of a key.
    pub dropped: Vec<DroppedChild>,
    /// The graphs of which nothing came into being, because of a key.
    pub dropped_graphs: Vec<DroppedGraph>,
    /// What its vote did to the breaker of its service.
    pub breaker: Option<BreakerChange>,
    /// What else moved in the graphs of this commit: told once, with the first settlement that set something off, or, for
    /// a graph that came into being, with the run that it comes from.
    pub ripples: Ripples,
}

impl Applied {
    /// A committed settlement that spawned nothing.
    pub fn new(state: JobState, at: Timestamp, due: Option<Timestamp>) -> Self {
        Self {
            state,
            at,
            due,
            spawned: Vec::new(),
            dropped: Vec::new(),
            dropped_graphs: Vec::new(),
            breaker: None,
            ripples: Ripples::default(),
        }
    }
}

/// A spawned job that could not be inserted. Its parent settled all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedChild {
    /// The child.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

/// A chain, batch or workflow of a run that could not be inserted. The run settled all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedGraph {
    /// The group it would have been.
    pub id: GroupId,
    /// What kind.
    pub kind: GroupKind,
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

impl DroppedGraph {
    /// Says why a graph was dropped; nothing if it is none.
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
