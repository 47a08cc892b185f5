//! Commands that operators and clients apply to jobs and groups. Each is one transaction.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::limits::LimitError;
use super::{
    Due, Filter, GraphEffects, GroupId, GroupState, JobId, JobSpec, JobState, NotEditable,
    OperationId, OperationState, Priority, StoreError, TransitionKind,
};

/// A command on a job, a set of failed jobs, or a group.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // commands are rare and handled one at a time
pub enum Command {
    /// Pauses a pending or failed job.
    Pause(JobId),
    /// Resumes a paused job to the state it was paused from.
    Resume(JobId),
    /// Cancels a job.
    Cancel(JobId, CancelCause),
    /// Sets a new due time for a pending job.
    Reschedule(JobId, Due),
    /// Moves a pending or paused job to another queue, changes its priority, or both.
    Move(JobId, Placement),
    /// Retries a failed job from the start.
    Retry(JobId),
    /// Retries failed jobs, oldest first. Jobs whose business key is taken are skipped and do not count toward the
    /// limit.
    Redrive {
        /// The jobs to retry.
        filter: Filter,
        /// The maximum number of jobs to retry.
        limit: u32,
    },
    /// Cancels a chain, batch or workflow: every member that has not ended.
    CancelGroup(GroupId),
}

/// Where a job waits: its queue, and its priority in it. What is not set stays as it is.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{Placement, Priority};
///
/// let urgent = Placement::default().queue("express").priority(Priority::High);
/// assert_eq!(urgent.to_string(), "queue express, priority high");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Placement {
    /// The new queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// The new priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
}

impl Placement {
    /// Sets the queue.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// Sets the priority.
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Returns the spec of a job that is moved, or `None` if the job is there already.
    pub fn of(&self, spec: &JobSpec) -> Option<JobSpec> {
        let mut moved = spec.clone();
        if let Some(queue) = &self.queue {
            moved.queue.clone_from(queue);
        }
        moved.priority = self.priority.unwrap_or(spec.priority);
        (moved.queue != spec.queue || moved.priority != spec.priority).then_some(moved)
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = self.queue.as_ref().map(|queue| format!("queue {queue}"));
        let priority = self.priority.map(|priority| format!("priority {}", priority.name()));
        let parts: Vec<_> = queue.into_iter().chain(priority).collect();
        f.write_str(&parts.join(", "))
    }
}

/// Why a job or group was canceled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelCause {
    /// Requested by an operator or client.
    Requested,
    /// A parent failed.
    UpstreamFailed,
    /// A parent was canceled.
    UpstreamCanceled,
    /// It is on a branch that was not taken.
    NotTaken,
    /// It expired before it was started. A cancel with this cause changes nothing unless the job
    /// [has expired](super::JobRecord::is_expired).
    Expired,
}

impl CancelCause {
    /// Returns `true` if the cancellation was caused by another member of the graph. Such a job is reopened when its
    /// cause is retried.
    pub const fn is_propagated(self) -> bool {
        matches!(self, Self::UpstreamFailed | Self::UpstreamCanceled | Self::NotTaken)
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandReply {
    /// The job changed its state.
    Done {
        /// The state before.
        from: JobState,
        /// The state after.
        to: JobState,
    },
    /// The job changed its state, and so did other jobs or groups in its graph.
    MovedWithGraph {
        /// The state before.
        from: JobState,
        /// The state after.
        to: JobState,
        /// The other changes in the graph.
        effects: Box<GraphEffects>,
    },
    /// The group was canceled. Lists the changed jobs and groups.
    GroupCanceled(Box<GraphEffects>),
    /// The group had already ended.
    GroupUnchanged {
        /// The state of the group.
        state: GroupState,
    },
    /// Nothing changed: the job was already paused, or it is terminal and cannot be canceled.
    Unchanged {
        /// The state of the job.
        state: JobState,
    },
    /// Failed jobs were retried.
    Redriven(Redriven),
}

impl CommandReply {
    /// Creates the reply for a job that changed its state, with or without changes elsewhere in its graph.
    pub fn moved(from: JobState, to: JobState, effects: GraphEffects) -> Self {
        if effects.is_empty() {
            Self::Done { from, to }
        } else {
            Self::MovedWithGraph { from, to, effects: Box::new(effects) }
        }
    }

    /// Returns the state before and after, if the job changed its state.
    pub fn states(&self) -> Option<(JobState, JobState)> {
        match self {
            Self::Done { from, to } | Self::MovedWithGraph { from, to, .. } => Some((*from, *to)),
            _ => None,
        }
    }
}

/// The result of a redrive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Redriven {
    /// The jobs that are pending again.
    pub retried: Vec<JobId>,
    /// The jobs that were skipped because another live job holds their business key.
    pub key_taken: Vec<JobId>,
}

/// The error returned when a command was refused. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The job does not exist.
    #[error("there is no job {0}")]
    NotFound(JobId),
    /// The job is archived. It can be read, and nothing changes it.
    #[error(
        "job {job} was archived at {at}, and archived jobs cannot be changed; submit the work again as a new job"
    )]
    Archived {
        /// The job that the command was for.
        job: JobId,
        /// When it was archived.
        at: Timestamp,
    },
    /// The group does not exist.
    #[error("there is no group {0}")]
    GroupNotFound(GroupId),
    /// The state of the job does not allow the command.
    #[error("cannot {verb} job {job}: it is {state}")]
    IllegalTransition {
        /// The job that the command was for.
        job: JobId,
        /// The current state of the job.
        state: JobState,
        /// The refused operation.
        verb: TransitionKind,
    },
    /// The job has moved since the operator saw it.
    #[error(
        "job {job} has changed: it is {state} with version {version}, and version {expected} was expected; look at it again"
    )]
    Moved {
        /// The job that the command was for.
        job: JobId,
        /// The version that was expected.
        expected: u64,
        /// The current version.
        version: u64,
        /// The current state.
        state: JobState,
    },
    /// The job is not on the allow-list of the queue that it was to be moved to.
    #[error("cannot move {job}: `{name}` is not on the allow-list of queue `{queue}`")]
    NotAllowed {
        /// The job or jobs that were to be moved.
        job: String,
        /// The name of the job.
        name: String,
        /// The queue.
        queue: String,
    },
    /// A job cannot be moved to a queue with this name.
    #[error("cannot move jobs to this queue: {0}")]
    BadQueue(LimitError),
    /// Another live job holds the business key that this job would take again.
    #[error("cannot retry job {job}: its business key `{key}` is held by job {holder}")]
    BusinessKeyTaken {
        /// The job that was to be retried.
        job: JobId,
        /// The business key.
        key: String,
        /// The job that holds the key.
        holder: JobId,
    },
    /// An operator has edited and retried the job: another job was submitted in its place.
    #[error("job {job} has a successor: job {successor}; look at that job instead")]
    HasSuccessor {
        /// The job that the command was for.
        job: JobId,
        /// The job that was submitted in its place.
        successor: JobId,
    },
    /// The job cannot be edited and retried.
    #[error("cannot edit and retry job {job}: {why}")]
    NotEditable {
        /// The job that was to be edited.
        job: JobId,
        /// The reason.
        why: NotEditable,
    },
    /// The bulk operation does not exist.
    #[error("there is no operation {0}")]
    OperationNotFound(OperationId),
    /// The bulk operation has ended.
    #[error("cannot {verb} operation {operation}: it is {state}")]
    OperationEnded {
        /// The operation.
        operation: OperationId,
        /// Its state.
        state: OperationState,
        /// The refused change.
        verb: &'static str,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
