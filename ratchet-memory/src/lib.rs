//! The in-memory store: a complete implementation, and the reference model for the other stores.

mod archive;
mod bulk;
mod catalog;
mod claim;
mod command;
mod content;
mod erasure;
mod gates;
mod graph;
mod index;
mod insert;
mod inspect;
mod items;
mod key_rates;
mod keys;
mod nodes;
mod operate;
mod outbox;
mod pipelines;
mod query;
mod ready;
mod row;
mod schedule;
mod scheduled;
mod settle;
mod stats;
mod successors;
mod tables;
mod turns;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::broadcast;

pub use self::inspect::Inspection;
use self::tables::Tables;
use ratchet_store::env::{Clock, SystemClock};
use ratchet_store::model::{
    Acceptor, Alert, ArchiveStatus, AttemptRecord, AuditFilter, AuditHead, AuditNote, AuditRecord,
    Backlog, BreakerChange, BreakerRecord, BreakerUpdate, CatalogRecord, Change, ChangeError,
    Changed, Channel, ClaimReply, ClaimRequest, Command, CommandError, CommandReply, ContentKey,
    ContentPage, ContentPlace, Counts, Declarations, Delivery, DeliveryId, Edge, ErasedRows,
    ErasureSubject, Extend, FailureMark, Filter, GaugeRow, GraphInserted, GroupFilter, GroupId,
    GroupRecord, HandOff, HandOffAdmission, HandOffStats, Heartbeat, InsertError, Inserted, JobId,
    JobRecord, JobState, LogLine, Member, NewAdmission, NewGraph, NewJob, NodeId, NodeInfo,
    NodeRecord, OperationFilter, OperationRecord, Orphan, Page, PageRequest, PipelineRecord,
    QueueRecord, QueueUpdate, Reject, RejectCount, RejectFilter, RejectGroup, RunNotes,
    ScheduleRecord, ScheduleWritten, Settled, Settlement, StatRow, StatsHistory, StatsQuery,
    Succession, Token, UnknownJob, Vertex, Vitals, WriteSchedule,
};
use ratchet_store::rules::ClaimContext;
use ratchet_store::{Store, StoreError, Wake};

/// The number of wake-ups buffered for a slow subscriber. If it falls further back it loses some, and finds the work at
/// its next poll.
const WAKES_KEPT: usize = 1024;

/// A complete store in memory. Its contents are lost when the process ends. Clones share their contents.
///
/// ```
/// use ratchet_memory::MemoryStore;
/// use ratchet_store::Store;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// assert!(store.counts().await?.queues.is_empty());
/// # Ok::<_, ratchet_store::StoreError>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    /// A blocking mutex, because it is held for one method and never across an await.
    tables: Mutex<Tables>,
    wakes: broadcast::Sender<Wake>,
}

impl MemoryStore {
    /// Creates an empty store that uses the system clock.
    pub fn new() -> Self {
        Self::with_clock(Arc::new(SystemClock::default()))
    }

