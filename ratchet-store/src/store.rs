//! The [`Store`] trait: the interface between the engine and a database.
//!
//! A store applies decisions and makes none. Whether a job is retried or becomes a dead letter, how long it waits and
//! when it is poisoned is decided by the engine and arrives as a [`Settlement`]. A store handles rows and does not
//! interpret jobs, so it can be implemented without reading `job/` or `worker/`.
//!
//! Every store must pass the test suite in `ratchet-conformance`.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::broadcast;

use crate::StoreError;
use crate::model::{
    Acceptor, Alert, ArchiveStatus, AttemptRecord, AuditFilter, AuditHead, AuditNote, AuditRecord,
    Backlog, BreakerChange, BreakerRecord, BreakerUpdate, CatalogRecord, Change, ChangeError,
    Changed, Channel, ClaimReply, ClaimRequest, Command, CommandError, CommandReply, ContentKey,
    ContentPage, ContentPlace, Counts, Declarations, Delivery, DeliveryId, Edge, ErasedRows,
    ErasureSubject, Extend, FailureMark, Filter, GaugeRow, GraphInserted, GroupFilter, GroupId,
    GroupRecord, HandOff, HandOffAdmission, HandOffStats, Heartbeat, InsertError, Inserted, JobId,
    JobRecord, JobState, LogLine, Member, NewAdmission, NewGraph, NewJob, NodeId, NodeInfo,
    NodeRecord, OperationFilter, OperationRecord, Orphan, Page, PageRequest, PipelineRecord,
    QueueDemand, QueueRecord, QueueUpdate, Reject, RejectCount, RejectFilter, RejectGroup,
    RunNotes, ScheduleRecord, ScheduleWritten, Settled, Settlement, StatRow, StatsHistory,
    StatsQuery, Succession, Token, UnknownJob, Unreadable, Vertex, Vitals, WriteSchedule,
};
use crate::rules::ClaimContext;

/// The maximum number of log lines kept per job. The newest are kept, so that the last run can be diagnosed.
pub const MAX_LOG_LINES: usize = 1000;

/// Durable storage for jobs. Methods take batches where possible, and none of them exposes SQL.
///
/// Every method must be atomic. If it returns `Ok`, all of its changes are durable. If it returns an error, either none
/// of them happened or, after a lost connection, all of them did. Repeating a call is harmless, because every
/// transition is fenced by a [`Token`] and every insert by the job's id.
///
/// # Stability
///
/// Applications call this trait; only stores implement it. Until version 1.0, every minor release may add required
/// methods and may add fields to the types that they take and return. A store of your own must therefore depend on an
/// exact minor version, and must pass the suites of `ratchet-conformance` of that version.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a ratchet store",
    note = "enable the `sqlite` or `postgres` feature and use `SqliteStore` or `PgStore`, or use `MemoryStore` in tests"
)]
#[async_trait]
pub trait Store: Any + Send + Sync + fmt::Debug {
    /// Returns the time of the store's clock. All due times and leases are measured by it.
    async fn now(&self) -> Result<Timestamp, StoreError>;

    /// Inserts jobs atomically. Returns one result per job, in order.
    ///
    /// If an idempotency key was used before, also within the batch, the original job is returned. If a business key is
    /// taken, also within the batch, the job's `on_conflict` decides: either the holder is returned, or the whole batch
    /// fails with an error that lists every taken key. An insert whose reply was lost can be repeated: a job with the
    /// same id and idempotency key gets the same result.
    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError>;

    /// Inserts a graph of jobs atomically, like [`Self::insert`]. [`graph::is_new_member`](crate::rules::graph::is_new_member)
    /// decides what a repeated key means for a step. Groups that are already complete, such as empty batches, end in
    /// the same commit.
    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError>;

    /// Adds members to an unsealed group atomically, and seals the group if requested.
    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError>;

