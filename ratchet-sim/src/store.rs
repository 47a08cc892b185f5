//! The store as one node sees it: every call goes over the node's wire.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use ratchet_memory::{Inspection, MemoryStore};
use ratchet_store::model::{
    Acceptor, Alert, ArchiveStatus, AttemptRecord, AuditFilter, AuditHead, AuditNote, AuditRecord,
    Backlog, BreakerChange, BreakerRecord, BreakerUpdate, CatalogRecord, Change, ChangeError,
    ChangeReply, Changed, Channel, ClaimReply, ClaimRequest, Command, CommandError, CommandReply,
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
use ratchet_store::{Store, StoreError, Wake};
use tokio::sync::broadcast;

use crate::bugs;
use crate::op::Op;
use crate::oracle::Oracle;
use crate::wire::{FaultyStore, at_once, settle, settle_and_claim};
use crate::world::World;

#[async_trait]
impl Store for FaultyStore {
    async fn now(&self) -> Result<Timestamp, StoreError> {
        self.plain(Op::Now, |store| at_once(store.now())).await?
    }

    async fn insert(&self, jobs: Vec<NewJob>) -> Result<Vec<Inserted>, InsertError> {
        self.plain(Op::Insert, |store| at_once(store.insert(jobs))).await?
    }

    async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, InsertError> {
        self.plain(Op::InsertGraph, |store| at_once(store.insert_graph(graph))).await?
    }

    async fn add_members(&self, extend: Extend) -> Result<GraphInserted, InsertError> {
        self.plain(Op::Extend, |store| at_once(store.add_members(extend))).await?
    }

    async fn claim(&self, request: ClaimRequest) -> Result<ClaimReply, StoreError> {
        let (owner, asked) = (self.owner, request.clone());
        let claim = move |world: &Arc<World>| {
            world.commit(
                owner,
                Op::Claim,
                |store| at_once(store.claim(request)).unwrap_or_default(),
                |oracle, view, reply| oracle.claimed(view, owner, &asked, reply),
            )
        };
        self.send_claim(Op::Claim, claim, |reply| reply).await
    }

    async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, StoreError> {
        let owner = self.owner;
        self.maybe_again(&settlements);
        self.send(Op::Settle, move |world| settle(world, owner, Op::Settle, settlements)).await
    }

    async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), StoreError> {
        let owner = self.owner;
        self.maybe_again(&settlements);
        let both = move |world: &Arc<World>| settle_and_claim(world, owner, settlements, request);
        self.send_claim(Op::SettleAndClaim, both, |(_, reply)| reply).await
    }

    async fn write_notes(&self, notes: Vec<(Token, RunNotes)>) -> Result<Vec<bool>, StoreError> {
        self.plain(Op::Report, |store| at_once(store.write_notes(notes))).await?
    }

    async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        self.plain(Op::LetGo, |store| at_once(store.release_holds(tokens))).await?
    }

    async fn join(&self, node: NodeInfo, lease: Duration) -> Result<(), StoreError> {
        let (id, owner) = (node.id, self.owner);
        self.ask(
            Op::Join,
            move |store| at_once(store.join(node, lease)),
            move |oracle, view, joined| {
                if joined.is_ok() {
                    oracle.joined(view, owner, id, lease);
                }
            },
        )
        .await?
    }

    async fn heartbeat(&self, node: NodeId, lease: Duration) -> Result<Heartbeat, StoreError> {
        self.give_back_lost().await?;
        self.ask(
            Op::Heartbeat,
            move |store| at_once(store.heartbeat(node, lease)),
            move |oracle, view, beat| {
                if let Ok(beat) = beat {
                    oracle.beat(view, node, lease, beat);
                }
            },
        )
        .await?
    }

    async fn leave(&self, node: NodeId) -> Result<(), StoreError> {
        self.ask(
            Op::Leave,
            move |store| at_once(store.leave(node)),
            move |oracle, _, _| oracle.left(node),
        )
        .await?
    }

    async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, StoreError> {
        let owner = self.owner;
        let orphans = self.send(Op::Orphans, move |world| {
            let orphans = world.commit(
                owner,
                Op::Orphans,
                |store| at_once(store.orphans(limit)),
                |_, _, _| {},
            );
            orphans.map(|orphans| bugs::hasty_rescue(world, orphans))
        });
        orphans.await?
    }

    async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, StoreError> {
        self.plain(Op::Lead, move |store| at_once(store.try_lead(node, lease))).await?
    }

    async fn try_declare(&self, node: NodeId) -> Result<bool, StoreError> {
        self.plain(Op::Declare, move |store| at_once(store.try_declare(node))).await?
    }

    async fn purge(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        self.plain(Op::Purge, move |store| at_once(store.purge(state, age, limit))).await?
    }

    async fn archive(&self, state: JobState, age: Duration, limit: u32) -> Result<u64, StoreError> {
        self.plain(Op::Archive, move |store| at_once(store.archive(state, age, limit))).await?
    }

    async fn purge_archive(
        &self,
        state: JobState,
        age: Duration,
        limit: u32,
    ) -> Result<u64, StoreError> {
        self.plain(Op::PurgeArchive, move |store| at_once(store.purge_archive(state, age, limit)))
            .await?
    }

    async fn archive_status(&self) -> Result<ArchiveStatus, StoreError> {
        self.world.store.archive_status().await
    }

    async fn command(&self, command: Command) -> Result<CommandReply, CommandError> {
        let op = match command {
            Command::Retry(_) | Command::Redrive { .. } => Op::Revive,
            _ => Op::Command,
        };
        self.plain(op, |store| at_once(store.command(command))).await?
    }

    async fn update_queue(&self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        let (queue, named, ordered) = (queue.to_owned(), queue.to_owned(), order.clone());
        self.ask(
            Op::UpdateQueue,
            move |store| at_once(store.update_queue(&queue, order)),
            move |oracle, view, _| oracle.queue_ordered(view, &named, ordered),
        )
        .await?
    }

    async fn queues(&self) -> Result<Vec<QueueRecord>, StoreError> {
        self.plain(Op::Read, |store| at_once(store.queues())).await?
    }

    async fn update_breaker(
        &self,
        service: &str,
        order: BreakerUpdate,
    ) -> Result<Option<BreakerChange>, StoreError> {
        let (service, named, ordered) = (service.to_owned(), service.to_owned(), order.clone());
        self.ask(
            Op::UpdateBreaker,
            move |store| at_once(store.update_breaker(&service, order)),
            move |oracle, view, _| oracle.breaker_ordered(view, &named, ordered),
        )
        .await?
    }

    async fn breakers(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.plain(Op::Read, |store| at_once(store.breakers())).await?
    }

    async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, ChangeError> {
        let op = match &change {
            Change::Command { command: Command::Retry(_) | Command::Redrive { .. }, .. }
            | Change::Operation(_) => Op::Revive,
            _ => Op::Command,
        };
        self.ask(
            op,
            |store| at_once(store.operate(change, note)),
            |oracle, view, changed| {
                if let Ok(Changed { reply: ChangeReply::Operation(reply), .. }) = changed {
                    oracle.operation_changed(view, reply);
                }
            },
        )
        .await?
    }

    async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let filter = filter.clone();
        let list =
            move |store: &MemoryStore| at_once(store.audit(&filter, from, oldest_first, limit));
        self.plain(Op::Read, list).await?
    }

    async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        self.plain(Op::Read, |store| at_once(store.audit_head())).await?
    }

    async fn operations(
        &self,
        filter: OperationFilter,
        limit: u32,
    ) -> Result<Vec<OperationRecord>, StoreError> {
        self.plain(Op::Read, move |store| at_once(store.operations(filter, limit))).await?
    }

    async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, StoreError> {
        let subject = subject.clone();
        self.plain(Op::Read, move |store| at_once(store.erasable(&subject, limit))).await?
    }

    async fn claim_context(&self, id: JobId) -> Result<Option<ClaimContext>, StoreError> {
        self.plain(Op::Read, move |store| at_once(store.claim_context(id))).await?
    }

    async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        self.plain(Op::Read, move |store| at_once(store.get(id))).await?
    }

    async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        let filter = filter.clone();
        self.plain(Op::Read, move |store| at_once(store.list(&filter, page))).await?
    }

    async fn group(&self, id: GroupId) -> Result<Option<GroupRecord>, StoreError> {
        self.plain(Op::Read, move |store| at_once(store.group(id))).await?
    }

    async fn schedules(&self) -> Result<Vec<ScheduleRecord>, StoreError> {
        self.plain(Op::Schedules, |store| at_once(store.schedules())).await?
    }

    async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, StoreError> {
        let name = name.to_owned();
        self.plain(Op::Schedules, move |store| at_once(store.schedule(&name))).await?
    }

    async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, StoreError> {
        self.plain(Op::DueSchedules, move |store| at_once(store.due_schedules(limit))).await?
    }

    async fn write_schedule(&self, write: WriteSchedule) -> Result<ScheduleWritten, StoreError> {
        self.plain(Op::WriteSchedule, |store| at_once(store.write_schedule(write))).await?
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.plain(Op::Read, |store| at_once(store.nodes())).await?
    }

    fn subscribe_wakeups(&self) -> broadcast::Receiver<Wake> {
        self.world.listen(self.owner)
    }

    // Calls that neither the engine nor the workload uses bypass the wire.

    async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        self.world.store.groups(filter, before, limit).await
    }

    async fn members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        self.world.store.members(group, after, limit).await
    }

    async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, StoreError> {
        self.world.store.edges(parents).await
    }

    async fn counts(&self) -> Result<Counts, StoreError> {
        self.world.store.counts().await
    }

    async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.world.store.attempts(id).await
    }

    async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        self.world.store.logs(id).await
    }

    async fn catalog(&self) -> Result<Vec<CatalogRecord>, StoreError> {
        self.plain(Op::Read, |store| at_once(store.catalog())).await?
    }

    async fn unknown_jobs(&self) -> Result<Vec<UnknownJob>, StoreError> {
        self.world.store.unknown_jobs().await
    }

    async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.world.store.alerts(limit).await
    }

    async fn backlogs(&self, limit: u32) -> Result<Vec<Backlog>, StoreError> {
        self.world.store.backlogs(limit).await
    }

    async fn take_deliveries(
        &self,
        channel: Channel,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.world.store.take_deliveries(channel, limit, hold).await
    }

    async fn ack_deliveries(&self, deliveries: Vec<DeliveryId>) -> Result<(), StoreError> {
        self.world.store.ack_deliveries(deliveries).await
    }

    async fn rejects(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        self.world.store.rejects(filter, after, limit).await
    }

    async fn reject_groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        self.world.store.reject_groups(filter).await
    }

    async fn reject_counts(
        &self,
        filter: &RejectFilter,
        interval: Duration,
    ) -> Result<Vec<RejectCount>, StoreError> {
        self.world.store.reject_counts(filter, interval).await
    }

    async fn forget_rejects(&self, rejects: &[(JobId, u64)]) -> Result<(), StoreError> {
        self.world.store.forget_rejects(rejects).await
    }

    async fn take_hand_offs(
        &self,
        pipeline: &str,
        limit: u32,
        hold: Duration,
    ) -> Result<Vec<HandOff>, StoreError> {
        self.world.store.take_hand_offs(pipeline, limit, hold).await
    }

    async fn finish_hand_offs(&self, pipeline: &str, keys: &[String]) -> Result<(), StoreError> {
        self.world.store.finish_hand_offs(pipeline, keys).await
    }

    async fn hand_off_stats(&self, pipeline: &str) -> Result<HandOffStats, StoreError> {
        self.world.store.hand_off_stats(pipeline).await
    }

    async fn declare_pipelines(
        &self,
        declarations: &Declarations,
        acceptors: &[Acceptor],
    ) -> Result<Vec<String>, StoreError> {
        self.world.store.declare_pipelines(declarations, acceptors).await
    }

    async fn pipelines(&self, pipeline: Option<&str>) -> Result<Vec<PipelineRecord>, StoreError> {
        self.world.store.pipelines(pipeline).await
    }

    async fn admit_hand_offs(
        &self,
        pipeline: &str,
        admissions: Vec<NewAdmission>,
    ) -> Result<Vec<bool>, StoreError> {
        self.world.store.admit_hand_offs(pipeline, admissions).await
    }

    async fn admission(&self, job: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        self.world.store.admission(job).await
    }

    async fn write_stats(&self, source: NodeId, rows: Vec<StatRow>) -> Result<(), StoreError> {
        let written = rows.clone();
        let write = move |store: &MemoryStore| at_once(store.write_stats(source, rows));
        let judge = move |oracle: &mut Oracle, _: &Inspection<'_>, _: &_| {
            oracle.stats_written(source, &written);
        };
        self.ask(Op::WriteStats, write, judge).await?
    }

    async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, StoreError> {
        self.plain(Op::FoldStats, move |store| at_once(store.fold_stats(node, limit))).await?
    }

    async fn write_gauges(&self, node: NodeId, rows: Vec<GaugeRow>) -> Result<bool, StoreError> {
        self.plain(Op::WriteGauges, move |store| at_once(store.write_gauges(node, rows))).await?
    }

    async fn purge_stats(&self, limit: u32) -> Result<u64, StoreError> {
        self.plain(Op::PurgeStats, move |store| at_once(store.purge_stats(limit))).await?
    }

    async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, StoreError> {
        self.world.store.stats(query).await
    }

    async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        self.plain(Op::Read, |store| at_once(store.oldest_due())).await?
    }

    async fn unreadable(&self, limit: u32) -> Result<Vec<Unreadable>, StoreError> {
        self.world.store.unreadable(limit).await
    }

    async fn count_unreadable(&self) -> Result<u64, StoreError> {
        self.world.store.count_unreadable().await
    }

    async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        self.world.store.succession(id).await
    }

    async fn content(
        &self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> Result<ContentPage, StoreError> {
        self.world.store.content(place, after, limit).await
    }

    async fn failure_marks(&self) -> Result<Vec<FailureMark>, StoreError> {
        self.world.store.failure_marks().await
    }

    async fn vitals(&self, thorough: bool) -> Result<Vitals, StoreError> {
        self.world.store.vitals(thorough).await
    }

    async fn repair_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.world.store.repair_unreadable(id).await
    }

    async fn drop_unreadable(&self, id: JobId) -> Result<bool, StoreError> {
        self.world.store.drop_unreadable(id).await
    }
}