    /// Creates an empty store that uses the given clock.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        let (wakes, _) = broadcast::channel(WAKES_KEPT);
        Self { shared: Arc::new(Shared { clock, tables: Mutex::default(), wakes }) }
    }

    /// Runs one method at one instant, then sends its wake-ups.
    fn verb<T>(&self, verb: impl FnOnce(&mut Tables, Timestamp) -> T) -> T {
        let (answer, wakes) = {
            let mut tables = self.lock();
            // Read under the lock, so that a later call never sees an earlier time.
            let now = self.shared.clock.now();
            let answer = verb(&mut tables, now);
            (answer, std::mem::take(&mut tables.wakes))
        };
        for wake in wakes {
            // An error means that there are no subscribers.
            let _ = self.shared.wakes.send(wake);
        }
        answer
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("clock", &self.shared.clock)
            .field("jobs", &self.lock().jobs.len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.shared.clock.now())
    }

    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        self.verb(|tables, now| tables.insert(jobs, now))
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        self.verb(|tables, now| tables.insert_graph(graph, now))
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        self.verb(|tables, now| tables.extend(extend, now))
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        Ok(self.verb(|tables, now| tables.claim(&request, now)))
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        Ok(self.verb(|tables, now| tables.settle(settlements, now)))
    }

    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        Ok(self.verb(|tables, now| {
            let settled = tables.settle(settlements, now);
            (settled, tables.claim(&request, now))
        }))
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        Ok(self.verb(|tables, _| tables.report(notes)))
    }

    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        self.verb(|tables, _| tokens.into_iter().for_each(|token| tables.release_holds(token)));
        Ok(())
    }

    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError> {
        self.verb(|tables, now| tables.join(node, lease, now))
    }

    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError> {
        Ok(self.verb(|tables, now| tables.heartbeat(node, lease, now)))
    }

    async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        self.verb(|tables, now| tables.nodes.leave(node, now));
        Ok(())
    }

    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError> {
        Ok(self.verb(|tables, now| tables.orphans(limit, now)))
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        Ok(self.verb(|tables, now| {
            let leads = tables.nodes.try_lead(node, lease, now);
            if leads {
                tables.keys.remove_expired(now);
                tables.gates.key_rates.remove_ended(now);
            }
            leads
        }))
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        Ok(self.verb(|tables, now| tables.nodes.try_declare(node, now)))
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        Ok(self.verb(|tables, now| tables.purge(state, age, limit, now)))
    }

    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        Ok(self.verb(|tables, now| tables.archive(state, age, limit, now)))
    }

    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        Ok(self.verb(|tables, now| tables.purge_archive(state, age, limit, now)))
    }

    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError> {
        Ok(self.lock().archive_status())
    }

    async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        self.verb(|tables, now| tables.command(command, now).map_err(|error| tables.refused(error)))
    }

    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        Ok(self.verb(|tables, now| tables.update_queue(queue, order, now)))
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        Ok(self.verb(|tables, now| tables.queues(now)))
    }

    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError> {
        Ok(self.verb(|tables, now| tables.update_breaker(service, order, now)))
    }

    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        Ok(self.verb(|tables, now| tables.breakers(now)))
    }

    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError> {
        self.verb(|tables, now| {
            tables.operate(change, note, now).map_err(|error| tables.refused_change(error))
        })
    }

    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        Ok(self.lock().list_audit(filter, from, oldest_first, limit))
    }

    async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        Ok(self.lock().audit_head())
    }

    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        Ok(self.lock().list_operations(filter, limit))
    }

    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError> {
        Ok(self.lock().erasable(subject, limit))
    }

    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError> {
        Ok(self.verb(|tables, now| tables.claim_context(id, now)))
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        Ok(self.lock().stored(id).map(|row| row.job.clone()))
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        Ok(self.lock().list(filter, page))
    }

    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError> {
        Ok(self.lock().graph.groups.get(&id).cloned())
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        Ok(self.lock().graph.list(filter, before, limit))
    }

    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        Ok(self.lock().members(group, after, limit))
    }

    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError> {
        let tables = self.lock();
        Ok(parents.iter().flat_map(|parent| tables.graph.edges_from(*parent)).collect())
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        Ok(self.lock().index.counts())
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        Ok(self.lock().stored(id).map(|row| row.history.clone()).unwrap_or_default())
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        let tables = self.lock();
        Ok(tables.stored(id).map(|row| row.logs.iter().cloned().collect()).unwrap_or_default())
    }

    async fn vitals(&self, _thorough: bool) -> Result<Vitals, StoreError> {
        let mut vitals = Vitals::default();
        vitals.leader_until = self.verb(|tables, _| tables.nodes.leader_until());
        Ok(vitals)
    }

    async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        Ok(self.verb(|tables, _| tables.succession(id)))
    }

    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError> {
        Ok(self.verb(|tables, _| tables.content(place, after, limit)))
    }

    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError> {
        Ok(self.verb(|tables, _| tables.failure_marks.values().cloned().collect()))
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        Ok(self.verb(|tables, now| tables.nodes.list(now)))
    }

    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError> {
        Ok(self.lock().list_catalog())
    }

    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError> {
        Ok(self.verb(|tables, now| tables.unknown_jobs(now)))
    }

    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        Ok(self.lock().outbox.alerts(limit))
    }

    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        Ok(self.verb(|tables, now| tables.outbox.hand_out(channel, limit, hold, now)))
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        self.lock().outbox.ack_deliveries(&deliveries);
        Ok(())
    }

    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError> {
        Ok(self.lock().outbox.backlogs(limit))
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        Ok(self.lock().schedules.values().cloned().collect())
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        Ok(self.lock().schedules.get(name).cloned())
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        Ok(self.verb(|tables, now| tables.due_schedules(limit, now)))
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        Ok(self.verb(|tables, now| tables.write_schedule(write, now)))
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        Ok(self.lock().items.rejects(filter, after, limit))
    }

    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        Ok(self.lock().items.reject_groups(filter))
    }

    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError> {
        Ok(self.lock().items.reject_counts(filter, interval))
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        self.lock().items.forget(rejects);
        Ok(())
    }

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        Ok(self.verb(|tables, now| tables.items.take(pipeline, limit, hold, now)))
    }

    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError> {
        self.lock().items.finish(pipeline, keys);
        Ok(())
    }

    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError> {
        Ok(self.verb(|tables, now| tables.hand_off_stats(pipeline, now)))
    }

    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError> {
        Ok(self.verb(|tables, now| tables.declare_pipelines(declarations, acceptors, now)))
    }

    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError> {
        Ok(self.verb(|tables, _| tables.accepted_pipelines(pipeline)))
    }

    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError> {
        self.verb(|tables, now| tables.admit(pipeline, admissions, now))
    }

    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        Ok(self.verb(|tables, _| tables.pipelines.admission(job)))
    }

    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError> {
        self.verb(|tables, now| tables.stats.write(source, rows, now));
        Ok(())
    }

    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError> {
        Ok(self.verb(|tables, now| tables.fold_stats(node, limit, now)))
    }

    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError> {
        Ok(self.verb(|tables, now| tables.write_gauges(node, rows, now)))
    }

    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError> {
        Ok(self.verb(|tables, now| tables.stats.purge(limit, now)))
    }

    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError> {
        Ok(self.lock().stats.query(query))
    }

    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        Ok(self.verb(|tables, now| tables.oldest_due(now)))
    }

    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake> {
        self.shared.wakes.subscribe()
    }
}
