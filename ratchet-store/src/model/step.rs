//! Vertices of a graph, the edges between them, and the wait of a vertex.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CancelCause, GroupId, JobId, JobState};

/// A vertex of a graph: a job or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vertex {
    /// A single job.
    Job(JobId),
    /// A chain, batch or workflow.
    Group(GroupId),
}

impl Vertex {
    /// Returns the UUID of the job or group. No job and group share one.
    pub fn uuid(self) -> Uuid {
        match self {
            Self::Job(id) => id.uuid(),
            Self::Group(id) => id.uuid(),
        }
    }

    /// Returns the job id, if the vertex is a job.
    pub fn job(self) -> Option<JobId> {
        match self {
            Self::Job(id) => Some(id),
            Self::Group(_) => None,
        }
    }

    /// Returns the group id, if the vertex is a group.
    pub fn group(self) -> Option<GroupId> {
        match self {
            Self::Group(id) => Some(id),
            Self::Job(_) => None,
        }
    }
}

impl fmt::Display for Vertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid(), f)
    }
}

/// The dependencies that a vertex waits for, and how many of them are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wait {
    /// Whether all edges must fire, or any of them.
    pub mode: WaitMode,
    /// The number of incoming edges. Zero if the vertex waits only for its group to begin.
    pub edges: u32,
    /// The number of edges that have fired.
    pub fired: u32,
    /// The number of edges that can no longer fire.
    pub dead: u32,
    /// For a job that runs in order: the job that precedes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<JobId>,
}

impl Wait {
    /// Creates a wait for `edges` edges.
    pub const fn new(mode: WaitMode, edges: u32) -> Self {
        Self { mode, edges, fired: 0, dead: 0, follows: None }
    }

    /// Creates a wait for the job that precedes another in their order.
    pub const fn for_turn(follows: JobId) -> Self {
        Self { follows: Some(follows), ..Self::new(WaitMode::All, 1) }
    }

    /// Creates a wait for the group to begin.
    pub const fn for_group() -> Self {
        Self::new(WaitMode::All, 0)
    }

    /// Returns `true` if all edges must fire, and some of them, but not all, can no longer fire.
    pub const fn is_partly_dead(&self) -> bool {
        matches!(self.mode, WaitMode::All) && self.dead > 0 && self.dead < self.edges
    }
}

/// How many edges must fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitMode {
    /// All of them.
    #[default]
    All,
    /// At least one.
    Any,
}

/// The condition under which an edge fires.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeTrigger {
    /// The parent succeeded.
    Success,
    /// The parent failed permanently. For a group: at least one member failed.
    Failure,
    /// The parent succeeded or failed. A cancellation fires no edge.
    Always,
    /// The parent succeeded, and this condition holds for its return value.
    Condition(String),
    /// The parent succeeded, and none of the conditions on its other edges holds.
    Otherwise,
    /// For a group: at least this many members per million succeeded.
    Rate(u32),
    /// The parent precedes the child in their [order](Step::order), and no longer holds it up.
    Turn(AfterFailure),
}

/// What a job that runs in order does when the job before it has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterFailure {
    /// It waits until the failed job has been retried and has succeeded, or has been canceled.
    #[default]
    Hold,
    /// It runs.
    Skip,
}

/// A dependency: the child waits for the parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The vertex that the child waits for.
    pub parent: Vertex,
    /// The position among the edges of the parent.
    pub ordinal: u32,
    /// The vertex that waits.
    pub child: Vertex,
    /// The condition under which the edge fires.
    pub when: EdgeTrigger,
    /// Whether the edge fired; `None` while the parent has not ended.
    pub resolution: Option<Resolution>,
}

impl Edge {
    /// Creates an unresolved edge. [`graph::link`](crate::rules::graph::link) sets its ordinal.
    pub fn new(parent: Vertex, child: Vertex, when: EdgeTrigger) -> Self {
        Self { parent, ordinal: 0, child, when, resolution: None }
    }
}

