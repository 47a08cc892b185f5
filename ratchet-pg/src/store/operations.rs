//! The operations of [`Store`], which the other modules implement, each on the runtime of the store.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ratchet_store::model::{
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
use ratchet_store::rules::ClaimContext;
use ratchet_store::{Store, StoreError, Wake};
use tokio::runtime::Handle;
use tokio::sync::broadcast;

use super::PgStore;
use crate::fault::Fault;
use crate::lost_connection::{once, repeatable};
use crate::spec;

#[async_trait]
impl Store for PgStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        repeatable!(self, |inner| async {
            let mut db = inner.pool.acquire().await?;
            Ok::<_, Fault>(spec::instant(inner.now(&mut db).await?))
        })
    }

    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        once!(self, |inner| inner.insert(jobs))
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        once!(self, |inner| inner.insert_graph(graph))
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        once!(self, |inner| inner.add_members(extend))
    }

    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError> {
        repeatable!(self, |inner| inner.one_group(id))
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        let filter = filter.clone();
        repeatable!(self, |inner| inner.list_groups(&filter, before, limit))
    }

    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        repeatable!(self, |inner| inner.group_members(group, after, limit))
    }

    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError> {
        let parents = parents.to_vec();
        repeatable!(self, |inner| inner.edges(&parents))
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        repeatable!(self, |inner| inner.schedules())
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        let name = name.to_owned();
        repeatable!(self, |inner| inner.schedule(&name))
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        repeatable!(self, |inner| inner.due_schedules(limit))
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        once!(self, |inner| inner.write_schedule(write))
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        let filter = filter.clone();
        repeatable!(self, |inner| inner.rejects(&filter, after, limit))
    }

    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        let filter = filter.clone();
        repeatable!(self, |inner| inner.reject_groups(&filter))
    }

    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError> {
        let filter = filter.clone();
        repeatable!(self, |inner| inner.reject_counts(&filter, interval))
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        let rejects = rejects.to_vec();
        repeatable!(self, |inner| inner.forget_rejects(&rejects))
    }

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        let pipeline = pipeline.to_owned();
        once!(self, |inner| inner.take_hand_offs(&pipeline, limit, hold))
    }

    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError> {
        let (pipeline, keys) = (pipeline.to_owned(), keys.to_vec());
        repeatable!(self, |inner| inner.finish_hand_offs(&pipeline, &keys))
    }

    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError> {
        let pipeline = pipeline.to_owned();
        repeatable!(self, |inner| inner.hand_off_stats(&pipeline))
    }

    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError> {
        let (declarations, acceptors) = (declarations.clone(), acceptors.to_vec());
        repeatable!(self, |inner| inner.declare_pipelines(&declarations, &acceptors))
    }

    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError> {
        let pipeline = pipeline.map(str::to_owned);
        repeatable!(self, |inner| inner.pipelines(pipeline.as_deref()))
    }

    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError> {
        let pipeline = pipeline.to_owned();
        repeatable!(self, |inner| inner.admit_hand_offs(&pipeline, &admissions))
    }

    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        repeatable!(self, |inner| inner.admission(job))
    }

    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError> {
        once!(self, |inner| inner.write_stats(source, rows))
    }

    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError> {
        once!(self, |inner| inner.fold_stats(node, limit))
    }

    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError> {
        once!(self, |inner| inner.write_gauges(node, rows))
    }

    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError> {
        once!(self, |inner| inner.purge_stats(limit))
    }

    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError> {
        let query = query.clone();
        repeatable!(self, |inner| inner.stats(&query))
    }

    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        repeatable!(self, |inner| inner.oldest_due())
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        once!(self, |inner| inner.claim(&request))
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        once!(self, |inner| inner.settle(settlements))
    }

    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        once!(self, |inner| inner.settle_and_claim(settlements, &request))
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        once!(self, |inner| inner.write_notes(notes))
    }

    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        once!(self, |inner| inner.release_holds(tokens))
    }

    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError> {
        repeatable!(self, |inner| inner.join(&node, lease))
    }

    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError> {
        repeatable!(self, |inner| inner.heartbeat(node, lease))
    }

    async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        once!(self, |inner| inner.leave(node))
    }

    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError> {
        repeatable!(self, |inner| inner.orphans(limit))
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        repeatable!(self, |inner| inner.try_lead(node, lease))
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        repeatable!(self, |inner| inner.try_declare(node))
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        once!(self, |inner| inner.purge(state, age, limit))
    }

    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        once!(self, |inner| inner.archive(state, age, limit))
    }

    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        once!(self, |inner| inner.purge_archive(state, age, limit))
    }

    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError> {
        repeatable!(self, |inner| inner.archive_status())
    }

    async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        once!(self, |inner| inner.command(command))
    }

    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        let queue = queue.to_owned();
        once!(self, |inner| inner.update_queue(&queue, order))
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        repeatable!(self, |inner| inner.queues())
    }

    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError> {
        let service = service.to_owned();
        once!(self, |inner| inner.update_breaker(&service, order))
    }

    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        repeatable!(self, |inner| inner.breakers())
    }

    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError> {
        once!(self, |inner| inner.operate(change, note))
    }

    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let filter = filter.clone();
        repeatable!(self, |inner| inner.audit(&filter, from, oldest_first, limit))
    }

    async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        repeatable!(self, |inner| inner.audit_head())
    }

    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        repeatable!(self, |inner| inner.operations(filter, limit))
    }

    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError> {
        let subject = subject.clone();
        repeatable!(self, |inner| inner.erasable(&subject, limit))
    }

    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError> {
        repeatable!(self, |inner| inner.claim_context(id))
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        repeatable!(self, |inner| inner.get(id))
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        let filter = filter.clone();
        repeatable!(self, |inner| inner.list(&filter, page))
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        repeatable!(self, |inner| inner.counts())
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        repeatable!(self, |inner| inner.attempts(id))
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        repeatable!(self, |inner| inner.logs(id))
    }

    async fn unreadable(&self, limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        repeatable!(self, |inner| inner.unreadable(limit))
    }

    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        repeatable!(self, |inner| inner.count_unreadable())
    }

    async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        repeatable!(self, |inner| inner.succession(id))
    }

    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError> {
        repeatable!(self, |inner| inner.content(place, after, limit))
    }

    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError> {
        repeatable!(self, |inner| inner.failure_marks())
    }

    async fn vitals(&self, thorough: bool) -> Result<Vitals, StoreError> {
        let _ = thorough;
        repeatable!(self, |inner| inner.vitals())
    }

    async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        once!(self, |inner| inner.repair_unreadable(id))
    }

    async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        once!(self, |inner| inner.drop_unreadable(id))
    }

    async fn has_competing_claimers(
        &self,
        node: NodeId,
        queues: &[QueueDemand],
    ) -> Result<bool, StoreError> {
        let queues: Vec<_> = queues.iter().map(|demand| demand.queue.clone()).collect();
        once!(self, |inner| inner.has_competing_claimers(node, &queues))
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        repeatable!(self, |inner| inner.nodes())
    }

    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError> {
        repeatable!(self, |inner| inner.catalog())
    }

    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError> {
        repeatable!(self, |inner| inner.unknown_jobs())
    }

    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        repeatable!(self, |inner| inner.alerts(limit))
    }

    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError> {
        repeatable!(self, |inner| inner.backlogs(limit))
    }

    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        once!(self, |inner| inner.take_deliveries(channel, limit, hold))
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        repeatable!(self, |inner| inner.ack_deliveries(&deliveries))
    }

    fn runtime(&self) -> Option<Handle> {
        Some(self.runtime.handle())
    }

    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake> {
        self.inner.wakes.subscribe()
    }

    fn subscribe_completions(&self) -> broadcast::Receiver<Wake> {
        self.inner.wakes.subscribe_to_ends()
    }
}
