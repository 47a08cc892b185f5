//! The changes computed by a propagation. The store writes them in the commit of their cause.

use crate::model::{
    CancelCause, CanceledMember, Edge, GraphEffects, GroupRecord, JobId, Member, Vertex, Wait,
};

/// All rows to write.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Changed jobs, ordered by id, with at most one change each.
    pub jobs: Vec<JobChange>,
    /// Changed groups in their new state, ordered by id.
    pub groups: Vec<GroupRecord>,
    /// Changed edges in their new state.
    pub edges: Vec<Edge>,
}

/// A change of one job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobChange {
    /// Its wait changes, but not its state.
    Wait {
        /// The id of the job.
        job: JobId,
        /// The new wait.
        wait: Wait,
    },
    /// It no longer waits: apply [`JobRecord::release`](crate::model::JobRecord::release) as a transition of the job.
    Release {
        /// The id of the job.
        job: JobId,
    },
    /// It is canceled, as by a command. The job may be running.
    Cancel {
        /// The id of the job.
        job: JobId,
        /// Why it is canceled.
        cause: CancelCause,
        /// The origin of the cancellation.
        root: Vertex,
        /// The wait to keep, in case the job is reopened.
        wait: Option<Wait>,
    },
    /// It was canceled and waits again: [`JobRecord::reopen`](crate::model::JobRecord::reopen). It takes its business key
    /// again. If another job holds the key, the whole commit must be refused.
    Reopen {
        /// The id of the job.
        job: JobId,
        /// The new wait.
        wait: Wait,
    },
}

impl JobChange {
    /// Returns the change that turns `before` into `now`, if any.
    pub(super) fn between(before: &Member, now: &Member) -> Option<Self> {
        let job = now.id;
        match (before.is_ended(), now.is_ended(), now.wait) {
            (false, true, wait) => Some(Self::Cancel {
                job,
                cause: now.canceled.unwrap_or(CancelCause::Requested),
                root: now.root(),
                wait,
            }),
            (true, false, Some(wait)) => Some(Self::Reopen { job, wait }),
            (_, _, Some(wait)) if before.wait != Some(wait) => Some(Self::Wait { job, wait }),
            (_, _, None) if before.wait.is_some() => Some(Self::Release { job }),
            _ => None,
        }
    }
}

impl Changes {
    /// Returns `true` if there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.groups.is_empty() && self.edges.is_empty()
    }

    /// Returns the jobs that are reopened and take their business keys again.
    pub fn reopened(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().filter_map(|change| match change {
            JobChange::Reopen { job, .. } => Some(*job),
            _ => None,
        })
    }

    /// Converts the changes to the form that is reported to callers.
    pub fn into_effects(self) -> GraphEffects {
        let mut effects = GraphEffects { groups: self.groups, ..GraphEffects::default() };
        for change in self.jobs {
            match change {
                JobChange::Wait { .. } => {}
                JobChange::Release { job } => effects.released.push(job),
                JobChange::Reopen { job, .. } => effects.reopened.push(job),
                JobChange::Cancel { job, cause, root, wait } => {
                    effects.canceled.push(CanceledMember { job, cause, root, wait });
                }
            }
        }
        effects
    }
}
