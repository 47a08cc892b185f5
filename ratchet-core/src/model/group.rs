//! Groups of jobs: what they are, how they stand, how they are found.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CancelCause, Edge, GroupId, Member, Point, Wait};

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
