//! Groups of jobs: kinds, states, counts, filters and views.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{CancelCause, Edge, GroupId, Member, Vertex, Wait};

/// The kind of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupKind {
    /// Steps that run one after the other.
    Chain,
    /// Children that run in parallel.
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

/// The state of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GroupState {
    /// The group is a step of another group and has not begun.
    Waiting,
    /// The group has begun and has not ended.
    Running,
    /// All members ended; none failed and none was canceled.
    Succeeded,
    /// All members ended; at least one failed.
    Failed,
    /// The group was canceled, or a member was canceled and none failed.
    Canceled,
}

impl GroupState {
    /// Returns `true` if all members have ended.
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }

    /// Returns the name to display, such as `RUNNING`.
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

/// The number of members of a group, in total and by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupCounts {
    /// All members.
    pub total: u64,
    /// Members that succeeded.
    pub succeeded: u64,
    /// Members that failed permanently.
    pub failed: u64,
    /// Members that were canceled, by request or because of a parent.
    pub canceled: u64,
    /// Members on a branch that was not taken.
    pub skipped: u64,
}

impl GroupCounts {
    /// Creates the counts of a group with `total` members, none of which has ended.
    pub const fn of(total: u64) -> Self {
        Self { total, succeeded: 0, failed: 0, canceled: 0, skipped: 0 }
    }

    /// Returns how many members have ended.
    pub const fn ended(&self) -> u64 {
        self.succeeded + self.failed + self.canceled + self.skipped
    }

    /// Returns the percentage of members that have ended, from 0 to 100. An empty group is at 100.
    #[allow(clippy::cast_precision_loss)] // a percentage
    pub fn percent(&self) -> f64 {
        if self.total == 0 { 100.0 } else { self.ended() as f64 * 100.0 / self.total as f64 }
    }
}

/// The stored state of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupRecord {
    /// The id of the group.
    pub id: GroupId,
    /// The kind of group.
    pub kind: GroupKind,
    /// The name given by the application.
    pub name: String,
    /// The group that this group is a member of, if any.
    pub owner: Option<GroupId>,
    /// Its name or number in its owner.
    pub step: Option<String>,
    /// The current state.
    pub state: GroupState,
    /// The number of members, by how they ended.
    pub counts: GroupCounts,
    /// If `true`, no more members can be added.
    pub sealed: bool,
    /// The dependencies it waits for; `None` once it has begun.
    pub wait: Option<Wait>,
    /// Whether other jobs or groups wait for it.
    pub edges: bool,
    /// If the group was canceled as a whole: the cause.
    pub canceled: Option<CancelCause>,
    /// The origin of its failure or cancellation.
    pub root_cause: Option<Vertex>,
    /// The tenant of its members, unless they have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The correlation id of its members, unless they have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// When it was submitted.
    pub queued_at: Timestamp,
    /// When its last member ended.
    pub finished_at: Option<Timestamp>,
}

impl GroupRecord {
    /// Creates the record of a newly submitted group without members.
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
            tenant: None,
            correlation_id: None,
            queued_at: Timestamp::UNIX_EPOCH,
            finished_at: None,
        }
    }
}

/// Selects groups. A group must match every condition that is set.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{GroupFilter, GroupKind, GroupState};
///
/// let unfinished = GroupFilter::any()
///     .kind(GroupKind::Batch)
///     .name("import")
///     .state(GroupState::Waiting)
///     .state(GroupState::Running);
/// # use ratchet_store::model::{GroupId, GroupRecord};
/// # let id = GroupId::from_uuid(uuid::Uuid::from_u128(7));
/// # let mut group = GroupRecord::new(id, GroupKind::Batch, "import");
/// assert!(unfinished.matches(&group));
/// # group.state = GroupState::Succeeded;
/// # assert!(!unfinished.matches(&group));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupFilter {
    /// The group is of this kind.
    pub kind: Option<GroupKind>,
    /// The group has this name.
    pub name: Option<String>,
    /// The group is in one of these states; empty means any.
    pub states: Vec<GroupState>,
    /// The group is a member of this group; `None` selects groups that have no owner.
    pub owner: Option<GroupId>,
}

impl GroupFilter {
    /// Selects every group that has no owner.
    pub fn any() -> Self {
        Self::default()
    }

    /// Selects groups of this kind.
    pub fn kind(mut self, kind: GroupKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Selects groups with this name.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Selects groups in this state. If called repeatedly, groups in any of the states.
    pub fn state(mut self, state: GroupState) -> Self {
        self.states.push(state);
        self
    }

    /// Selects groups that are members of this one.
    pub fn inside(mut self, owner: GroupId) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Returns `true` if the group matches.
    pub fn matches(&self, group: &GroupRecord) -> bool {
        self.kind.is_none_or(|kind| group.kind == kind)
            && self.name.as_ref().is_none_or(|name| group.name == *name)
            && (self.states.is_empty() || self.states.contains(&group.state))
            && self.owner == group.owner
    }
}

/// A group with all of its members, nested groups and edges.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupView {
    /// The stored state of the group.
    pub group: GroupRecord,
    /// Its jobs, by number.
    pub members: Vec<Member>,
    /// The groups that are members of it, each with its own members.
    pub groups: Vec<GroupView>,
    /// The edges between its members, and from the group to its callbacks.
    pub edges: Vec<Edge>,
    /// Jobs that wait for the group itself: its callbacks.
    pub followers: Vec<Member>,
}

impl GroupView {
    /// Creates the view of a group without nested groups.
    pub fn new(
        group: GroupRecord,
        members: Vec<Member>,
        edges: Vec<Edge>,
        followers: Vec<Member>,
    ) -> Self {
        Self { group, members, groups: Vec::new(), edges, followers }
    }
}
