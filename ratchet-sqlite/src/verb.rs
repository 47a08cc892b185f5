//! The write operations of the store as values, which are sent to the writer.

use std::time::Duration;

use async_trait::async_trait;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Acceptor, AuditNote, BreakerChange, BreakerUpdate, Change, ChangeError, ChangeReply, Changed,
    Channel, ClaimReply, ClaimRequest, Command, CommandError, CommandReply, Declarations, Delivery,
    DeliveryId, ErasedRows, Extend, GaugeRow, GraphInserted, HandOff, Heartbeat, InsertError,
    Inserted, JobId, JobState, NewAdmission, NewGraph, NewJob, NodeId, NodeInfo, Orphan,
    QueueUpdate, RunNotes, ScheduleWritten, Settled, Settlement, StatRow, Target, Token,
    WriteSchedule,
};
use tokio::sync::oneshot;

use crate::archive::Copied;
use crate::erasure::Erased;
use crate::error::Fault;
use crate::insert::is_plain;
use crate::session::Session;

/// What the writer must know about an operation before it runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Claims or submits jobs. Refused once the file is known to be damaged.
    NewWork,
    /// A heartbeat. The writer checks the file first.
    Heartbeat,
    /// The writer first overwrites what was deleted, outside of a transaction.
    Scrub,
    Other,
}

/// A write operation. It may be run more than once, and takes effect only when it is committed.
#[async_trait]
pub(crate) trait Verb: Send + Sync + 'static {
    type Answer: Send + 'static;
    const KIND: Kind = Kind::Other;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Answer, sqlx::Error>;

    /// For an insert without keys, returns its jobs and answer, so that inserts of several callers become one
    /// statement.
    fn plain_insert(&self) -> Option<(&[NewJob], Self::Answer)> {
        None
    }
}

/// An operation with the reply channel of its caller.
pub(crate) struct Request<V: Verb> {
    verb: V,
    answer: Option<V::Answer>,
    caller: oneshot::Sender<Result<V::Answer, StoreError>>,
}

/// A type-erased operation.
#[async_trait]
pub(crate) trait AnyRequest: Send {
    /// Runs the operation and keeps the answer.
    async fn run(&mut self, session: &mut Session<'_>) -> Result<(), sqlx::Error>;
    fn kind(&self) -> Kind;
    fn plain_insert(&self) -> Option<&[NewJob]>;
    /// Records that its jobs were inserted together with those of other requests.
    fn inserted(&mut self);
    /// Sends the answer to the caller after the commit.
    fn committed(self: Box<Self>);
    fn failed(self: Box<Self>, fault: Fault);
}

impl<V: Verb> Request<V> {
    pub(crate) fn new(verb: V) -> (Self, oneshot::Receiver<Result<V::Answer, StoreError>>) {
        let (caller, answer) = oneshot::channel();
        (Self { verb, answer: None, caller }, answer)
    }
}

#[async_trait]
impl<V: Verb> AnyRequest for Request<V> {
    async fn run(&mut self, session: &mut Session<'_>) -> Result<(), sqlx::Error> {
        self.answer = Some(self.verb.run(session).await?);
        Ok(())
    }

    fn kind(&self) -> Kind {
        V::KIND
    }

    fn plain_insert(&self) -> Option<&[NewJob]> {
        self.verb.plain_insert().map(|(jobs, _)| jobs)
    }

    fn inserted(&mut self) {
        self.answer = self.verb.plain_insert().map(|(_, answer)| answer);
    }

    fn committed(self: Box<Self>) {
        if let Some(answer) = self.answer {
            // An error means that the caller is gone. The operation is committed regardless.
            let _ = self.caller.send(Ok(answer));
        }
    }

