//! Graphs of dependent jobs: the types of their insertion, and the changes that propagate through them.

use std::time::Duration;

use super::{CancelCause, Edge, GroupId, GroupRecord, Inserted, JobId, NewJob, Vertex, Wait};

/// A graph to insert atomically.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewGraph {
    /// The groups. Owners must precede their members.
    pub groups: Vec<GroupRecord>,
    /// The jobs of all groups, and their callbacks.
    pub jobs: Vec<NewJob>,
    /// The dependencies between jobs and groups.
    pub edges: Vec<Edge>,
    /// The idempotency key: at most one graph is ever created for it, and a repeat returns the original.
    pub key: Option<GraphKey>,
}

impl NewGraph {
    /// Returns the outermost group.
    pub fn root(&self) -> Option<&GroupRecord> {
        self.groups.first()
    }
}

/// The idempotency key of a whole graph.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GraphKey {
    /// The tenant within which the key is unique.
    pub tenant: Option<String>,
    /// The idempotency key.
    pub key: String,
    /// Whether a repeat is recognized by the key alone. Otherwise, a different graph is refused as a mismatch.
    pub by_key_alone: bool,
    /// How long the key is kept, as [`NewJob::key_lifetime`].
    pub lifetime: Option<Duration>,
}

impl GraphKey {
    /// Creates a key that is kept permanently, and under which a different graph is refused.
    pub fn new(tenant: Option<String>, key: impl Into<String>) -> Self {
        Self { tenant, key: key.into(), by_key_alone: false, lifetime: None }
    }
}

/// More members for a group that is not sealed.
#[derive(Debug, Clone, PartialEq)]
pub struct Extend {
    /// The group to extend.
    pub group: GroupId,
    /// The new members.
    pub jobs: Vec<NewJob>,
    /// Whether the group is sealed after these members.
    pub seal: bool,
}

/// The result of inserting or extending a graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GraphInserted {
    /// The results, in the order of the jobs.
    pub jobs: Vec<Inserted>,
    /// Changes caused by the insertion, such as an empty batch that ends immediately.
    pub effects: GraphEffects,
    /// The original graph, if the idempotency key was used before. Nothing was inserted, and `jobs` is empty.
    pub original: Option<GroupId>,
}

impl GraphInserted {
    /// Returns the ids of the jobs that were created.
    pub fn created(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().filter_map(|answer| match answer {
            Inserted::Created(id) => Some(*id),
            Inserted::Duplicate(_) | Inserted::Holder(_) => None,
        })
    }

    /// Creates the result for a graph that already exists.
    pub fn repeat_of(original: GroupId) -> Self {
        Self { original: Some(original), ..Self::default() }
    }
}

/// Changes elsewhere in the graph, in the same commit, because a job or group ended, was canceled or was retried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphEffects {
    /// Jobs that no longer wait.
    pub released: Vec<JobId>,
    /// Jobs that were canceled.
    pub canceled: Vec<CanceledMember>,
    /// Jobs that were canceled and wait again.
    pub reopened: Vec<JobId>,
    /// Groups that changed, in their new state.
    pub groups: Vec<GroupRecord>,
}

impl GraphEffects {
    /// Appends the changes of another cause in the same commit.
    pub fn append(&mut self, mut more: Self) {
        self.released.append(&mut more.released);
        self.canceled.append(&mut more.canceled);
        self.reopened.append(&mut more.reopened);
        self.groups.append(&mut more.groups);
    }

    /// Returns `true` if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.released.is_empty()
            && self.canceled.is_empty()
            && self.reopened.is_empty()
            && self.groups.is_empty()
    }
}

/// A job that was canceled because of another member of its graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanceledMember {
    /// The id of the canceled job.
    pub job: JobId,
    /// Why it was canceled.
    pub cause: CancelCause,
    /// The origin of the cancellation.
    pub root: Vertex,
    /// The wait of the job when it was canceled.
    pub wait: Option<Wait>,
}

impl CanceledMember {
    /// Returns `true` if the job waits for all of several parents, and only some of their branches were not taken.
    ///
    /// Such a join can never run, although a part of the work before it is done.
    pub fn is_untaken_join(&self) -> bool {
        self.cause == CancelCause::NotTaken && self.wait.is_some_and(|wait| wait.is_partly_dead())
    }
}
