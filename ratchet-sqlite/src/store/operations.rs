//! The operations of [`Store`]: writes are sent to the writer, reads use a connection of their own.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ratchet_store::model::{
    Acceptor, Alert, ArchiveStatus, ArchivedJobs, AttemptRecord, AuditFilter, AuditHead, AuditNote,
    AuditRecord, Backlog, BreakerChange, BreakerRecord, BreakerUpdate, CatalogRecord, Change,
    ChangeError, Changed, Channel, ClaimReply, ClaimRequest, Command, CommandError, CommandReply,
    ContentKey, ContentPage, ContentPlace, Counts, Declarations, Delivery, DeliveryId, Edge,
    ErasedRows, ErasureSubject, Extend, FailureMark, Filter, GaugeRow, GraphInserted, GroupFilter,
    GroupId, GroupRecord, HandOff, HandOffAdmission, HandOffStats, Heartbeat, InsertError,
    Inserted, JobId, JobRecord, JobState, LogLine, Member, NewAdmission, NewGraph, NewJob, NodeId,
    NodeInfo, NodeRecord, OperationFilter, OperationRecord, Orphan, Page, PageRequest,
    PipelineRecord, QueueRecord, QueueUpdate, Reject, RejectCount, RejectFilter, RejectGroup,
    RunNotes, ScheduleRecord, ScheduleWritten, Settled, Settlement, StatRow, StatsHistory,
    StatsQuery, Succession, Token, UnknownJob, Unreadable, Vertex, Vitals, WriteSchedule,
};
use ratchet_store::rules::ClaimContext;
use ratchet_store::rules::search::{Place, merge};
use ratchet_store::{Store, StoreError, Wake};
use sqlx::Connection as _;
use tokio::sync::broadcast;

use super::SqliteStore;
use crate::error::is_unreadable;
use crate::unreadable::refusal_of;
use crate::verb::{
    AckDeliveries, AddMembers, AdmitHandOffs, ChangeSchedule, Claim, Declare, DeclarePipelines,
    DropUnreadable, FinishHandOffs, FoldStats, ForgetRejects, Insert, InsertGraph, Join, Lead,
    Leave, Operate, OperateSubmit, Orphans, Purge, PurgeStats, ReleaseHolds, RenewLease,
    RepairUnreadable, Report, RunCommand, Settle, SettleAndClaim, TakeDeliveries, TakeHandOffs,
    UpdateBreaker, UpdateQueue, WriteGauges, WriteStats,
};

/// Reads on a borrowed connection, with one statement or with several that need not see the same state.
macro_rules! read {
    ($store:expr, |$look:ident| $read:expr) => {{
        let store: &SqliteStore = $store;
        let mut reader = store.readers.get().await.map_err(|error| store.fault(&error))?;
        let mut $look = store.look(&mut reader);
        let read = $read.await;
        let unreadable = std::mem::take(&mut $look.unreadable);
        drop(reader);
        store.set_aside(unreadable);
        read
    }};
    ($store:expr, |$look:ident| $read:expr, fault) => {
        read!($store, |$look| $read).map_err(|error| $store.fault(&error))
    };
}

/// Reads with several statements that see one snapshot of the database. If the future is dropped, the transaction ends.
macro_rules! read_at_once {
    ($store:expr, |$look:ident| $read:expr) => {{
        let store: &SqliteStore = $store;
        let fault = |error| store.fault(&error);
        let mut reader = store.readers.get().await.map_err(fault)?;
        let mut snapshot = reader.begin().await.map_err(fault)?;
        let mut $look = store.look(&mut snapshot);
        let read = $read.await;
        let unreadable = std::mem::take(&mut $look.unreadable);
        // Nothing was written, so a rollback is as good as a commit.
        let ended = snapshot.rollback().await;
        drop(reader);
        store.set_aside(unreadable);
        read.and_then(|read| ended.map(|()| read)).map_err(fault)
    }};
}

