//! [`ProtectedStore`]: the boundary at which jobs are signed, encrypted, verified and decrypted.

use std::collections::BTreeMap;
use std::sync::Arc;
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

use super::{Protector, refused};

/// A store whose content is signed and encrypted. Methods that carry no content of jobs are forwarded.
#[derive(Debug)]
pub(crate) struct ProtectedStore {
    inner: Arc<dyn Store>,
    protector: Arc<Protector>,
}

impl ProtectedStore {
    pub(crate) fn new(inner: Arc<dyn Store>, protector: Arc<Protector>) -> Self {
        Self { inner, protector }
    }

    /// Returns the store without protection, for submits in a transaction of the application.
    pub(crate) fn inner(&self) -> &dyn Store {
        self.inner.as_ref()
    }

    async fn open_claims(&self, reply: &mut ClaimReply) {
        for claimed in &mut reply.jobs {
            self.protector.open_claimed(claimed).await;
        }
    }

    async fn protect_settlements(&self, mut settlements: Vec<Settlement>) -> Vec<Settlement> {
        for settlement in &mut settlements {
            self.protector.protect_settlement(settlement).await;
        }
        settlements
    }
}

#[async_trait]
impl Store for ProtectedStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.inner.now().await
    }

    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        let mut jobs = jobs;
        for job in &mut jobs {
            self.protector.protect(job, false).await.map_err(|error| refused(&error))?;
        }
        self.inner.insert(jobs).await
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        let mut graph = graph;
        self.protector.protect_graph(&mut graph).await.map_err(|error| refused(&error))?;
        self.inner.insert_graph(graph).await
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        let mut extend = extend;
        for job in &mut extend.jobs {
            self.protector.protect(job, false).await.map_err(|error| refused(&error))?;
        }
        self.inner.add_members(extend).await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        let mut reply = self.inner.claim(request).await?;
        self.open_claims(&mut reply).await;
        Ok(reply)
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        let settlements = self.protect_settlements(settlements).await;
        self.inner.settle(settlements).await
    }

    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        let settlements = self.protect_settlements(settlements).await;
        let (settled, mut reply) = self.inner.settle_and_claim(settlements, request).await?;
        self.open_claims(&mut reply).await;
        Ok((settled, reply))
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
        let mut orphans = self.inner.orphans(limit).await?;
        for orphan in &mut orphans {
            self.protector.open_claimed(&mut orphan.claimed).await;
        }
        Ok(orphans)
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        self.inner.try_lead(node, lease).await
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        self.inner.try_declare(node).await
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
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
        let note = note.map(|note| AuditNote { signer: self.protector.audit_signer(), ..note });
        let mut change = change;
        match &mut change {
            Change::Submit(jobs) => {
                for job in jobs {
                    self.protector.protect(job, false).await.map_err(|error| refused(&error))?;
                }
            }
            Change::Successor { successor, .. } => {
                self.protector.protect(successor, false).await.map_err(|error| refused(&error))?;
            }
            Change::Schedule(write) => self.protector.protect_write(write).await?,
            _ => {}
        }
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
        let mut context = self.inner.claim_context(id).await?;
        if let Some(context) = &mut context {
            self.protector.open_record(&mut context.job);
        }
        Ok(context)
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        let mut job = self.inner.get(id).await?;
        job.iter_mut().for_each(|job| self.protector.open_record(job));
        Ok(job)
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        let mut page = self.inner.list(filter, page).await?;
        page.jobs.iter_mut().for_each(|job| self.protector.open_record(job));
        Ok(page)
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

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.inner.counts().await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        let mut attempts = self.inner.attempts(id).await?;
        attempts.iter_mut().for_each(|attempt| self.protector.open_attempt(id, attempt));
        Ok(attempts)
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        let mut lines = self.inner.logs(id).await?;
        lines.iter_mut().for_each(|line| self.protector.open_log(id, line));
        Ok(lines)
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
        let mut alerts = self.inner.alerts(limit).await?;
        alerts.iter_mut().for_each(|alert| self.protector.open_alert(alert));
        Ok(alerts)
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
        let mut deliveries = self.inner.take_deliveries(channel, limit, hold).await?;
        deliveries.iter_mut().for_each(|delivery| self.protector.open_delivery(delivery));
        Ok(deliveries)
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        self.inner.ack_deliveries(deliveries).await
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        let mut schedule = self.inner.schedule(name).await?;
        if let Some(schedule) = &mut schedule {
            self.protector.open_schedule(schedule).await;
        }
        Ok(schedule)
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        let mut schedules = self.inner.schedules().await?;
        for schedule in &mut schedules {
            self.protector.open_schedule(schedule).await;
        }
        Ok(schedules)
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        let mut schedules = self.inner.due_schedules(limit).await?;
        for schedule in &mut schedules {
            self.protector.open_schedule(schedule).await;
        }
        Ok(schedules)
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        let mut write = write;
        self.protector.protect_write(&mut write).await?;
        self.inner.write_schedule(write).await
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

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        let mut taken = self.inner.take_hand_offs(pipeline, limit, hold).await?;
        taken.iter_mut().for_each(|hand_off| self.protector.open_hand_off(hand_off));
        Ok(taken)
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
        let mut admissions = admissions;
        for NewAdmission { job, .. } in &mut admissions {
            self.protector.protect(job, false).await.map_err(|error| refused(&error))?;
        }
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

    async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.inner.repair_unreadable(id).await
    }

    async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.inner.drop_unreadable(id).await
    }

    async fn has_competing_claimers(
        &self,
        node: NodeId,
        queues: &[QueueDemand],
    ) -> Result<bool, StoreError> {
        self.inner.has_competing_claimers(node, queues).await
    }

    fn runtime(&self) -> Option<Handle> {
        self.inner.runtime()
    }

    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake> {
        self.inner.subscribe_wakeups()
    }

    fn subscribe_completions(&self) -> broadcast::Receiver<Wake> {
        self.inner.subscribe_completions()
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        let mut notes = notes;
        for (token, notes) in &mut notes {
            self.protector.protect_notes(token.job, notes).await;
        }
        self.inner.write_notes(notes).await
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        let mut rejects = self.inner.rejects(filter, after, limit).await?;
        rejects.iter_mut().for_each(|reject| self.protector.open_reject(reject));
        Ok(rejects)
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        self.inner.forget_rejects(rejects).await
    }
}
