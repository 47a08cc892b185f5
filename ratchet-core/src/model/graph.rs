//! Jobs that depend on one another: groups, the edges between their points, and what a point waits for.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CancelCause, GroupId, Inserted, JobId, JobState, NewJob};

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

/// What kind of group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKind {
    /// Steps in order.
    Chain,
    /// Children side by side.
    Batch,
    /// Named steps with edges between them.
    Workflow,
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Chain => "chain",
            Self::Batch => "batch",
            Self::Workflow => "workflow",
        })
    }
}

/// Where a group is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GroupState {
    /// It is a step of another group, and not its turn yet.
    Waiting,
    /// Its members run.
    Running,
    /// All members ended, none failed and none was called off.
    Succeeded,
    /// All members ended, some failed.
    Failed,
    /// It was called off, or a member was and none failed.
    Canceled,
}

impl GroupState {
    /// Whether all members have ended.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// The name shown: `RUNNING`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "WAITING",
            Self::Running => "RUNNING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
        }
    }
}

impl fmt::Display for GroupState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How many members of a group there are, and how many ended in which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupCounts {
    /// All members.
    pub total: u64,
    /// Ended well.
    pub succeeded: u64,
    /// Failed for good.
    pub failed: u64,
    /// Called off, or what they waited for was.
    pub canceled: u64,
    /// On a branch that was not taken.
    pub skipped: u64,
}

impl GroupCounts {
    /// So many members, none of which has ended.
    pub const fn of(total: u64) -> Self {
        Self { total, succeeded: 0, failed: 0, canceled: 0, skipped: 0 }
    }

    /// How many members have ended.
    pub const fn ended(&self) -> u64 {
        self.succeeded + self.failed + self.canceled + self.skipped
    }

    /// How much of it has ended, 0 to 100. An empty group is done.
    #[allow(clippy::cast_precision_loss)] // a percentage
    pub fn percent(&self) -> f64 {
        if self.total == 0 { 100.0 } else { self.ended() as f64 * 100.0 / self.total as f64 }
    }
}

/// A group as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupRecord {
    /// Its id.
    pub id: GroupId,
    /// What kind.
    pub kind: GroupKind,
    /// What it is called.
    pub name: String,
    /// The group it is a member of.
    pub owner: Option<GroupId>,
    /// Its name or number in its owner.
    pub step: Option<String>,
    /// Where it is in its life.
    pub state: GroupState,
    /// How its members stand.
    pub counts: GroupCounts,
    /// No member comes any more.
    pub sealed: bool,
    /// What it waits for: `None` once it has begun.
    pub wait: Option<Wait>,
    /// Something waits for it.
    pub edges: bool,
    /// It was called off as a whole: why.
    pub canceled: Option<CancelCause>,
    /// What its failure or cancel goes back to.
    pub root_cause: Option<Point>,
    /// When it was submitted.
    pub queued_at: Timestamp,
    /// When its last member ended.
    pub finished_at: Option<Timestamp>,
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

/// A graph to be inserted: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewGraph {
    /// The groups, owners before their members.
    pub groups: Vec<GroupRecord>,
    /// The jobs.
    pub jobs: Vec<NewJob>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// At most one graph is ever made for this key; a repeat answers with the original.
    pub key: Option<GraphKey>,
}

impl NewGraph {
    /// The group that everything is in.
    pub fn root(&self) -> Option<&GroupRecord> {
        self.groups.first()
    }
}

/// The idempotency key of a whole graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GraphKey {
    /// The tenant it is unique in.
    pub tenant: Option<String>,
    /// The key.
    pub key: String,
}

impl Edge {
    /// An edge whose parent has not ended. Its ordinal is given by [`graph::link`](crate::graph::link).
    pub fn new(parent: Point, child: Point, when: When) -> Self {
        Self { parent, ordinal: 0, child, when, resolution: None }
    }
}

/// More members for a group that is not sealed.
#[derive(Debug, Clone, PartialEq)]
pub struct Extend {
    /// The group.
    pub group: GroupId,
    /// Its new members.
    pub jobs: Vec<NewJob>,
    /// Whether these were the last.
    pub seal: bool,
}

