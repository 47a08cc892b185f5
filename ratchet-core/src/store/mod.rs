//! The seam between the engine and a database.
//!
//! Stores apply, they never decide: retry or dead letter, how long to wait, when a job is poisoned, all of that arrives as
//! a [`Settlement`]. A store knows rows and never jobs: it can be written without reading `job/` or `worker/`.
//!
//! `ratchet-conformance` is the suite every store must pass.

mod error;
mod memory;

pub use error::{StoreError, StoreErrorKind};
pub use memory::{Inspection, MemoryStore};

use std::any::Any;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::broadcast;

use crate::model::{
    Alert, AttemptLine, BreakerChange, BreakerOrder, BreakerRecord, Channel, ClaimReply,
    ClaimRequest, Command, CommandError, CommandReply, Counts, Delivery, DeliveryId, Edge, Extend,
    Filter, GraphInserted, GroupFilter, GroupId, GroupRecord, HandOff, HandOffStats, Heartbeat,
    InsertError, Inserted, JobId, JobRecord, JobState, LogLine, Member, NewGraph, NewJob, NodeId,
    NodeInfo, NodeRecord, Orphan, Page, PageRequest, Point, QueueOrder, QueueRecord, QueueDemand,
    Reject, RejectFilter, RejectGroup, RunNotes, ScheduleRecord, ScheduleWritten, Settled,
    Settlement, Surroundings, Token, Unreadable, WriteSchedule,
};

/// How many lines of its log are kept with a job: the newest, so that the last run can be understood.
pub const MAX_LOG_LINES: usize = 1000;

/// Durable storage for jobs: small, batch-shaped, without a word of SQL.
///
/// Every verb is atomic: when it returns `Ok`, all of it is durable; when it returns an error, none of it happened, or
/// (after a lost connection) all of it did and repeating it is harmless, because every move is fenced by a [`Token`] and
/// every insert by the job's id.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a ratchet store",
    note = "enable the `sqlite` or `pg` feature and use `SqliteStore` or `PgStore`, or use `MemoryStore` in tests"
)]
#[async_trait]
pub trait Store: Any + Send + Sync + fmt::Debug {
    /// The store's clock, by which everything is due.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Inserts jobs, all or none. The answers are in the order of the jobs.
    ///
    /// A repeated idempotency key, also within the batch, answers with the original; a taken business key, also within
    /// the batch, fails the whole batch and lists every one. Repeating an insert whose answer was lost is safe: a job of
    /// the same id and idempotency key answers as it did.
    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError>;

    /// Inserts a graph of jobs, all or nothing, as [`Self::insert`] does; [`graph::admit`](crate::graph::admit) says what a
    /// repeated key means for a step. Groups that are done as they begin end in the same commit.
    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError>;

    /// Adds members to a group that is not sealed, all or none, and seals it if they were the last.
    async fn extend(&self, extend: Extend) -> Result<GraphInserted, InsertError>;

    /// Takes due jobs, each for exactly one claimer, in the order of their queue.
    ///
    /// Takes nothing for a node that has not joined or whose lease ran out. A job whose concurrency key is at its limit
    /// is passed over without holding up the jobs behind it, and so is one whose service has a breaker that does not
    /// admit it ([`Breaker::admits`](crate::model::Breaker::admits)); a job that a half-open breaker admits is marked as its
    /// probe. Takes no more of a queue than its rules let through
    /// ([`QueueRules::gate`](crate::model::QueueRules::gate)).
    ///
    /// A store that can lose its answer on the way gives back what was taken, before the next claim: the node lives, so no
    /// rescue would ever look at jobs it does not know of.
    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError>;

    /// Settles runs in one commit. The answers are in the order of the settlements; a stale one changes nothing and does
    /// not disturb its neighbours. All moves come before all spawned jobs, so that a key freed by one settlement is there
    /// for the children of another. What follows in a graph from the ends of its jobs
    /// ([`graph::ripple`](crate::graph::ripple)) is part of the commit, and so are the votes of applied settlements, counted
    /// in their order ([`Breaker::count`](crate::model::Breaker::count)). Settling a canceled run with its own token lets go
    /// of what it held, unless the settlement says that the handler lingers.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError>;