    fn failed(self: Box<Self>, fault: Fault) {
        let _ = self.caller.send(Err(fault.into()));
    }
}

macro_rules! verbs {
    ($($(#[$doc:meta])* $name:ident $(as $kind:ident)? { $($field:ident: $type:ty),* } -> $answer:ty = |$session:ident, $this:ident| $run:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name { $(pub(crate) $field: $type),* }

        #[async_trait]
        impl Verb for $name {
            type Answer = $answer;
            $(const KIND: Kind = Kind::$kind;)?

            async fn run(&self, $session: &mut Session<'_>) -> Result<$answer, sqlx::Error> {
                let $this = self;
                $run.await
            }
        }
    )*};
}

verbs! {
    Claim as NewWork { request: ClaimRequest } -> ClaimReply = |session, this| session.claim(&this.request);
    Settle { settlements: Vec<Settlement> } -> Vec<Settled> = |session, this| session.settle(&this.settlements);
    Report { notes: Vec<(Token, RunNotes)> } -> Vec<bool> = |session, this| session.report(&this.notes);
    ReleaseHolds { tokens: Vec<Token> } -> () = |session, this| session.let_go_all(&this.tokens);
    Join { node: NodeInfo, lease: Duration } -> Result<(), StoreError> =
        |session, this| session.join(&this.node, this.lease);
    RenewLease as Heartbeat { node: NodeId, lease: Duration } -> Heartbeat = |session, this| session.heartbeat(this.node, this.lease);
    Leave { node: NodeId } -> () = |session, this| session.leave(this.node);
    Orphans { limit: u32 } -> Vec<Orphan> = |session, this| session.orphans(this.limit);
    Lead { node: NodeId, lease: Duration } -> bool = |session, this| session.try_lead(this.node, this.lease);
    Declare { node: NodeId } -> bool = |session, this| session.try_declare(this.node);
    Purge { state: JobState, age: Duration, limit: u32 } -> u64 =
        |session, this| session.purge(this.state, this.age, this.limit);
    RemoveArchived { state: JobState, age: Duration, limit: u32, copied: Vec<Copied> } -> u64 =
        |session, this| session.remove_archived(this.state, this.age, this.limit, &this.copied);
    RecordChange { target: Target, note: AuditNote, reply: ChangeReply } -> u64 =
        |session, this| session.record_change(&this.target, &this.note, &this.reply);
    RunCommand { command: Command } -> Result<CommandReply, CommandError> = |session, this| session.command(&this.command);
    UpdateQueue { queue: String, order: QueueUpdate } -> bool =
        |session, this| session.update_queue(&this.queue, this.order.clone());
    UpdateBreaker { service: String, order: BreakerUpdate } -> Option<BreakerChange> =
        |session, this| session.update_breaker(&this.service, this.order.clone());
    Operate { change: Change, note: Option<AuditNote> } -> Result<Changed, ChangeError> =
        |session, this| session.operate(&this.change, this.note.as_ref());
    OperateSubmit as NewWork { change: Change, note: Option<AuditNote> } -> Result<Changed, ChangeError> =
        |session, this| session.operate(&this.change, this.note.as_ref());
    OperateErasure { change: Change, note: Option<AuditNote>, erased: ErasedRows } -> Result<Changed, ChangeError> =
        |session, this| session.operate_erasure(&this.change, this.note.as_ref(), this.erased);
    EraseBelongings { jobs: Vec<Erased> } -> ErasedRows = |session, this| session.erase_belongings(&this.jobs);
    Scrub as Scrub {} -> () = |_session, _this| async { Ok(()) };
    TakeDeliveries { channel: Channel, limit: u32, hold: Duration } -> Vec<Delivery> =
        |session, this| session.hand_out(this.channel, this.limit, this.hold);
    InsertGraph as NewWork { graph: NewGraph } -> Result<GraphInserted, InsertError> =
        |session, this| session.insert_graph(&this.graph);
    AddMembers as NewWork { extend: Extend } -> Result<GraphInserted, InsertError> = |session, this| session.extend(&this.extend);
    ChangeSchedule { write: WriteSchedule } -> ScheduleWritten = |session, this| session.write_schedule(&this.write);
    ForgetRejects { rejects: Vec<(JobId, u64)> } -> () = |session, this| session.forget_rejects(&this.rejects);
    TakeHandOffs { pipeline: String, limit: u32, hold: Duration } -> Vec<HandOff> =
        |session, this| session.take_hand_offs(&this.pipeline, this.limit, this.hold);
    FinishHandOffs { pipeline: String, keys: Vec<String> } -> () =
        |session, this| session.finish_hand_offs(&this.pipeline, &this.keys);
    DeclarePipelines { declarations: Declarations, acceptors: Vec<Acceptor> } -> Vec<String> =
        |session, this| session.declare_pipelines(&this.declarations, &this.acceptors);
    AdmitHandOffs as NewWork { pipeline: String, admissions: Vec<NewAdmission> } -> Result<Vec<bool>, StoreError> =
        |session, this| session.admit_hand_offs(&this.pipeline, &this.admissions);
    LookAgain { jobs: Vec<i64> } -> () = |session, this| session.look_again(&this.jobs);
    RepairUnreadable { job: JobId } -> bool = |session, this| session.repair_unreadable(this.job);
    DropUnreadable { job: JobId } -> bool = |session, this| session.drop_unreadable(this.job);
    WriteStats { source: NodeId, rows: Vec<StatRow> } -> () = |session, this| session.write_stats(this.source, &this.rows);
    FoldStats { node: NodeId, limit: u32 } -> u32 = |session, this| session.fold_stats(this.node, this.limit);
    WriteGauges { node: NodeId, rows: Vec<GaugeRow> } -> bool = |session, this| session.write_gauges(this.node, &this.rows);
    PurgeStats { limit: u32 } -> u64 = |session, this| session.purge_stats(this.limit);
    AckDeliveries { deliveries: Vec<DeliveryId> } -> () = |session, this| session.ack_deliveries(&this.deliveries);
}

/// Settles, then claims, in one transaction.
pub(crate) struct SettleAndClaim {
    pub(crate) settlements: Vec<Settlement>,
    pub(crate) request: ClaimRequest,
}

#[async_trait]
impl Verb for SettleAndClaim {
    type Answer = (Vec<Settled>, ClaimReply);

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Answer, sqlx::Error> {
        let settled = session.settle(&self.settlements).await?;
        if session.damaged {
            // The outcomes are kept. The next claim by itself reports why nothing is claimed.
            return Ok((settled, ClaimReply::default()));
        }
        Ok((settled, session.claim(&self.request).await?))
    }
}

/// Inserts jobs, all or none.
pub(crate) struct Insert {
    pub(crate) jobs: Vec<NewJob>,
}

#[async_trait]
impl Verb for Insert {
    type Answer = Result<Vec<Inserted>, InsertError>;
    const KIND: Kind = Kind::NewWork;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Answer, sqlx::Error> {
        session.insert(&self.jobs).await
    }

    fn plain_insert(&self) -> Option<(&[NewJob], Self::Answer)> {
        let created = || self.jobs.iter().map(|job| Inserted::Created(job.id)).collect();
        self.jobs.iter().all(is_plain).then(|| (self.jobs.as_slice(), Ok(created())))
    }
}