/// What became of a graph that was inserted, or of an extension.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphInserted {
    /// The answers, in the order of the jobs.
    pub jobs: Vec<Inserted>,
    /// What followed at once: an empty batch ends as it begins.
    pub ripples: Ripples,
    /// The key of the graph was seen before: this is the original, nothing was inserted and there are no answers.
    pub original: Option<GroupId>,
}

impl GraphInserted {
    /// The jobs that came into being.
    pub fn created(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().filter_map(|answer| match answer {
            Inserted::Created(id) => Some(*id),
            Inserted::Duplicate(_) | Inserted::Holder(_) => None,
        })
    }

    /// The answer to a graph that exists already.
    pub fn repeat_of(original: GroupId) -> Self {
        Self { original: Some(original), ..Self::default() }
    }
}

/// Which groups. Every condition that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupFilter {
    /// Of this kind.
    pub kind: Option<GroupKind>,
    /// Of this name.
    pub name: Option<String>,
    /// In one of these states; empty means any.
    pub states: Vec<GroupState>,
    /// In this group; otherwise groups that are in none.
    pub owner: Option<GroupId>,
}

impl GroupFilter {
    /// Every group that is not part of another.
    pub fn any() -> Self {
        Self::default()
    }

    /// Groups of this kind.
    pub fn kind(mut self, kind: GroupKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Groups of this name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Groups in this state.
    pub fn state(mut self, state: GroupState) -> Self {
        self.states.push(state);
        self
    }

    /// Groups that are members of this one.
    pub fn inside(mut self, owner: GroupId) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Whether a group fits.
    pub fn matches(&self, group: &GroupRecord) -> bool {
        self.kind.is_none_or(|kind| group.kind == kind)
            && self.name.as_ref().is_none_or(|name| group.name == *name)
            && (self.states.is_empty() || self.states.contains(&group.state))
            && self.owner == group.owner
    }
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

/// What else moved in one commit because something ended, was called off or was tried again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ripples {
    /// Jobs that wait no longer.
    pub released: Vec<JobId>,
    /// Jobs that were called off.
    pub canceled: Vec<CanceledMember>,
    /// Jobs that wait again.
    pub reopened: Vec<JobId>,
    /// Groups that changed, as they are now.
    pub groups: Vec<GroupRecord>,
}

impl Ripples {
    /// Adds what moved because of something else in the same commit.
    pub fn append(&mut self, mut more: Self) {
        self.released.append(&mut more.released);
        self.canceled.append(&mut more.canceled);
        self.reopened.append(&mut more.reopened);
        self.groups.append(&mut more.groups);
    }

    /// Whether nothing moved.
    pub fn is_empty(&self) -> bool {
        self.released.is_empty()
            && self.canceled.is_empty()
            && self.reopened.is_empty()
            && self.groups.is_empty()
    }
}

/// A job that was called off by what happened elsewhere in its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanceledMember {
    /// The job.
    pub job: JobId,
    /// Why.
    pub cause: CancelCause,
    /// What that goes back to.
    pub root: Point,
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

impl GroupRecord {
    /// A group that was just submitted, with no members yet.
    pub fn new(id: GroupId, kind: GroupKind, name: impl Into<String>) -> Self {
        Self {
            id,
            kind,
            name: name.into(),
            owner: None,
            step: None,
            state: GroupState::Running,
            counts: GroupCounts::default(),
            sealed: true,
            wait: None,
            edges: false,
            canceled: None,
            root_cause: None,
            queued_at: Timestamp::UNIX_EPOCH,
            finished_at: None,
        }
    }
}

/// Everything about a group and what is in it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GroupView {
    /// The group.
    pub group: GroupRecord,
    /// Its jobs, by number.
    pub members: Vec<Member>,
    /// The groups in it, with theirs.
    pub groups: Vec<GroupView>,
    /// The edges between them, and from the group to its callbacks.
    pub edges: Vec<Edge>,
    /// Jobs that wait for the group itself: its callbacks.
    pub followers: Vec<Member>,
}
