//! The operations that a differential test runs on a store.

use ratchet_store::model::{
    BreakerUpdate, BulkVerb, Channel, Command, Extend, Filter, GroupId, JobId, JobState, Judgment,
    NewGraph, NewJob, NodeId, NodeUpdate, QueueUpdate,
};

/// One operation. A run is identified by the number of claims made since it was claimed; 0 is the latest.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Inserts jobs in one batch.
    Insert(Vec<NewJob>),
    /// Joins a node with a lease in ticks.
    Join(NodeId, u32),
    /// Renews a node's lease for a number of ticks.
    Heartbeat(NodeId, u32),
    /// Makes a node leave.
    Leave(NodeId),
    /// Requests leadership for a number of ticks.
    Lead(NodeId, u32),
    /// Requests to declare for a node's program.
    Declare(NodeId),
    /// Claims jobs.
    Claim {
        /// The claiming node.
        node: NodeId,
        /// The maximum number of jobs per queue.
        limit: u32,
        /// Whether the claim may return an isolated job.
        idle: bool,
    },
    /// Settles runs in one batch.
    Settle(Vec<Ending>),
    /// Reports progress of a run.
    Report(usize, u8),
    /// Reports that the handler of a run has ended, which frees the slots it still holds.
    LetGo(usize),
    /// Rescues every orphan.
    Rescue,
    /// Runs a command.
    Command(Command),
    /// Starts a bulk operation with this number and runs it to its end, in pages of two jobs.
    Bulk(u64, BulkVerb, Filter),
    /// Cancels the job of a run.
    Cancel(usize),
    /// Retries the job of a run.
    Retry(usize),
    /// Submits a job in place of the job of a run.
    Successor(usize, NewJob),
    /// Pauses, resumes or limits a queue.
    UpdateQueue(&'static str, QueueUpdate),
    /// Opens or closes the breaker of the service `pay`.
    UpdateBreaker(BreakerUpdate),
    /// Explains why a job waits.
    Explain(JobId),
    /// Purges the jobs in a state that are older than a number of ticks.
    Purge(JobState, u32),
    /// Archives the jobs in a state that are older than a number of ticks.
    Archive(JobState, u32),
    /// Purges the jobs in a state that were archived a number of ticks ago.
    PurgeArchive(JobState, u32),
    /// Counts archived jobs.
    ArchiveStatus,
    /// Takes deliveries and acknowledges every second one.
    Deliver(Channel, u32),
    /// Reads one job with its history and log.
    Get(JobId),
    /// Lists the first page of jobs that match a filter.
    List(Filter, u32),
    /// Advances the clock by a number of ticks.
    Pass(u32),
    /// Cancels the jobs that have expired, like a sweep.
    Expire,
    /// Inserts a chain, batch or workflow.
    InsertGraph(NewGraph),
    /// Adds jobs to a batch, seals it, or both.
    Extend(Extend),
    /// Requests something of a node, or withdraws the request.
    RequestNode(NodeId, NodeUpdate),
    /// Records what an operator says about the failures of a job with this number as fingerprint.
    MarkFailure(&'static str, u8, Option<Judgment>),
    /// Declares as a node which pipelines are accepted, with the limits of their backlogs.
    DeclarePipelines(NodeId, Vec<Option<u32>>),
    /// Admits hand-offs with these keys as jobs.
    Admit(Vec<(u8, NewJob)>),
    /// Reads a group with its members and their edges.
    Group(GroupId),
    /// Writes statistics of a process: minutes since the base, the number of a job, and how many runs it started.
    WriteStats(NodeId, Vec<(u32, u8, u64)>),
    /// Requests leadership for a number of ticks, in order to fold.
    LeadStats(NodeId, u32),
    /// Folds at most this many slots as a node.
    FoldStats(NodeId, u32),
    /// Writes a sample of a queue as a node: minutes since the base, depth and age.
    WriteGauge(NodeId, u32, u32),
}

impl Op {
    /// Returns `true` if the operation concerns only statistics. It takes no time.
    pub(super) fn is_about_stats(&self) -> bool {
        matches!(
            self,
            Self::WriteStats(..) | Self::LeadStats(..) | Self::FoldStats(..) | Self::WriteGauge(..)
        )
    }
}

/// The settlement of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// The number of claims made since this run was claimed; 0 is the latest.
    pub run: usize,
    /// The verdict.
    pub how: How,
    /// Jobs that are spawned with the settlement.
    pub children: Vec<NewJob>,
    /// Graphs that are inserted with the settlement.
    pub graphs: Vec<NewGraph>,
    /// The result of the conditions on the step's edges.
    pub holds: bool,
    /// Whether the handler keeps running after the settlement.
    pub lingering: bool,
}

/// How a run ends. Delays are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// The job succeeds.
    Succeed,
    /// The job is retried after the delay.
    Retry(u32),
    /// The job is deferred by the delay, without using an attempt.
    Defer(u32),
    /// The job is released, without using an attempt.
    Release,
    /// The job fails permanently, with an alert and a dead letter. The number is the fingerprint.
    Fail(u8),
}
