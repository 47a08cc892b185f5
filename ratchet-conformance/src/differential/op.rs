//! What can be done to a store.

use ratchet_core::model::{
    BreakerOrder, Channel, Command, Extend, Filter, GroupId, JobId, JobState, NewGraph, NewJob,
    NodeId, QueueOrder,
};

/// One operation. Runs are named by how many claims ago they were made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Op {
    /// Inserts a batch.
    Insert(Vec<NewJob>),
    /// Enters a node for so many ticks.
    Join(NodeId, u32),
    /// Renews a node's lease for so many ticks.
    Heartbeat(NodeId, u32),
    /// Removes a node.
    Leave(NodeId),
    /// Bids for leadership for so many ticks.
    Lead(NodeId, u32),
    /// Claims.
    Claim {
        /// For whom.
        node: NodeId,
        /// How many of each queue.
        limit: u32,
        /// Whether a job that must run alone may come.
        idle: bool,
    },
    /// Settles runs in one batch.
    Settle(Vec<Ending>),
    /// Reports progress of a run.
    Report(usize, u8),
    /// Lets a run go.
    LetGo(usize),
    /// Rescues every orphan.
    Rescue,
    /// Carries out a command.
    Command(Command),
    /// Calls off the job of a run.
    Cancel(usize),
    /// Has the job of a run tried again.
    Retry(usize),
    /// Pauses, resumes or limits a queue.
    OrderQueue(&'static str, QueueOrder),
    /// Opens or closes the breaker of the one service.
    OrderBreaker(BreakerOrder),
    /// Asks why a job waits.
    Explain(JobId),
    /// Purges a state by an age in ticks.
    Purge(JobState, u32),
    /// Takes deliveries and acknowledges every other one.
    Deliver(Channel, u32),
    /// Reads one job with its history and log.
    Get(JobId),
    /// Lists a page.
    List(Filter, u32),
    /// Lets so many ticks pass.
    Pass(u32),
    /// Inserts a chain, batch or workflow.
    InsertGraph(NewGraph),
    /// Adds to a batch, or seals it.
    Extend(Extend),
    /// Reads a group with its members and their edges.
    Group(GroupId),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// How many claims ago.
    pub run: usize,
    /// How it ends.
    pub how: How,
    /// What comes with it.
    pub children: Vec<NewJob>,
    /// Graphs that come with it.
    pub graphs: Vec<NewGraph>,
    /// How the conditions on its edges are judged.
    pub holds: bool,
    /// Whether the handler goes on.
    pub lingering: bool,
}

/// How a run ends. Delays are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// Well.
    Succeed,
    /// With another attempt.
    Retry(u32),
    /// Put off.
    Defer(u32),
    /// Given back.
    Release,
    /// For good, with an alert and a dead letter; the number is its fingerprint.
    Fail(u8),
}
