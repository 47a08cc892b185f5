//! The changes that operators make. [`Store::operate`](crate::Store::operate) applies one and records it in the audit
//! trail, in one commit.

use std::fmt;
use std::time::Duration;

use super::limits::brief;
use super::{
    Actor, BreakerChange, BreakerUpdate, Command, CommandError, CommandReply, GroupId, InsertError,
    Inserted, JobId, JobState, MarkFailure, NewJob, NodeId, NodeReply, NodeUpdate, OperationId,
    OperationReply, OperationUpdate, PurgeKeys, QueueUpdate, Rewrite, ScheduleWritten, StoreError,
    WriteSchedule,
};

/// A change that an operator makes.
///
/// Not `#[non_exhaustive]`: the compiler must find every store that does not handle a new variant.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // changes are rare and handled one at a time
pub enum Change {
    /// A command on a job or a group.
    Command {
        /// The command.
        command: Command,
        /// The version that the job must have; `None` for any. Applies to commands on one job.
        version: Option<u64>,
    },
    /// A change of the rules of a queue.
    Queue {
        /// The name of the queue.
        queue: String,
        /// The change.
        update: QueueUpdate,
    },
    /// A change of a breaker.
    Breaker {
        /// The name of the service.
        service: String,
        /// The change.
        update: BreakerUpdate,
    },
    /// A change of a schedule.
    Schedule(WriteSchedule),
    /// A submit of jobs.
    Submit(Vec<NewJob>),
    /// The submit of a job in place of one that has failed or was canceled. Both are linked.
    Successor {
        /// The job that has ended. It does not change.
        original: JobId,
        /// The version that the original must have; `None` for any.
        version: Option<u64>,
        /// The job to submit. It must not have an idempotency key, and must refuse a business key that is taken.
        successor: Box<NewJob>,
    },
    /// The repair of an unreadable job.
    RepairUnreadable(JobId),
    /// The removal of an unreadable job.
    DropUnreadable(JobId),
    /// The removal of rejected items, identified by job and index.
    ForgetRejects(Vec<(JobId, u64)>),
    /// The removal of archived jobs: those of a state that were archived at least `age` ago, at most `limit`.
    PurgeArchive {
        /// The state of the jobs.
        state: JobState,
        /// How long ago they were archived, at least.
        age: Duration,
        /// The maximum number of jobs.
        limit: u32,
    },
    /// The removal of idempotency keys. A later submit with one of them creates a job.
    PurgeKeys(PurgeKeys),
    /// Records that the secrets of a job are shown to an operator. Changes nothing but the audit trail. The job may be
    /// archived.
    Reveal(JobId),
    /// A change of a bulk operation.
    Operation(OperationUpdate),
    /// Changes what operators say about a group of failed jobs.
    Failure(MarkFailure),
    /// Replaces protected content, for example after a key was rotated. Each replacement is applied on its own: one whose
    /// content has changed, or no longer exists, does nothing.
    Reprotect(Vec<Rewrite>),
    /// Requests something of a node, or withdraws the request.
    Node {
        /// The node.
        node: NodeId,
        /// The update.
        update: NodeUpdate,
        /// Who requests it, for the node.
        actor: Option<Actor>,
    },
}

/// The single thing that a [`Change`] concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// A job.
    Job(JobId),
    /// A chain, batch or workflow.
    Group(GroupId),
    /// A queue.
    Queue(String),
    /// The breaker of a service.
    Breaker(String),
    /// A schedule.
    Schedule(String),
    /// A bulk operation.
    Operation(OperationId),
    /// A node.
    Node(NodeId),
    /// A group of failed jobs.
    Failure {
        /// The name of the jobs.
        job_name: String,
        /// The fingerprint of their failures.
        fingerprint: String,
    },
    /// More than one thing, described in words.
    Several(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(id) => write!(f, "job {id}"),
            Self::Group(id) => write!(f, "group {id}"),
            Self::Queue(name) => write!(f, "queue {}", brief(name)),
            Self::Breaker(name) => write!(f, "breaker {}", brief(name)),
            Self::Schedule(name) => write!(f, "schedule {}", brief(name)),
            Self::Operation(id) => write!(f, "operation {id}"),
            Self::Node(id) => write!(f, "node {id}"),
            Self::Failure { job_name, fingerprint } => {
                write!(f, "failure {} {}", brief(job_name), brief(fingerprint))
            }
            Self::Several(words) => f.write_str(words),
        }
    }
}