impl SqliteStore {
    /// Returns whether the job is in the file of the jobs.
    async fn is_live(&self, id: JobId) -> Result<bool, StoreError> {
        match read!(self, |look| look.get(id)) {
            Ok(row) => Ok(row.is_some()),
            Err(error) if is_unreadable(&error) => Ok(true),
            Err(error) => Err(self.fault(&error)),
        }
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        Ok(self.shared.clock.now())
    }

    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        self.write(Insert { jobs }).await?
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        self.write(InsertGraph { graph }).await?
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        self.write(AddMembers { extend }).await?
    }

    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError> {
        read!(self, |look| look.group(id), fault)
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        read_at_once!(self, |look| look.groups(filter, before, limit))
    }

    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        read!(self, |look| look.members(group, after, limit), fault)
    }

    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError> {
        read_at_once!(self, |look| look.edges(parents))
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        read!(self, |look| look.schedules(), fault)
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        read!(self, |look| look.schedule(name), fault)
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        read!(self, |look| look.due_schedules(limit), fault)
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        self.write(ChangeSchedule { write }).await
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        read!(self, |look| look.rejects(filter, after, limit), fault)
    }

    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        read!(self, |look| look.reject_groups(filter), fault)
    }

    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError> {
        read!(self, |look| look.reject_counts(filter, interval), fault)
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        self.write(ForgetRejects { rejects: rejects.to_vec() }).await
    }

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        self.write(TakeHandOffs { pipeline: pipeline.to_owned(), limit, hold }).await
    }

    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError> {
        self.write(FinishHandOffs { pipeline: pipeline.to_owned(), keys: keys.to_vec() }).await
    }

    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError> {
        read_at_once!(self, |look| look.hand_off_stats(pipeline))
    }

    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError> {
        let (declarations, acceptors) = (declarations.clone(), acceptors.to_vec());
        self.write(DeclarePipelines { declarations, acceptors }).await
    }

    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError> {
        read!(self, |look| look.pipelines(pipeline), fault)
    }

    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError> {
        self.write(AdmitHandOffs { pipeline: pipeline.to_owned(), admissions }).await?
    }

    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        read!(self, |look| look.admission(job), fault)
    }

    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError> {
        self.write(WriteStats { source, rows }).await
    }

    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError> {
        self.write(FoldStats { node, limit }).await
    }

    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError> {
        self.write(WriteGauges { node, rows }).await
    }

    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError> {
        self.write(PurgeStats { limit }).await
    }

    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError> {
        read_at_once!(self, |look| look.stats(query))
    }

    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        read!(self, |look| look.oldest_due(), fault)
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        self.write(Claim { request }).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        self.write(Settle { settlements }).await
    }

    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        self.write(SettleAndClaim { settlements, request }).await
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        self.write(Report { notes }).await
    }

    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        self.write(ReleaseHolds { tokens }).await
    }

    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError> {
        self.write(Join { node, lease }).await?
    }

    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError> {
        self.write(RenewLease { node, lease }).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        self.write(Leave { node }).await
    }

    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError> {
        self.write(Orphans { limit }).await
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        self.write(Lead { node, lease }).await
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        self.write(Declare { node }).await
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        self.write(Purge { state, age, limit }).await
    }

    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        self.move_to_archive(state, age, limit).await
    }

    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        Ok(self.delete_archived((state, age, limit), None).await?.0)
    }

    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError> {
        self.describe_archive().await
    }

    async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        match self.write(RunCommand { command }).await? {
            Err(refused) => Err(self.refused(refused).await),
            done => done,
        }
    }

    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        self.write(UpdateQueue { queue: queue.to_owned(), order }).await
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        read_at_once!(self, |look| look.queues())
    }

    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError> {
        self.write(UpdateBreaker { service: service.to_owned(), order }).await
    }

    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        read!(self, |look| look.breakers(), fault)
    }

    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError> {
        let changed = match change {
            Change::PurgeArchive { .. } => {
                return self.operate_archive(&change, note.as_ref()).await;
            }
            Change::Submit(_) => self.write(OperateSubmit { change, note }).await?,
            Change::Operation(_) => self.operate_operation(change, note).await?,
            _ => self.write(Operate { change, note }).await?,
        };
        match changed {
            Err(ChangeError::Command(refused)) => Err(self.refused(refused).await.into()),
            changed => changed,
        }
    }

    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        read!(self, |look| look.audit(filter, from, oldest_first, limit), fault)
    }

    async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        read!(self, |look| look.audit_head(), fault)
    }

    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        self.find_operations(filter, limit).await
    }

    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError> {
        read!(self, |look| look.erasable(subject, limit), fault)
    }

    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError> {
        read_at_once!(self, |look| look.claim_context(id))
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        match read!(self, |look| look.get(id)) {
            Ok(Some(row)) => Ok(Some(row.job)),
            Ok(None) => self.get_archived(id).await,
            Err(error) if is_unreadable(&error) => Err(refusal_of(id, &error)),
            Err(error) => Err(self.fault(&error)),
        }
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        // The live jobs first, so that a job that is moved meanwhile is in one of the two.
        let live = match filter.archived {
            ArchivedJobs::Only => return self.list_archived(filter, page).await,
            _ => read_at_once!(self, |look| look.list(Place::Live, filter, page))?,
        };
        if filter.archived == ArchivedJobs::Exclude {
            return Ok(live);
        }
        Ok(merge(live, self.list_archived(filter, page).await?, filter, page))
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        read!(self, |look| look.counts(), fault)
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        let attempts = read_at_once!(self, |look| look.attempts(id))?;
        if attempts.is_empty() && !self.is_live(id).await? {
            return self.archived_attempts(id).await;
        }
        Ok(attempts)
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        let lines = read!(self, |look| look.logs(id), fault)?;
        if lines.is_empty() && !self.is_live(id).await? {
            return self.archived_logs(id).await;
        }
        Ok(lines)
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        read!(self, |look| look.nodes(), fault)
    }

    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError> {
        read!(self, |look| look.catalog(), fault)
    }

    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError> {
        read_at_once!(self, |look| look.unknown_jobs())
    }

    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        read!(self, |look| look.alerts(limit), fault)
    }

    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError> {
        read!(self, |look| look.backlogs(limit), fault)
    }

    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.write(TakeDeliveries { channel, limit, hold }).await
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        self.write(AckDeliveries { deliveries }).await
    }

    async fn unreadable(&self, limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        read!(self, |look| look.unreadable(limit), fault)
    }

    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        read!(self, |look| look.count_unreadable(), fault)
    }

    async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        read!(self, |look| look.succession(id), fault)
    }

    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError> {
        read!(self, |look| look.content(place, after, limit), fault)
    }

    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError> {
        read!(self, |look| look.failure_marks(), fault)
    }

    async fn vitals(&self, thorough: bool) -> Result<Vitals, StoreError> {
        let log = self.shared.files.check().map_err(StoreError::from)?;
        read!(self, |look| look.vitals(log, thorough), fault)
    }

    async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.write(RepairUnreadable { job: id }).await
    }

    async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.write(DropUnreadable { job: id }).await
    }

    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake> {
        let receiver = self.shared.wakes.subscribe();
        // The writer checks for writes of other processes only while there is a subscriber.
        self.shared.listener.notify_one();
        receiver
    }

    fn subscribe_completions(&self) -> broadcast::Receiver<Wake> {
        self.shared.ends.subscribe()
    }
}

impl SqliteStore {
    /// Returns bulk operations that match a filter, newest first, at most `limit`.
    pub(crate) async fn find_operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        read!(self, |look| look.operations(filter, limit), fault)
    }
}
