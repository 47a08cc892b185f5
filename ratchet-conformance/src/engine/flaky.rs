//! A store wrapper that fails, panics or blocks on demand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
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
    StatsQuery, Succession, Token, UnknownJob, Unreadable, Verdict, Vertex, Vitals, WriteSchedule,
};
use ratchet_store::rules::ClaimContext;
use ratchet_store::{Store, StoreError, StoreErrorKind, Wake};
use tokio::runtime::Handle;
use tokio::sync::broadcast;

/// The faults of a [`Flaky`] store, and counters of its calls.
#[derive(Debug, Default)]
pub struct Switches {
    /// All calls fail as unavailable.
    pub down: AtomicBool,
    /// Heartbeats fail as unavailable.
    pub no_heartbeat: AtomicBool,
    /// Held for reading by every heartbeat in flight.
    pub heartbeats: tokio::sync::RwLock<()>,
    /// Settlements that carry an output are refused as bad data.
    pub refuse_outputs: AtomicBool,
    /// Claims are refused as bad data.
    pub refuse_claims: AtomicBool,
    /// Claims panic.
    pub panic_in_claim: AtomicBool,
    /// Calls that list orphans panic.
    pub panic_in_orphans: AtomicBool,
    /// Calls that list all schedules panic.
    pub panic_in_schedules: AtomicBool,
    /// How many writes of declared schedules are refused as stale.
    pub stale_declarations: AtomicU32,
    /// How many times a node became or remained the leader of maintenance.
    pub led: AtomicU64,
    /// The next purge fails.
    pub fail_purge: AtomicBool,
    /// All settlements are refused as corruption of the database.
    pub corrupt: AtomicBool,
    /// All settlements are refused as bad data.
    pub refuse_settles: AtomicBool,
    /// Settle calls wait while this is held.
    pub settling: tokio::sync::Mutex<()>,
    /// Claims that return jobs wait while this is held. An empty claim does not wait, so that the next one can be made.
    pub answering: tokio::sync::Mutex<()>,
    /// The number of jobs that the last claim requested.
    pub asked: AtomicU64,
    /// The store reports competing claimers.
    pub competing: AtomicBool,
    /// Checks for competing claimers wait while this is held.
    pub looking: tokio::sync::Mutex<()>,
    /// The number of checks for competing claimers.
    pub looks: AtomicU64,
    /// The number of group reads.
    pub group_reads: AtomicU64,
    /// The number of settle calls that reached the inner store.
    pub settles: AtomicU64,
}

impl Switches {
    /// Blocks all further heartbeats and waits until none is in flight.
    pub async fn stop_heartbeats(&self) {
        self.no_heartbeat.store(true, Ordering::SeqCst);
        drop(self.heartbeats.write().await);
    }
}

/// A store that forwards to another one unless a switch makes it fail.
#[derive(Debug)]
pub struct Flaky {
    inner: Arc<dyn Store>,
    switches: Switches,
}

impl Flaky {
    /// Wraps a store. All switches are off.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, switches: Switches::default() }
    }

    /// Returns the switches, which can be changed at any time.
    pub fn switches(&self) -> &Switches {
        &self.switches
    }

    fn up(&self) -> Result<&dyn Store, StoreError> {
        if self.switches.down.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "switched off"));
        }
        Ok(self.inner.as_ref())
    }
}

