//! What a walk over a graph changes: the store writes it, in one commit with what set it off.

use crate::model::{
    CancelCause, CanceledMember, Edge, GroupRecord, JobId, Member, Point, GraphEffects, Wait,
};

/// Everything that is to be written.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Changes {
    /// Jobs, in the order of their ids; at most one change each.
    pub jobs: Vec<JobChange>,
    /// Groups as they are now, in the order of their ids.
    pub groups: Vec<GroupRecord>,
    /// Edges as they are now.
    pub edges: Vec<Edge>,
}

/// What happens to a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobChange {
    /// It waits for less, or for more; it does not move.
    Wait {
        /// The job.
        job: JobId,
        /// What it waits for now.
        wait: Wait,
    },
    /// It waits no longer: [`JobRecord::release`](crate::JobRecord::release), then it is moved as any job.
    Release {
        /// The job.
        job: JobId,
    },
    /// It is called off, as by a command; also a running one.
    Cancel {
        /// The job.
        job: JobId,
        /// Why.
        cause: CancelCause,
        /// What that goes back to.
        root: Point,
        /// What it waited for, for the day it is opened again.
        wait: Option<Wait>,
    },
    /// It was called off and waits again: [`JobRecord::reopen`](crate::JobRecord::reopen). It takes its business key
    /// again; if another holds it, the whole commit is refused.
    Reopen {
        /// The job.
        job: JobId,
        /// What it waits for.
        wait: Wait,
    },
}

impl JobChange {
    /// What becomes of a job that was `before` and is `now`.
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
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.groups.is_empty() && self.edges.is_empty()
    }

    /// The jobs that are opened again and take their business keys.
    pub fn reopened(&self) -> impl Iterator<Item = JobId> {
        self.jobs.iter().filter_map(|change| match change {
            JobChange::Reopen { job, .. } => Some(*job),
            _ => None,
        })
    }

    /// What is told of them.
    pub fn into_ripples(self) -> GraphEffects {
        let mut effects = GraphEffects { groups: self.groups, ..GraphEffects::default() };
        for change in self.jobs {
            match change {
                JobChange::Wait { .. } => {}
                JobChange::Release { job } => effects.released.push(job),
                JobChange::Reopen { job, .. } => effects.reopened.push(job),
                JobChange::Cancel { job, cause, root, .. } => {
                    effects.canceled.push(CanceledMember { job, cause, root });
                }
            }
        }
        effects
    }
}