    /// Claims due jobs in queue order. A job must be claimed by exactly one caller.
    ///
    /// A node that has not joined or whose lease has expired gets no jobs. The number of jobs per queue is limited by
    /// the request and by the rules of the queue ([`QueueRules::gate`](crate::model::QueueRules::gate)). A job is
    /// skipped, without blocking later jobs, if its concurrency key is at its limit or the breaker of its service does
    /// not admit it ([`Breaker::admits`](crate::model::Breaker::admits)). A job that is admitted by a half-open breaker
    /// is marked as a probe.
    ///
    /// If a reply can be lost, the store must release the jobs of the lost reply before the next claim. The node is
    /// alive but does not know these jobs, so they would never be rescued.
    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError>;

    /// Settles runs in one commit. Returns one result per settlement, in order.
    ///
    /// A stale settlement changes nothing and does not affect the rest of the batch. All transitions are applied before
    /// any spawned job is inserted, so that a key released by one settlement is available to the children of another.
    /// The commit also includes the changes that propagate through graphs
    /// ([`graph::propagate`](crate::rules::graph::propagate)), and the call results of applied settlements, counted in order
    /// ([`Breaker::count`](crate::model::Breaker::count)). Settling a canceled run with its own token releases the
    /// slots and keys it held, unless the settlement is marked as lingering.
    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError>;