impl Change {
    /// Returns what the change concerns.
    pub fn target(&self) -> Target {
        match self {
            Self::Command { command, .. } => match command {
                Command::Pause(id)
                | Command::Resume(id)
                | Command::Cancel(id, _)
                | Command::Reschedule(id, _)
                | Command::Move(id, _)
                | Command::Retry(id) => Target::Job(*id),
                Command::CancelGroup(id) => Target::Group(*id),
                Command::Redrive { filter, .. } => {
                    Target::Several(brief(format!("failed jobs {filter}").trim_end()))
                }
            },
            Self::Queue { queue, .. } => Target::Queue(queue.clone()),
            Self::Breaker { service, .. } => Target::Breaker(service.clone()),
            Self::Schedule(write) => Target::Schedule(write.name.clone()),
            Self::Submit(jobs) => match jobs.as_slice() {
                [job] => Target::Job(job.id),
                jobs => Target::Several(format!("{} jobs", jobs.len())),
            },
            Self::Successor { original: id, .. }
            | Self::RepairUnreadable(id)
            | Self::DropUnreadable(id)
            | Self::Reveal(id) => Target::Job(*id),
            Self::ForgetRejects(rejects) => {
                Target::Several(format!("{} rejected items", rejects.len()))
            }
            Self::PurgeArchive { state, age, .. } => {
                let state = state.name().to_lowercase();
                Target::Several(format!("{state} jobs archived at least {} s ago", age.as_secs()))
            }
            Self::PurgeKeys(keys) => Target::Several(brief(&keys.to_string())),
            Self::Operation(update) => Target::Operation(update.id()),
            Self::Node { node, .. } => Target::Node(*node),
            Self::Reprotect(rewrites) => {
                Target::Several(format!("{} protected values", rewrites.len()))
            }
            Self::Failure(mark) => Target::Failure {
                job_name: mark.job_name.clone(),
                fingerprint: mark.fingerprint.clone(),
            },
        }
    }
}

/// The result of a [`Change`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Changed {
    /// What the operation returned.
    pub reply: ChangeReply,
    /// The number of the entry in the audit trail; `None` if nothing changed, or if no entry was requested. Of a change
    /// that needed several commits, the last one.
    pub audit: Option<u64>,
}

impl Changed {
    /// Creates the result of a change.
    pub fn new(reply: ChangeReply, audit: Option<u64>) -> Self {
        Self { reply, audit }
    }
}

/// What the operation of a [`Change`] returned.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ChangeReply {
    /// The reply to a command.
    Command(CommandReply),
    /// Whether the rules of the queue changed.
    Queue(bool),
    /// How the state of the breaker changed.
    Breaker(Option<BreakerChange>),
    /// How the schedule changed.
    Schedule(ScheduleWritten),
    /// The submitted jobs, in order.
    Submitted(Vec<Inserted>),
    /// The job that was submitted in place of another.
    Successor(JobId),
    /// Whether an unreadable job was repaired or removed.
    Unreadable(bool),
    /// Rejected items were removed.
    Forgotten,
    /// How many archived jobs were removed.
    ArchivePurged(u64),
    /// How many idempotency keys were removed.
    KeysPurged(u64),
    /// It is recorded that the secrets of a job are shown.
    Revealed,
    /// The bulk operation after its change.
    Operation(Box<OperationReply>),
    /// The reply to [`Change::Node`].
    Node(NodeReply),
    /// The reply to [`Change::Failure`]: whether anything has changed.
    Failure(bool),
    /// The reply to [`Change::Reprotect`]: which of the replacements were applied, in order.
    Reprotected(Vec<bool>),
}

impl ChangeReply {
    /// Returns `true` if something changed. For a breaker, only a change of its state counts.
    pub fn is_change(&self) -> bool {
        match self {
            Self::Command(reply) => match reply {
                CommandReply::Redriven(redriven) => !redriven.retried.is_empty(),
                CommandReply::Unchanged { .. } | CommandReply::GroupUnchanged { .. } => false,
                _ => true,
            },
            Self::Queue(changed) | Self::Unreadable(changed) | Self::Failure(changed) => *changed,
            Self::ArchivePurged(rows) | Self::KeysPurged(rows) => *rows > 0,
            Self::Breaker(change) => change.is_some(),
            Self::Schedule(written) => *written != ScheduleWritten::Stale,
            Self::Submitted(jobs) => {
                jobs.iter().any(|inserted| matches!(inserted, Inserted::Created(_)))
            }
            Self::Forgotten | Self::Successor(_) | Self::Revealed => true,
            Self::Operation(reply) => reply.applied,
            Self::Node(reply) => matches!(reply, NodeReply::Changed(_)),
            Self::Reprotected(applied) => applied.contains(&true),
        }
    }
}

/// The error returned when a change was refused. Nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The command was refused.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The submit was refused.
    #[error(transparent)]
    Insert(#[from] InsertError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
