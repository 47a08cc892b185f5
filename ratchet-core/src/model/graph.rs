//! Jobs that depend on one another, as they are inserted, and what moves when one of them ends.

use super::{CancelCause, Edge, GroupId, GroupRecord, Inserted, JobId, NewJob, Point};

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