    /// Settles, then claims. A store should do both in one round trip.
    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        let settled = self.settle(settlements).await?;
        // An error of the claim must not discard the results of the settlements.
        let claimed = self.claim(request).await.unwrap_or_default();
        Ok((settled, claimed))
    }

    /// Writes the notes of running handlers. Returns, for each token, whether it was current.
    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError>;

    /// Releases the slots and keys still held by canceled and lingering runs, because their handlers have ended.
    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError>;

    /// Registers a node with a lease of the given duration, and records its entries of the catalog. An entry that is
    /// already stored for its program is only marked as seen. Entries are deleted when they were not seen for
    /// [`catalog::KEPT`](crate::rules::catalog::KEPT).
    ///
    /// A node id that lost its lease and still holds jobs or slots must be refused with [`StoreErrorKind::Data`](crate::StoreErrorKind::Data). Its
    /// jobs wait to be rescued, and a new lease would prevent that.
    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError>;

    /// Renews the lease of a node, unless it has expired.
    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError>;

    /// Removes a node that shuts down. Jobs that it still holds become orphans immediately, and it loses leadership.
    async fn leave(&self, node: NodeId) -> Result<(), StoreError>;

    /// Returns claimed jobs of nodes whose lease has expired, at most `limit`.
    ///
    /// Does not change these jobs: the engine settles them with the returned tokens. Also releases the slots and keys
    /// still held by canceled and lingering runs of such nodes.
    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError>;

    /// Acquires or renews the maintenance leadership for the duration of `lease`. Returns `true` if the node is the
    /// leader. A node that has left or whose own lease has expired must not lead, and another node must be able to take
    /// its place at once. Also deletes idempotency keys that have
    /// expired, for the leader.
    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError>;

    /// Returns `true` if the declarations of this node are the newest of its program.
    ///
    /// They become the newest if no other live node with the same declarations has called this before. So a program that
    /// is deployed again, or rolled back, takes over, and a node of an older version that restarts among others of its
    /// version does not. A node that dies before it has called this, or starts at the same time, does not matter.
    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError>;

    /// Deletes jobs that have been in the given terminal state for at least `age`, with their history and logs: at most
    /// `limit`, oldest first. Returns the number of deleted jobs.
    ///
    /// Idempotency keys are kept until they expire. A state that is not terminal deletes nothing. A member is kept until its group has
    /// ended. Groups that ended at least `age` ago and have no members left are deleted too.
    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError>;

    /// Moves jobs to the archive instead of deleting them: those that [`Self::purge`] would delete, with their history and
    /// logs. Returns the number of archived jobs.
    ///
    /// An archived job is found by [`Self::get`], [`Self::attempts`] and [`Self::logs`], and by [`Self::list`] if the
    /// filter selects archived jobs. A command on it is refused with
    /// [`CommandError::Archived`](crate::model::CommandError::Archived). Its rejected items, its edges in a graph and its
    /// links to successors are deleted. A crash must neither lose a job nor show it twice.
    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError>;

    /// Deletes archived jobs of a state that were archived at least `age` ago, at most `limit`. Returns the number of
    /// deleted jobs. Idempotency keys are kept.
    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError>;

    /// Returns what the archive contains.
    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError>;

    /// Executes a command.
    async fn command(&self, command: Command) -> Result<CommandReply, CommandError>;

    /// Pauses, resumes or limits a queue. Returns `true` if anything changed.
    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError>;

    /// Returns the queues that have rules, ordered by name.
    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError>;

    /// Opens or closes a breaker manually. Returns the change, if any.
    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError>;

    /// Returns the breakers that have counted a call or were set manually, ordered by service.
    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError>;

    /// Applies a change of an operator and, with a note, adds an entry to the audit trail, in one commit. Adds none if
    /// nothing changed.
    ///
    /// A change that the operator fenced with a version is refused with
    /// [`CommandError::Moved`](crate::model::CommandError::Moved) if the job has another version. A redrive may need
    /// several commits, each with its own entry. [`rules::audit`](crate::rules::audit) defines the entries.
    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError>;

    /// Returns entries of the audit trail that match a filter: newest first and older than `from`, or, with
    /// `oldest_first`, oldest first and newer than it. At most `limit`.
    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError>;

    /// Returns the end of the audit trail.
    async fn audit_head(&self) -> Result<AuditHead, StoreError>;

    /// Returns how a job is linked to the jobs that were submitted in its place, or in whose place it was submitted. Links
    /// are made by [`Self::operate`] with [`Change::Successor`], and [`rules::successor`](crate::rules::successor) defines
    /// for which jobs.
    ///
    /// A link is kept as long as the original job. The successor may be purged before.
    async fn succession(&self, id: JobId) -> Result<Succession, StoreError>;

    /// Returns what operators say about groups of failed jobs. It is changed by [`Self::operate`] with
    /// [`Change::Failure`], and [`rules::failure`](crate::rules::failure) defines the state that follows.
    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError>;

    /// Returns bulk operations that match a filter, newest first, at most `limit`.
    ///
    /// They are changed by [`Self::operate`] with [`Change::Operation`]. [`rules::operation`](crate::rules::operation)
    /// defines how. A page changes its jobs, the cursor and the counts, and adds its entry to the audit trail, in one
    /// commit.
    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError>;

    /// Counts what belongs to a tenant or to a correlation id and is found without its jobs: groups, hand-offs, messages
    /// that wait for a sink and, of a tenant, idempotency keys. Counts at most `limit` rows of each kind.
    ///
    /// They are deleted by the pages of an operation with [`BulkVerb::Erase`](crate::model::BulkVerb::Erase).
    /// [`rules::erasure`](crate::rules::erasure) defines how.
    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError>;

    /// Returns the state that a claim would evaluate for a job, or `None` if the job does not exist.
    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError>;

    /// Returns a job, also if it is archived, or `None` if it does not exist.
    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError>;

    /// Returns a page of the jobs that match a filter, newest first, or oldest first if the filter says so.
    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError>;

    /// Returns a chain, batch or workflow, or `None` if it does not exist.
    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError>;

    /// Returns groups that match a filter and are older than `before`, newest first, at most `limit`.
    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError>;

    /// Returns the jobs of a group whose ids are greater than `after`, ordered by id, at most `limit`.
    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError>;

    /// Returns the outgoing edges of these vertices, ordered by vertex as given, then by ordinal.
    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError>;

    /// Returns the number of jobs by queue and state, without archived jobs.
    async fn counts(&self) -> Result<Counts, StoreError>;

    /// Returns the history of a job, oldest run first.
    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError>;

    /// Returns the newest [`MAX_LOG_LINES`] log lines of a job, oldest first.
    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError>;

    /// Reads at most `limit` rows of a place with texts that can be encrypted, in the order of their keys. They are changed
    /// by [`Change::Reprotect`].
    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError>;

    /// Returns the nodes with a valid lease, and those that still hold jobs.
    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError>;

    /// Returns the catalog: ordered by name and program, the entry that was recorded last first.
    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError>;

    /// Returns the names of pending jobs whose name or version no live node knows, ordered by name. A store may look at only
    /// 100,000 pending jobs of each kind of waiting. To find the oldest job of a name, it may read only the first 1,000.
    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError>;

    /// Returns recorded alerts, newest first, at most `limit`.
    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError>;

    /// Takes messages that wait to be published, oldest first.
    ///
    /// A message that is not acknowledged within `hold` is returned again by a later call. Of the outcomes of one job,
    /// only the oldest is returned; the next one follows after it is acknowledged.
    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError>;

    /// Acknowledges deliveries, so that they are not returned again.
    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError>;

    /// Returns the messages that wait to be published, by channel. Channels without any are left out. At most `limit`
    /// messages of a channel are counted.
    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError>;

    /// Returns the schedule with this name, or `None` if it does not exist.
    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError>;

    /// Returns all schedules, ordered by name.
    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError>;

    /// Returns schedules that are due and not [stopped](ScheduleRecord::is_stopped), longest overdue first, at most `limit`.
    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError>;

    /// Creates, changes or removes a schedule and inserts jobs, in one commit. Fenced by the version of the schedule,
    /// and by the newest declarations of a program if [`WriteSchedule::declarations`] is set.
    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError>;

    /// Returns rejected items that match a filter and come after `after`, ordered by job and index, at most `limit`.
    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError>;

    /// Returns the number of rejected items, grouped by job name, error type and fingerprint.
    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError>;

    /// Returns the number of rejected items, grouped by job name, error type, fingerprint and
    /// [interval](crate::model::reject_interval), in this order.
    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError>;

    /// Deletes rejected items, identified by job and index.
    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError>;

    /// Takes checkpoints that wait for a pipeline, in commit order. A checkpoint that is not finished within `hold` is
    /// returned again by a later call.
    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError>;

    /// Marks checkpoints of a pipeline as finished. Their keys are kept permanently, so that repeats stay suppressed.
    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError>;

    /// Returns the backlog and throughput of a pipeline.
    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError>;

    /// Declares which pipelines the jobs of a program accept. Replaces what the program has declared before; a pipeline
    /// that it declares again keeps its count of refusals.
    ///
    /// Returns the pipelines that another program accepts. They keep their acceptor, unless no node of that program has a
    /// valid lease. If the declarations are no longer the newest of their program, nothing changes.
    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError>;

    /// Returns the pipelines that a job accepts, ordered by name: all, or the one with this name.
    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError>;

    /// Admits hand-offs of a pipeline: inserts their jobs and marks the hand-offs as finished, in one commit. Returns, for
    /// each one, whether it was admitted: a hand-off that does not exist or is finished inserts nothing.
    ///
    /// An admitted hand-off counts toward the backlog of its pipeline until its job has ended. Every call also stops
    /// counting those whose jobs have ended since, so that a dead letter that is retried later does not count again.
    ///
    /// A job with a business key or an idempotency key is refused, because it could not be inserted for every hand-off.
    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError>;

    /// Returns the hand-off that was admitted as this job, or `None` if the job was not admitted from a pipeline.
    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError>;

    /// Writes what a process has counted in slots of the minute tier. `source` identifies the process.
    ///
    /// The rows contain absolute values: each replaces the row of the same slot, queue, name and source, so repeating a
    /// call is harmless. The slots above are marked to be folded in the same commit. Rows that
    /// [`stats::accepts`](crate::rules::stats::accepts) refuses are ignored.
    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError>;

    /// Folds slots that are marked, in the order of [`stats::next_folds`](crate::rules::stats::next_folds), at most
    /// `limit`: computes each as the sum of the slots of the tier below ([`stats::fold`](crate::rules::stats::fold)),
    /// removes its mark, and marks the slot above.
    ///
    /// Returns the number of folded slots. Only the leader folds: for other nodes, this does nothing and returns 0.
    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError>;

    /// Writes a sample of queues to the slots of every tier that contain it
    /// ([`stats::merge_gauge`](crate::rules::stats::merge_gauge)). The slot of the given rows is ignored.
    ///
    /// Returns `false` if the node does not lead. Then nothing is written.
    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError>;

    /// Deletes statistics whose retention time has passed, at most `limit` rows per table. A slot is kept until the
    /// slots above that contain it are folded. Returns the number of deleted rows.
    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError>;

    /// Returns a part of the history of metrics. Rows of different processes are added up.
    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError>;

    /// Returns, for each queue with a job that is due and could be claimed according to its state, when the oldest of
    /// them became due.
    ///
    /// Jobs that a limit, a key or a breaker holds back are included. Must not scan the jobs of a queue.
    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError>;

    /// Returns jobs whose stored rows cannot be read, at most `limit`.
    ///
    /// A method that encounters such a row sets it aside, so that it does not block other jobs. This method lists the
    /// rows encountered so far. A store whose rows can always be read has none.
    async fn unreadable(&self, _limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        Ok(Vec::new())
    }

    /// Returns how many jobs [`Self::unreadable`] would return without a limit.
    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Restores a job that was set aside as unreadable, if its row can be read now. Returns `true` if the job was
    /// restored, and `false` if it is still unreadable or was not set aside.
    async fn repair_unreadable(&self, _id: JobId) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Deletes a job that was set aside as unreadable, with its history and keys. Returns `true` if there was one. Its
    /// graph continues as if the job had been canceled.
    async fn drop_unreadable(&self, _id: JobId) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Measures the condition of the store. With `thorough`, a store may read all of its data. A store without a
    /// condition of its own returns the default.
    async fn vitals(&self, _thorough: bool) -> Result<Vitals, StoreError> {
        Ok(Vitals::default())
    }

    /// Returns `true` if another live node holds a job of these queues that it claimed within the last second.
    ///
    /// Overlapping claims skip each other's locked jobs one by one, so the engine claims larger batches while other
    /// nodes compete. A store in which overlapping claims are cheap returns `false`.
    async fn has_competing_claimers(
        &self,
        _node: NodeId,
        _queues: &[QueueDemand],
    ) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// Returns the store's own runtime, on which it waits for its database, if it has one. No user code runs there. The
    /// engine runs on it too, which saves a thread switch per call.
    fn runtime(&self) -> Option<Handle> {
        None
    }

    /// Subscribes to wake-ups: hints that make waiting for the next poll unnecessary. Any wake-up may be lost.
    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake>;

    /// Subscribes to wake-ups about finished jobs ([`Wake::Finished`]).
    ///
    /// A store may send these only to subscribers of this method, and only while there are any, because a worker that
    /// drains a queue does not need a wake-up for every finished job.
    fn subscribe_completions(&self) -> broadcast::Receiver<Wake> {
        self.subscribe_wakeups()
    }
}

/// A hint that something has changed. May be lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wake {
    /// A queue has new work, due now or soon.
    Work {
        /// The name of the queue.
        queue: String,
    },
    /// Jobs may have become claimable in any queue: a queue's rules changed, or a breaker closed.
    Unblocked,
    /// A running job was canceled.
    Canceled(Token),
    /// A job reached a terminal state. Sent to subscribers of [`Store::subscribe_completions`].
    Finished(JobId),
}