#[async_trait]
impl Store for Flaky {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.up()?.now().await
    }

    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        self.up()?.insert(jobs).await
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        self.up()?.insert_graph(graph).await
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        self.up()?.add_members(extend).await
    }

    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError> {
        self.switches.group_reads.fetch_add(1, Ordering::SeqCst);
        self.up()?.group(id).await
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        self.up()?.groups(filter, before, limit).await
    }

    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        self.up()?.members(group, after, limit).await
    }

    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError> {
        self.up()?.edges(parents).await
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        let refuses = self.switches.panic_in_schedules.load(Ordering::SeqCst);
        assert!(!refuses, "all schedules were listed");
        self.up()?.schedules().await
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        self.up()?.schedule(name).await
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        self.up()?.due_schedules(limit).await
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        let stale = &self.switches.stale_declarations;
        let refuse = |left: u32| left.checked_sub(1);
        if write.declarations.is_some()
            && stale.fetch_update(Ordering::SeqCst, Ordering::SeqCst, refuse).is_ok()
        {
            return Ok(ScheduleWritten::Stale);
        }
        self.up()?.write_schedule(write).await
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        self.up()?.rejects(filter, after, limit).await
    }

    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        self.up()?.reject_groups(filter).await
    }

    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError> {
        self.up()?.reject_counts(filter, interval).await
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        self.up()?.forget_rejects(rejects).await
    }

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        self.up()?.take_hand_offs(pipeline, limit, hold).await
    }

    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError> {
        self.up()?.finish_hand_offs(pipeline, keys).await
    }

    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError> {
        self.up()?.hand_off_stats(pipeline).await
    }

    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError> {
        self.up()?.declare_pipelines(declarations, acceptors).await
    }

    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError> {
        self.up()?.pipelines(pipeline).await
    }

    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError> {
        self.up()?.admit_hand_offs(pipeline, admissions).await
    }

    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        self.up()?.admission(job).await
    }

    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError> {
        self.up()?.write_stats(source, rows).await
    }

    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError> {
        self.up()?.fold_stats(node, limit).await
    }

    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError> {
        self.up()?.write_gauges(node, rows).await
    }

    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError> {
        self.up()?.purge_stats(limit).await
    }

    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError> {
        self.up()?.stats(query).await
    }

    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        self.up()?.oldest_due().await
    }

    async fn unreadable(&self, limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        self.up()?.unreadable(limit).await
    }

    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        self.up()?.count_unreadable().await
    }

    async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        self.up()?.succession(id).await
    }

    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError> {
        self.up()?.content(place, after, limit).await
    }

    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError> {
        self.up()?.failure_marks().await
    }

    async fn vitals(&self, thorough: bool) -> Result<Vitals, StoreError> {
        self.up()?.vitals(thorough).await
    }

    async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.up()?.repair_unreadable(id).await
    }

    async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.up()?.drop_unreadable(id).await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        let asked = request.queues.iter().map(|queue| u64::from(queue.limit)).sum();
        self.switches.asked.store(asked, Ordering::SeqCst);
        assert!(!self.switches.panic_in_claim.load(Ordering::SeqCst), "a claim panics");
        if self.switches.refuse_claims.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Data, "an index row is too large"));
        }
        let reply = self.up()?.claim(request).await;
        if reply.as_ref().is_ok_and(|reply| !reply.jobs.is_empty()) {
            drop(self.switches.answering.lock().await);
        }
        reply
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        self.up()?.write_notes(notes).await
    }

    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        self.up()?.release_holds(tokens).await
    }

    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError> {
        self.up()?.join(node, lease).await
    }

    async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        self.up()?.leave(node).await
    }

    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError> {
        assert!(!self.switches.panic_in_orphans.load(Ordering::SeqCst), "a sweep panics");
        self.up()?.orphans(limit).await
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        let leads = self.up()?.try_lead(node, lease).await?;
        self.switches.led.fetch_add(u64::from(leads), Ordering::SeqCst);
        Ok(leads)
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        self.up()?.try_declare(node).await
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        if self.switches.fail_purge.swap(false, Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "this purge fails"));
        }
        self.up()?.purge(state, age, limit).await
    }

    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        if self.switches.fail_purge.swap(false, Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "this purge fails"));
        }
        self.up()?.archive(state, age, limit).await
    }

    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.up()?.purge_archive(state, age, limit).await
    }

    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError> {
        self.up()?.archive_status().await
    }

    async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        self.up()?.command(command).await
    }

    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        self.up()?.update_queue(queue, order).await
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        self.up()?.queues().await
    }

    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError> {
        self.up()?.update_breaker(service, order).await
    }

    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.up()?.breakers().await
    }

    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError> {
        self.up()?.operate(change, note).await
    }

    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        self.up()?.audit(filter, from, oldest_first, limit).await
    }

    async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        self.up()?.audit_head().await
    }

    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        self.up()?.operations(filter, limit).await
    }

    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError> {
        self.up()?.erasable(subject, limit).await
    }

    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError> {
        self.up()?.claim_context(id).await
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        self.up()?.get(id).await
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        self.up()?.list(filter, page).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.up()?.counts().await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.up()?.attempts(id).await
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        self.up()?.logs(id).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.up()?.nodes().await
    }

    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError> {
        self.up()?.catalog().await
    }

    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError> {
        self.up()?.unknown_jobs().await
    }

    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.up()?.alerts(limit).await
    }

    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError> {
        self.up()?.backlogs(limit).await
    }

    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.up()?.take_deliveries(channel, limit, hold).await
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        self.up()?.ack_deliveries(deliveries).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        let store = self.up()?;
        if self.switches.corrupt.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Corrupt, "a page is damaged"));
        }
        let carries = |settlement: &Settlement| {
            matches!(settlement.verdict, Verdict::Succeed { output: Some(_) })
        };
        let refuse_outputs = self.switches.refuse_outputs.load(Ordering::SeqCst);
        if self.switches.refuse_settles.load(Ordering::SeqCst)
            || (refuse_outputs && settlements.iter().any(carries))
        {
            return Err(StoreError::new(StoreErrorKind::Data, "refused"));
        }
        drop(self.switches.settling.lock().await);
        self.switches.settles.fetch_add(1, Ordering::SeqCst);
        store.settle(settlements).await
    }

    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError> {
        let _in_the_air = self.switches.heartbeats.read().await;
        if self.switches.no_heartbeat.load(Ordering::SeqCst) {
            return Err(StoreError::new(StoreErrorKind::Unavailable, "no heartbeat"));
        }
        self.up()?.heartbeat(node, lease).await
    }

    fn runtime(&self) -> Option<Handle> {
        self.inner.runtime()
    }

    async fn has_competing_claimers(
        &self,
        node: NodeId,
        queues: &[QueueDemand],
    ) -> Result<bool, StoreError> {
        self.switches.looks.fetch_add(1, Ordering::SeqCst);
        drop(self.switches.looking.lock().await);
        let competing = self.switches.competing.load(Ordering::SeqCst);
        Ok(competing || self.up()?.has_competing_claimers(node, queues).await?)
    }

    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake> {
        self.inner.subscribe_wakeups()
    }

    fn subscribe_completions(&self) -> broadcast::Receiver<Wake> {
        self.inner.subscribe_completions()
    }
}
