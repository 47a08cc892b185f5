//! A store wrapper with one selectable fault.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_conformance::{Harness, async_trait};
use ratchet_core::{Priority, VirtualClock};
use ratchet_memory::MemoryStore;
use ratchet_store::model::{
    Acceptor, Alert, ArchiveStatus, AttemptRecord, AuditFilter, AuditHead, AuditNote, AuditRecord,
    Backlog, BreakerChange, BreakerRecord, BreakerUpdate, CatalogRecord, Change, ChangeError,
    Changed, Channel, ClaimReply, ClaimRequest, Command, CommandError, CommandReply, ContentKey,
    ContentPage, ContentPlace, Counts, Declarations, Delivery, DeliveryId, Due, Edge, ErasedRows,
    ErasureSubject, Extend, FailureMark, Filter, GaugeRow, GraphInserted, GroupFilter, GroupId,
    GroupRecord, HandOff, HandOffAdmission, HandOffStats, Heartbeat, InsertError, Inserted, JobId,
    JobRecord, JobState, LogLine, Member, NewAdmission, NewGraph, NewJob, NodeId, NodeInfo,
    NodeRecord, OperationFilter, OperationRecord, Orphan, Page, PageRequest, PipelineRecord,
    QueueRecord, QueueUpdate, Reject, RejectCount, RejectFilter, RejectGroup, RunNotes,
    ScheduleRecord, ScheduleWritten, Settled, Settlement, StatRow, StatsHistory, StatsQuery,
    Succession, Token, UnknownJob, Unreadable, Vertex, Vitals, WriteSchedule,
};
use ratchet_store::rules::ClaimContext;
use ratchet_store::{Store, StoreError, Wake};
use tokio::sync::broadcast::Receiver;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    NeverPurges,
    LosesChildren,
    LosesGraphs,
    ForgetsLingering,
    FlattensPriority,
    IgnoresDelays,
}

#[derive(Debug, Clone)]
pub(crate) struct Faulty {
    inner: MemoryStore,
    clock: VirtualClock,
    fault: Fault,
}

impl Faulty {
    pub(crate) fn new(fault: Fault) -> Self {
        let clock = VirtualClock::new();
        Self { inner: MemoryStore::with_clock(Arc::new(clock.clone())), clock, fault }
    }

    fn spoil_job(&self, job: &mut NewJob) {
        match self.fault {
            Fault::FlattensPriority => job.spec.priority = Priority::Normal,
            Fault::IgnoresDelays => job.due = Due::Now,
            _ => {}
        }
    }

    fn spoil(&self, settlement: &mut Settlement) {
        match self.fault {
            Fault::LosesChildren => settlement.spawned.clear(),
            Fault::LosesGraphs => settlement.graphs.clear(),
            Fault::ForgetsLingering => settlement.lingering = false,
            _ => {}
        }
    }
}

#[async_trait]
impl Harness for Faulty {
    async fn fresh() -> Self {
        Self::new(Fault::NeverPurges)
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.clone())
    }

    async fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

#[async_trait]
impl Store for Faulty {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.inner.now().await
    }

    async fn insert(&self, mut jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        for job in &mut jobs {
            self.spoil_job(job);
        }
        self.inner.insert(jobs).await
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        self.inner.insert_graph(graph).await
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        self.inner.add_members(extend).await
    }

    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError> {
        self.inner.group(id).await
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        self.inner.groups(filter, before, limit).await
    }

    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        self.inner.members(group, after, limit).await
    }

    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError> {
        self.inner.edges(parents).await
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        self.inner.schedules().await
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        self.inner.schedule(name).await
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        self.inner.due_schedules(limit).await
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        self.inner.write_schedule(write).await
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        self.inner.rejects(filter, after, limit).await
    }

    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        self.inner.reject_groups(filter).await
    }

    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError> {
        self.inner.reject_counts(filter, interval).await
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        self.inner.forget_rejects(rejects).await
    }

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        self.inner.take_hand_offs(pipeline, limit, hold).await
    }

    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError> {
        self.inner.finish_hand_offs(pipeline, keys).await
    }

    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError> {
        self.inner.hand_off_stats(pipeline).await
    }

    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError> {
        self.inner.declare_pipelines(declarations, acceptors).await
    }

    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError> {
        self.inner.pipelines(pipeline).await
    }

    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError> {
        self.inner.admit_hand_offs(pipeline, admissions).await
    }

    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        self.inner.admission(job).await
    }

    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError> {
        self.inner.write_stats(source, rows).await
    }

    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError> {
        self.inner.fold_stats(node, limit).await
    }

    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError> {
        self.inner.write_gauges(node, rows).await
    }

    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError> {
        self.inner.purge_stats(limit).await
    }

    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError> {
        self.inner.stats(query).await
    }

    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        self.inner.oldest_due().await
    }

    async fn unreadable(&self, limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        self.inner.unreadable(limit).await
    }

    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        self.inner.count_unreadable().await
    }

    async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        self.inner.succession(id).await
    }

    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError> {
        self.inner.content(place, after, limit).await
    }

    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError> {
        self.inner.failure_marks().await
    }

    async fn vitals(&self, thorough: bool) -> Result<Vitals, StoreError> {
        self.inner.vitals(thorough).await
    }

    async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.inner.repair_unreadable(id).await
    }

    async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.inner.drop_unreadable(id).await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        self.inner.claim(request).await
    }

    async fn settle(&self, mut settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        for settlement in &mut settlements {
            self.spoil(settlement);
        }
        self.inner.settle(settlements).await
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        self.inner.write_notes(notes).await
    }

    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        self.inner.release_holds(tokens).await
    }

    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError> {
        self.inner.join(node, lease).await
    }

    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError> {
        self.inner.heartbeat(node, lease).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        self.inner.leave(node).await
    }

    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError> {
        self.inner.orphans(limit).await
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        self.inner.try_lead(node, lease).await
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        self.inner.try_declare(node).await
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        if self.fault == Fault::NeverPurges {
            return Ok(0);
        }
        self.inner.purge(state, age, limit).await
    }

    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        self.inner.archive(state, age, limit).await
    }

    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.inner.purge_archive(state, age, limit).await
    }

    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError> {
        self.inner.archive_status().await
    }

    async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        self.inner.command(command).await
    }

    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        self.inner.update_queue(queue, order).await
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        self.inner.queues().await
    }

    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError> {
        self.inner.update_breaker(service, order).await
    }

    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.inner.breakers().await
    }

    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError> {
        self.inner.operate(change, note).await
    }

    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        self.inner.audit(filter, from, oldest_first, limit).await
    }

    async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        self.inner.audit_head().await
    }

    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        self.inner.operations(filter, limit).await
    }

    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError> {
        self.inner.erasable(subject, limit).await
    }

    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError> {
        self.inner.claim_context(id).await
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        self.inner.get(id).await
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        self.inner.list(filter, page).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.inner.counts().await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.inner.attempts(id).await
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        self.inner.logs(id).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.inner.nodes().await
    }

    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError> {
        self.inner.catalog().await
    }

    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError> {
        self.inner.unknown_jobs().await
    }

    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.inner.alerts(limit).await
    }

    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError> {
        self.inner.backlogs(limit).await
    }

    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.inner.take_deliveries(channel, limit, hold).await
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        self.inner.ack_deliveries(deliveries).await
    }

    fn subscribe_wakeups(&self) -> Receiver<Wake> {
        self.inner.subscribe_wakeups()
    }

    fn subscribe_completions(&self) -> Receiver<Wake> {
        self.inner.subscribe_completions()
    }
}
