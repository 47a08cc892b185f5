//! What operators and clients can do to a job. One transactional verb each.

use serde::{Deserialize, Serialize};

use super::{Due, Filter, GroupId, GroupState, JobId, JobState, Move, Ripples};
use crate::store::StoreError;

/// A command.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant)] // one at a time, by hand
pub enum Command {
    /// Set a pending or failed job aside.
    Pause(JobId),
    /// Let a paused job go on where it came from.
    Resume(JobId),
    /// Call a job off.
    Cancel(JobId, CancelCause),
    /// Give a pending job another due time.
    Reschedule(JobId, Due),
    /// Have a failed job tried again from the start.
    Retry(JobId),
    /// Have failed jobs tried again, at most `limit` of them, oldest first. Those whose business key is taken are passed
    /// over and do not count.
    Redrive {
        /// Which.
        filter: Filter,
        /// How many at most.
        limit: u32,
    },
    /// Call off a chain, batch or workflow: everything in it that has not ended.
    CancelGroup(GroupId),
}

/// Why a job was called off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CancelCause {
    /// Somebody asked for it.
    Requested,
    /// What it waited for failed.
    UpstreamFailed,
    /// What it waited for was called off.
    UpstreamCanceled,
    /// It stands on a branch that was not taken.
    NotTaken,
}

impl CancelCause {
    /// Whether it was called off because of something else, and may be opened again with it.
    pub const fn is_propagated(self) -> bool {
        !matches!(self, Self::Requested)
    }
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandReply {
    /// The job moved.
    Done {
        /// The state before.
        from: JobState,
        /// The state now.
        to: JobState,
    },
    /// The job moved, and others in its graph with it.
    Rippled {
        /// The state before.
        from: JobState,
        /// The state now.
        to: JobState,
        /// What else moved.
        ripples: Box<Ripples>,
    },
    /// A group was called off; these jobs were.
    GroupCanceled(Box<Ripples>),
    /// The group had ended already.
    GroupUnchanged {
        /// The state it is in.
        state: GroupState,
    },
    /// Nothing had to change: it was paused already, or it is terminal and cannot be canceled.
    Unchanged {
        /// The state it is in.
        state: JobState,
    },
    /// Failed jobs were brought back.
    Redriven(Redriven),
}

impl CommandReply {
    /// The job moved, alone or with others.
    pub fn moved(from: JobState, to: JobState, ripples: Ripples) -> Self {
        if ripples.is_empty() {
            Self::Done { from, to }
        } else {
            Self::Rippled { from, to, ripples: Box::new(ripples) }
        }
    }

    /// The state of the job before and now, if it moved.
    pub fn states(&self) -> Option<(JobState, JobState)> {
        match self {
            Self::Done { from, to } | Self::Rippled { from, to, .. } => Some((*from, *to)),
            _ => None,
        }
    }
}

/// What a re-drive did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redriven {
    /// These are pending again.
    pub retried: Vec<JobId>,
    /// These are not: another live job holds their business key.
    pub key_taken: Vec<JobId>,
}

/// A command was refused; nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is no such job.
    #[error("there is no job {0}")]
    NotFound(JobId),
    /// There is no such group.
    #[error("there is no group {0}")]
    GroupNotFound(GroupId),
    /// The job's state does not allow it.
    #[error("cannot {verb} job {job}: it is {state}")]
    IllegalTransition {
        /// The job.
        job: JobId,
        /// Its state.
        state: JobState,
        /// What was asked for.
        verb: Move,
    },
    /// Another live job holds the key that this one would take again.
    #[error("cannot retry job {job}: its business key `{key}` is held by job {holder}")]
    BusinessKeyTaken {
        /// The job.
        job: JobId,
        /// The key.
        key: String,
        /// Who holds it.
        holder: JobId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
