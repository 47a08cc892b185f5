//! Points of a graph, the edges between them, and what a point waits for.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CancelCause, GroupId, JobId, JobState};

/// A point of a graph: a job, or a group of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// A job.
    Job(JobId),
    /// A chain, batch or workflow.
    Group(GroupId),
}

impl Point {
    /// The identity, whatever it names. No job and group share one.
    pub fn uuid(self) -> Uuid {
        match self {
            Self::Job(id) => id.uuid(),
            Self::Group(id) => id.uuid(),
        }
    }

    /// The job, if it is one.
    pub fn job(self) -> Option<JobId> {
        match self {
            Self::Job(id) => Some(id),
            Self::Group(_) => None,
        }
    }

    /// The group, if it is one.
    pub fn group(self) -> Option<GroupId> {
        match self {
            Self::Group(id) => Some(id),
            Self::Job(_) => None,
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.uuid(), f)
    }
}

/// What a point waits for, and how much of it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wait {
    /// All of its edges, or any of them.
    pub mode: WaitMode,
    /// How many edges lead to it. None means: it begins with its group.
    pub edges: u32,
    /// How many have fired.
    pub fired: u32,
    /// How many never will.
    pub dead: u32,
}

impl Wait {
    /// Waits for so many edges.
    pub const fn new(mode: WaitMode, edges: u32) -> Self {
        Self { mode, edges, fired: 0, dead: 0 }
    }

    /// Waits for its group to begin.
    pub const fn for_group() -> Self {
        Self::new(WaitMode::All, 0)
    }
}

/// How many edges must fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitMode {
    /// Every one.
    #[default]
    All,
    /// One.
    Any,
}

/// When an edge fires.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum When {
    /// Its parent succeeded.
    Success,
    /// Its parent failed for good; of a group: a member did.
    Failure,
    /// Its parent ended, well or not. A cancel fires nothing.
    Always,
    /// Its parent succeeded and this condition holds for what it returned.
    Condition(String),
    /// Of a group: at least so many in a million of its members succeeded.
    Rate(u32),
}

/// A dependency: the child waits for the parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// What it leads from.
    pub parent: Point,
    /// Its place among the edges of its parent.
    pub ordinal: u32,
    /// What it leads to.
    pub child: Point,
    /// When it fires.
    pub when: When,
    /// What became of it; `None` while its parent has not ended.
    pub resolution: Option<Resolution>,
}

impl Edge {
    /// An edge whose parent has not ended. Its ordinal is given by [`graph::link`](crate::graph::link).
    pub fn new(parent: Point, child: Point, when: When) -> Self {
        Self { parent, ordinal: 0, child, when, resolution: None }
    }
}

/// What became of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It fired. Never taken back: what it released has begun.
    Fired,
    /// It can never fire, unless its parent is tried again.
    Dead {
        /// Why.
        cause: CancelCause,
        /// What that goes back to.
        root: Point,
    },
}

/// A job's place in a graph: the part of it that never changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Step {
    /// The group it is a member of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// Its name in its group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its number in its group.
    #[serde(skip_serializing_if = "is_default")]
    pub number: u32,
    /// Something waits for it.
    #[serde(skip_serializing_if = "is_default")]
    pub edges: bool,
    /// Only the first edge that could fire does.
    #[serde(skip_serializing_if = "is_default")]
    pub first_match: bool,
    /// Conditions to be judged when it has succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// What it waits for when it is submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// How long it waits once it is released.
    #[serde(skip_serializing_if = "Duration::is_zero")]
    pub delay: Duration,
    /// Whose outputs it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<StepInput>,
    /// The group whose end it is told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reports: Option<GroupId>,
}

impl Step {
    /// Whether two steps differ in nothing but their number, as the children of a batch do.
    pub fn is_like(&self, other: &Self) -> bool {
        // Named one by one, so that a new field cannot be forgotten.
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
    }

    /// Whether it waits for nothing and nothing waits for it: it only counts in its group.
    pub fn is_child(&self) -> bool {
        !self.edges
            && !self.first_match
            && self.conditions.is_empty()
            && self.wait.is_none()
            && self.delay.is_zero()
    }
}

/// What most steps have is not written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The outputs a step takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepInput {
    /// The name of the parent as the step calls it; `None` for its only one.
    pub name: Option<String>,
    /// Where it may come from: the first that has succeeded gives it.
    pub from: Vec<JobId>,
}

/// A job as a graph sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// The job.
    pub id: JobId,
    /// The job's name.
    pub job_name: String,
    /// Its name in the group.
    pub name: Option<String>,
    /// Its number in the group.
    pub number: u32,
    /// Its state.
    pub state: JobState,
    /// For a paused job: where it came from.
    pub paused_from: Option<JobState>,
    /// What it waits for.
    pub wait: Option<Wait>,
    /// For a canceled job: why.
    pub canceled: Option<CancelCause>,
    /// What that goes back to.
    pub root_cause: Option<Point>,
    /// The group it is a member of.
    pub group: Option<GroupId>,
    /// Something waits for it.
    pub edges: bool,
    /// Only the first edge that could fire does.
    pub first_match: bool,
}