    /// Settles, then claims: in one round trip where the store can.
    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        let settled = self.settle(settlements).await?;
        // A failed claim must not hide what was settled.
        let claimed = self.claim(request).await.unwrap_or_default();
        Ok((settled, claimed))
    }

    /// Writes what running handlers left behind so far. Answers whether each token was current.
    async fn report(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError>;

    /// The handlers of these runs have really ended: frees what canceled and lingering runs still held.
    async fn let_go(&self, tokens: Vec<Token>) -> Result<(), StoreError>;

    /// Enters a node with a lease of the given length. An identity that lost its lease and still holds something is
    /// refused ([`StoreErrorKind::Data`]): its jobs wait for their rescue, and a new lease would strand them.
    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError>;

    /// Renews a node's lease, unless it ran out.
    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError>;

    /// Removes a node that stops. What it still holds becomes orphaned at once, and it leads no longer.
    async fn leave(&self, node: NodeId) -> Result<(), StoreError>;

    /// Claimed jobs of nodes whose lease ran out, at most `limit`. Nothing moves: the engine decides and settles them
    /// with the tokens they carry. Also frees what canceled and lingering runs of such nodes still held.
    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError>;

    /// Takes or renews maintenance leadership for `lease`; answers whether the node leads.
    async fn lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError>;

    /// Removes at most `limit` jobs that have been in this terminal state for `age` or longer, oldest first, with their
    /// history and log. Idempotency keys stay. Any other state removes nothing. A member stays until its group has ended;
    /// groups that ended so long ago and have no members left go too.
    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError>;

    /// Carries out a command.
    async fn command(&self, command: Command) -> Result<CommandReply, CommandError>;

    /// Pauses, resumes or limits a queue. Answers whether anything changed.
    async fn order_queue(&self, queue: &str, order: QueueOrder) -> Result<bool, StoreError>;

    /// Queues with rules, by name.
    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError>;

    /// Opens or closes a breaker by hand. Answers what that changed.
    async fn order_breaker(
        &self,
        service: &str,
        order: BreakerOrder,
    ) -> Result<Option<BreakerChange>, StoreError>;

    /// Breakers that were ever counted or ordered, by service.
    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError>;

    /// What a claim would see around a job.
    async fn surroundings(&self, id: JobId) -> Result<Option<Surroundings>, StoreError>;

    /// One job.
    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError>;

    /// Jobs that fit a filter, newest first.
    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError>;

    /// One chain, batch or workflow.
    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError>;

    /// Groups that fit a filter, newest first: at most `limit`, and only those older than `before`.
    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError>;

    /// The jobs of a group in the order of their ids: at most `limit`, and only those behind `after`.
    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError>;

    /// The edges that lead from these points, in the order of the points and then their own.
    async fn edges(&self, parents: &[Point]) -> Result<Vec<Edge>, StoreError>;

    /// How many jobs there are.
    async fn counts(&self) -> Result<Counts, StoreError>;

    /// The runs of a job, oldest first.
    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptLine>, StoreError>;

    /// What the runs of a job logged, oldest first: the newest [`MAX_LOG_LINES`] of them.
    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError>;

    /// Every node whose lease holds, and those that still hold jobs.
    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError>;

    /// Names of waiting jobs that no live node knows, with how many there are of each.
    async fn unknown_jobs(&self) -> Result<Vec<(String, u64)>, StoreError>;

    /// Recorded alerts, newest first.
    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError>;

    /// Takes what waits to be published, oldest first. What is not acknowledged within `hold` is handed out again. Of the
    /// outcomes of one job only the oldest is handed out: the next one when that is acknowledged.
    async fn undelivered(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Acknowledges deliveries.
    async fn delivered(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError>;

    /// The schedule of this name.
    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError>;

    /// Every schedule, by name.
    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError>;

    /// Schedules that are due and not paused, the longest due first: at most `limit`.
    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError>;

    /// Changes, makes or removes a schedule and inserts jobs with it, in one commit, fenced by the version of the schedule.
    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError>;

    /// Items that were set aside and fit a filter, by job and index: at most `limit`, and only those behind `after`.
    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError>;

    /// Items that were set aside, counted by job name, error type and fingerprint.
    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError>;

    /// Removes items that were dealt with: by job and index.
    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError>;

    /// Takes checkpoints that wait for a pipeline, in commit order. What is not finished within `hold` is handed out again.
    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError>;

    /// These keys of a pipeline were taken over for good. The keys stay: a repeat is suppressed for ever.
    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError>;

    /// How a pipeline keeps up.
    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError>;

    /// Jobs whose stored rows cannot be read, at most `limit`. A verb that meets such a row sets it aside, so that it holds up
    /// no other job; this lists the rows that were met so far. A store whose rows always read back has none.
    async fn unreadable(&self, _limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        Ok(Vec::new())
    }

    /// How many jobs [`Self::unreadable`] would list without a limit.
    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Puts a job that was set aside as unreadable back where it belongs, if its row can be read now. Answers whether it did;
    /// `false` also for a job that is not set aside.
    async fn repair_unreadable(&self, _id: JobId) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Deletes a job that was set aside as unreadable, with its history and what it holds. Answers whether there was one. A
    /// graph goes on as if the job had been canceled.
    async fn drop_unreadable(&self, _id: JobId) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Whether another node that lives holds a job of these queues that it claimed within the last second: then what is
    /// claimed together better goes together, for claims that overlap pass over each other's jobs one by one. For stores
    /// where that costs nothing, the answer is no.
    async fn has_competing_claimers(&self, _node: NodeId, _queues: &[QueueDemand]) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// The runtime on which the store waits for its answers, if that is one of its own, on which nothing of the user's runs. The
    /// engine lives there too and asks without a change of threads.
    fn home(&self) -> Option<Handle> {
        None
    }

    /// Wake-ups: hints that save waiting for the next poll. Any of them may be lost.
    fn wakes(&self) -> broadcast::Receiver<Wake>;

    /// Wake-ups for those who wait for the ends of jobs ([`Wake::Finished`]). A store may tell ends here alone, and only
    /// while somebody listens: a worker that drains a queue has no use for the end of every job in it.
    fn ends(&self) -> broadcast::Receiver<Wake> {
        self.wakes()
    }
}

/// A hint that something has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wake {
    /// A queue has new work, due now or soon.
    Work {
        /// The queue.
        queue: String,
    },
    /// What held jobs back is over: a queue goes on, a breaker has closed. Any queue may have work.
    Unblocked,
    /// A running job was canceled.
    Canceled(Token),
    /// A job has come to its end. Told to those who wait for [ends](Store::ends).
    Finished(JobId),
}