/// How an edge was resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// The edge fired. This is final, because the child may have begun.
    Fired,
    /// The edge can no longer fire, unless its parent is retried.
    Dead {
        /// Why the edge did not fire.
        cause: CancelCause,
        /// The origin of the failure or cancellation.
        root: Vertex,
    },
}

/// The immutable position of a job in a graph.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Step {
    /// The group that the job is a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// The name within the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The number within the group.
    #[serde(skip_serializing_if = "is_default")]
    pub number: u32,
    /// Whether other jobs or groups wait for the job.
    #[serde(skip_serializing_if = "is_default")]
    pub edges: bool,
    /// If `true`, only the first matching edge fires.
    #[serde(skip_serializing_if = "is_default")]
    pub first_match: bool,
    /// The conditions to evaluate when the job has succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// The wait at submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// The delay between the release of the job and its due time.
    #[serde(skip_serializing_if = "Duration::is_zero")]
    pub delay: Duration,
    /// The outputs of other jobs that the job takes as input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<StepInput>,
    /// For a callback of a group: the group whose end is reported to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<GroupId>,
    /// For a job that runs in order: the jobs with its concurrency key start in the order of their submits, and each of
    /// them waits for the one before it. The limit of the key must be 1, and the job must be in no group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<AfterFailure>,
}

impl Step {
    /// Creates a step of this group, without edges and inputs.
    pub fn new(group: Option<GroupId>) -> Self {
        Self { group, ..Self::default() }
    }

    /// Creates the step of a job that runs in order with the other jobs of its concurrency key.
    pub fn in_order(after_failure: AfterFailure) -> Self {
        Self { edges: true, order: Some(after_failure), ..Self::default() }
    }
}

impl Step {
    /// Returns `true` if two steps differ only in their numbers, as the children of a batch do.
    pub fn same_except_payload(&self, other: &Self) -> bool {
        // Destructured, so that a new field cannot be forgotten.
        let Self {
            group,
            name,
            number: _,
            edges,
            first_match,
            conditions,
            wait,
            delay,
            inputs,
            reports,
            order,
        } = self;
        *group == other.group
            && *name == other.name
            && *edges == other.edges
            && *first_match == other.first_match
            && *conditions == other.conditions
            && *wait == other.wait
            && *delay == other.delay
            && *inputs == other.inputs
            && *reports == other.reports
            && *order == other.order
    }

    /// Returns `true` if the step has no dependencies in either direction and only counts in its group.
    pub fn is_child(&self) -> bool {
        !self.edges
            && !self.first_match
            && self.conditions.is_empty()
            && self.wait.is_none()
            && self.delay.is_zero()
    }
}

/// Used to omit fields with default values, which most steps have.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// An input of a step: the output of another job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepInput {
    /// The name of the step that the job takes the input from; `None` if the job does not name one.
    pub name: Option<String>,
    /// The jobs that supply the input: the first of them that succeeded, or all of them.
    pub from: Vec<JobId>,
    /// The argument of the job, if the workflow says which argument takes the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// If `true`, the input is the list of the outputs of all jobs in `from`, in this order.
    #[serde(default, skip_serializing_if = "is_default")]
    pub all: bool,
}

impl StepInput {
    /// Creates an input that takes the output of the first job in `from` that has succeeded.
    pub fn new(name: Option<String>, from: Vec<JobId>) -> Self {
        Self { name, from, argument: None, all: false }
    }
}

/// A job as a member of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// The id of the job.
    pub id: JobId,
    /// The name of the job.
    pub job_name: String,
    /// Its name in the group.
    pub name: Option<String>,
    /// Its number in the group.
    pub number: u32,
    /// The current state.
    pub state: JobState,
    /// For a paused job: the state it was paused from.
    pub paused_from: Option<JobState>,
    /// The dependencies it waits for.
    pub wait: Option<Wait>,
    /// For a canceled job: the cause.
    pub canceled: Option<CancelCause>,
    /// The origin of its cancellation.
    pub root_cause: Option<Vertex>,
    /// The group it is a member of.
    pub group: Option<GroupId>,
    /// Whether other jobs or groups wait for it.
    pub edges: bool,
    /// If `true`, only the first matching edge fires.
    pub first_match: bool,
}
