//! The operations of the store that change something, each applied to the subject of a scene.

use std::time::Duration;

use ratchet_pg::PgStore;
use ratchet_store::InsertInTx as _;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Acceptor, Actor, AttemptOutcome, AuditNote, BreakerUpdate, CancelCause, Change, ChangeError,
    Command, CommandError, Declarations, Deferral, Due, Extend, Filter, GaugeRow, InsertError,
    JobState, NewAdmission, NewGraph, NewHandOff, OperationUpdate, Placement, QueueUpdate,
    RunNotes, Settlement, StatRow, StatsTier, Verdict, WriteSchedule,
};
use ratchet_store::{Store as _, StoreError};
use sqlx::Connection as _;

use crate::scene::{KEY, LANE, Place, Scene};
use crate::support::{fail, lingering, release, retry, succeed};

macro_rules! verbs {
    ($($verb:ident of $store:literal,)+) => {
        /// An operation. `of` is the method of the store that it calls.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Verb { $($verb,)+ }

        impl Verb {
            pub(crate) const ALL: &'static [Self] = &[$(Self::$verb,)+];

            /// Returns the method of the store.
            pub(crate) fn of(self) -> &'static str {
                match self { $(Self::$verb => $store,)+ }
            }
        }
    };
}

verbs! {
    Submit of "insert",
    SubmitInTx of "insert",
    SubmitSql of "insert",
    SubmitGraph of "insert_graph",
    Extend of "add_members",
    Claim of "claim",
    Succeed of "settle",
    SucceedAndClaim of "settle_and_claim",
    Fail of "settle",
    Retry of "settle",
    Defer of "settle",
    Release of "settle",
    ReleaseAndClaim of "settle",
    Linger of "settle",
    SucceedWithChild of "settle",
    Rescue of "settle",
    LetGo of "release_holds",
    Report of "write_notes",
    Pause of "command",
    Resume of "command",
    Cancel of "command",
    CancelInTx of "command",
    Reschedule of "command",
    RescheduleInTx of "command",
    MoveToOtherQueue of "command",
    RetryByHand of "command",
    Redrive of "command",
    CancelGroup of "command",
    Purge of "purge",
    DropRange of "purge",
    Archive of "archive",
    ArchiveRange of "archive",
    PurgeArchive of "purge_archive",
    Sweep of "orphans",
    Lead of "try_lead",
    HandOff of "settle",
    Admit of "admit_hand_offs",
    DeclarePipelines of "declare_pipelines",
    Declare of "try_declare",
    Heartbeat of "heartbeat",
    Leave of "leave",
    Join of "join",
    PauseQueue of "update_queue",
    OpenBreaker of "update_breaker",
    Fire of "write_schedule",
    Repair of "repair_unreadable",
    Drop of "drop_unreadable",
    Operate of "operate",
    Edit of "operate",
    Erase of "operate",
    WriteStats of "write_stats",
    FoldStats of "fold_stats",
    WriteGauges of "write_gauges",
    PurgeStats of "purge_stats",
}

/// The pipeline of the operations about hand-offs.
const PIPELINE: &str = "pages";

/// The result of an operation. Refusals count as success, failures of the store do not.
type Ran = Result<(), StoreError>;

fn inserted<T>(answer: Result<T, InsertError>) -> Ran {
    match answer {
        Err(InsertError::Store(error)) => Err(error),
        _ => Ok(()),
    }
}

fn commanded<T>(answer: Result<T, CommandError>) -> Ran {
    match answer {
        // A command on an unreadable job is refused.
        Err(CommandError::Store(error)) if error.to_string().contains("repair_unreadable") => {
            Ok(())
        }
        Err(CommandError::Store(error)) => Err(error),
        _ => Ok(()),
    }
}

impl Verb {
    /// Returns whether a scene has something for this operation to act on.
    pub(crate) fn fits(self, place: Place) -> bool {
        match self {
            Self::Succeed
            | Self::SucceedAndClaim
            | Self::Fail
            | Self::Retry
            | Self::Defer
            | Self::Release
            | Self::ReleaseAndClaim
            | Self::Linger
            | Self::SucceedWithChild
            | Self::HandOff
            | Self::Rescue
            | Self::Report => place.has_run(),
            Self::LetGo => place.has_late_run(),
            Self::Extend | Self::CancelGroup => place.has_group(),
            Self::Fire => place == Place::Scheduled,
            Self::Repair | Self::Drop => place.is_damaged(),
            // A command with an entry in the audit trail; the command itself is tested everywhere.
            Self::Operate => {
                matches!(
                    place,
                    Place::Ready | Place::Running | Place::Failed | Place::Paused | Place::Step
                )
            }
            Self::Edit => matches!(place, Place::Failed),
            // They touch no jobs of the scene, so that one scene is as good as another.
            Self::Admit
            | Self::DeclarePipelines
            | Self::WriteStats
            | Self::FoldStats
            | Self::WriteGauges
            | Self::PurgeStats => place == Place::Running,
            _ => true,
        }
    }

    #[allow(clippy::too_many_lines, reason = "a table of verbs")]
    pub(crate) async fn run(self, store: PgStore, scene: Scene) -> Ran {
        let id = scene.subject;
        match self {
            Self::Submit => inserted(store.insert(vec![scene.keyed()]).await),
            Self::SubmitInTx => {
                let job = scene.keyed();
                let mut db = connect(&scene).await;
                let mut tx = db.begin().await.expect("begins");
                let answer = store.insert_in_tx(&mut tx, &[job]).await;
                crash_point(CrashPoint::CommitBefore);
                tx.commit().await.expect("commits");
                inserted(answer)
            }
            Self::SubmitSql => {
                let sql = "SELECT ratchet.enqueue('mail', '{}', business_key => $1)";
                let mut db = connect(&scene).await;
                let mut tx = db.begin().await.expect("begins");
                // A refusal because the key is taken is fine.
                if sqlx::query(sql).bind(KEY).execute(&mut *tx).await.is_ok() {
                    crash_point(CrashPoint::CommitBefore);
                    tx.commit().await.expect("commits");
                }
                Ok(())
            }
            Self::SubmitGraph => {
                let jobs = vec![scene.keyed(), scene.plain()];
                inserted(store.insert_graph(NewGraph { jobs, ..NewGraph::default() }).await)
            }
            Self::Extend => {
                let group = scene.group.expect("fits");
                let jobs = vec![scene.more(group)];
                inserted(store.add_members(Extend { group, jobs, seal: true }).await)
            }
            Self::Claim => store.claim(Scene::request(scene.node)).await.map(drop),
            Self::SucceedAndClaim => {
                let settlements = vec![succeed(scene.run.as_ref().expect("fits"))];
                let request = Scene::request(scene.node);
                store.settle_and_claim(settlements, request).await.map(drop)
            }
            Self::Succeed
            | Self::Fail
            | Self::Retry
            | Self::Defer
            | Self::Release
            | Self::Linger
            | Self::SucceedWithChild
            | Self::HandOff
            | Self::Rescue => store.settle(vec![self.settlement(&scene)]).await.map(drop),
            Self::ReleaseAndClaim => {
                store.settle(vec![self.settlement(&scene)]).await?;
                store.claim(Scene::request(scene.node)).await.map(drop)
            }
            Self::LetGo => {
                store.release_holds(vec![scene.late.as_ref().expect("fits").token]).await
            }
            Self::Report => {
                let mut notes = RunNotes::default();
                notes.warnings.push("slow".to_owned());
                let token = scene.run.as_ref().expect("fits").token;
                store.write_notes(vec![(token, notes)]).await.map(drop)
            }
            Self::Operate => {
                let pause = Change::Command { command: Command::Pause(id), version: None };
                let verb = "jobs.pause".to_owned();
                let note = AuditNote::new(Actor::new("ada"), verb);
                commanded(store.operate(pause, Some(note)).await.map_err(|error| match error {
                    ChangeError::Command(error) => error,
                    ChangeError::Store(error) => CommandError::Store(error),
                    other => panic!("a command has another error: {other}"),
                }))
            }
            Self::Edit => {
                let successor = Box::new(scene.keyed());
                let edit = Change::Successor { original: id, version: None, successor };
                match store.operate(edit, None).await {
                    Err(ChangeError::Insert(error)) => inserted::<()>(Err(error)),
                    Err(ChangeError::Command(error)) => commanded::<()>(Err(error)),
                    Err(ChangeError::Store(error)) => Err(error),
                    _ => Ok(()),
                }
            }
            Self::Erase => {
                let erasure = scene.erasure();
                let (id, version, jobs) = (erasure.id, erasure.version, vec![scene.subject]);
                let page = OperationUpdate::Page { id, version, jobs, last: false };
                for update in [OperationUpdate::Start(erasure), page] {
                    match store.operate(Change::Operation(update), None).await {
                        Err(ChangeError::Command(error)) => commanded::<()>(Err(error))?,
                        Err(ChangeError::Store(error)) => return Err(error),
                        _ => {}
                    }
                }
                Ok(())
            }
            Self::Pause => commanded(store.command(Command::Pause(id)).await),
            Self::Resume => commanded(store.command(Command::Resume(id)).await),
            Self::Cancel => {
                commanded(store.command(Command::Cancel(id, CancelCause::Requested)).await)
            }
            Self::Reschedule => commanded(store.command(Command::Reschedule(id, later())).await),
            Self::MoveToOtherQueue => {
                let placement = Placement::default().queue("elsewhere");
                commanded(store.command(Command::Move(id, placement)).await)
            }
            Self::CancelInTx | Self::RescheduleInTx => {
                let mut db = connect(&scene).await;
                let mut tx = db.begin().await.expect("begins");
                let answer = match self {
                    Self::CancelInTx => store.cancel_in_tx(&mut tx, id).await,
                    _ => store.reschedule_in_tx(&mut tx, id, later()).await,
                };
                crash_point(CrashPoint::CommitBefore);
                tx.commit().await.expect("commits");
                commanded(answer)
            }
            Self::RetryByHand => commanded(store.command(Command::Retry(id)).await),
            Self::Redrive => {
                let redrive = Command::Redrive { filter: Filter::default(), limit: 10 };
                commanded(store.command(redrive).await)
            }
            Self::CancelGroup => {
                commanded(store.command(Command::CancelGroup(scene.group.expect("fits"))).await)
            }
            Self::Purge => {
                for state in [JobState::Failed, JobState::Canceled] {
                    store.purge(state, Duration::ZERO, 100).await?;
                }
                Ok(())
            }
            Self::DropRange => {
                store.purge(JobState::Succeeded, Duration::ZERO, 100).await.map(drop)
            }
            Self::Archive => {
                for state in [JobState::Failed, JobState::Canceled] {
                    store.archive(state, Duration::ZERO, 100).await?;
                }
                Ok(())
            }
            Self::ArchiveRange => {
                store.archive(JobState::Succeeded, Duration::ZERO, 100).await.map(drop)
            }
            Self::PurgeArchive => {
                store.purge_archive(JobState::Succeeded, Duration::ZERO, 100).await.map(drop)
            }
            Self::Sweep => store.orphans(100).await.map(drop),
            Self::Declare => store.try_declare(scene.node).await.map(drop),
            // The hand-off is there if the other operation has handed it over.
            Self::Admit => {
                let admission = NewAdmission { key: "page".to_owned(), job: scene.plain() };
                store.admit_hand_offs(PIPELINE, vec![admission]).await.map(drop)
            }
            Self::DeclarePipelines => {
                let declarations = Declarations::default();
                let acceptor = Acceptor {
                    pipeline: PIPELINE.to_owned(),
                    job: "mail".to_owned(),
                    backlog_limit: Some(1),
                };
                store.declare_pipelines(&declarations, &[acceptor]).await.map(drop)
            }
            Self::Lead => store.try_lead(scene.node, Duration::from_mins(1)).await.map(drop),
            Self::Heartbeat => {
                store.heartbeat(scene.node, Duration::from_hours(1000)).await.map(drop)
            }
            Self::Leave => store.leave(scene.node).await,
            Self::Join => {
                let info = ratchet_store::model::NodeInfo::new(scene.node);
                // A node that has left cannot join again.
                let _ = store.join(info, Duration::from_hours(1)).await;
                Ok(())
            }
            Self::PauseQueue => {
                store.update_queue("default", QueueUpdate::Pause).await?;
                store.update_queue("default", QueueUpdate::Resume).await.map(drop)
            }
            Self::OpenBreaker => {
                store.update_breaker(LANE, BreakerUpdate::Open(None)).await?;
                store.update_breaker(LANE, BreakerUpdate::Close).await.map(drop)
            }
            Self::Fire => {
                let schedule = scene.schedule.clone().expect("fits");
                let mut job = scene.plain();
                job.spec.idempotency_key = Some("occurrence".to_owned());
                let mut record = schedule.clone();
                record.next = None;
                let write = WriteSchedule {
                    name: schedule.name.clone(),
                    replaces: Some(schedule.version),
                    record: Some(record),
                    declarations: None,
                    jobs: vec![job],
                    notices: Vec::new(),
                };
                store.write_schedule(write).await.map(drop)
            }
            Self::Repair => {
                let mend = "UPDATE ratchet.job SET extra = NULL WHERE id = $1";
                let mend = sqlx::query(mend).bind(id.uuid());
                mend.execute(&mut connect(&scene).await).await.expect("writes");
                store.repair_unreadable(id).await.map(drop)
            }
            Self::Drop => store.drop_unreadable(id).await.map(drop),
            Self::WriteStats => {
                let slot = StatsTier::Minute.slot_of(store.now().await?);
                let mut row = StatRow::new(slot, "default", "mail");
                row.counts.started = 1;
                store.write_stats(scene.node, vec![row]).await
            }
            Self::FoldStats => {
                store.try_lead(scene.node, Duration::from_mins(1)).await?;
                store.fold_stats(scene.node, 10).await.map(drop)
            }
            Self::WriteGauges => {
                store.try_lead(scene.node, Duration::from_mins(1)).await?;
                let sample = GaugeRow::new(0, "default", store.now().await?);
                store.write_gauges(scene.node, vec![sample]).await.map(drop)
            }
            Self::PurgeStats => store.purge_stats(100).await.map(drop),
        }
    }

    fn settlement(self, scene: &Scene) -> Settlement {
        let run = scene.run.as_ref().expect("fits");
        match self {
            Self::Fail => fail(run),
            Self::Retry => retry(run),
            Self::Linger => lingering(retry(run)),
            Self::Release | Self::ReleaseAndClaim => release(run),
            Self::Rescue => {
                let verdict = Verdict::Rescue { delay: Duration::ZERO, crashes: 1 };
                Settlement::new(run.token, verdict, AttemptOutcome::Crashed)
            }
            Self::Defer => {
                let verdict = Verdict::Defer {
                    delay: Duration::from_secs(5),
                    why: Deferral::Snooze,
                    note: "later".to_owned(),
                };
                Settlement::new(run.token, verdict, AttemptOutcome::Snoozed)
            }
            Self::HandOff => {
                let mut settlement = succeed(run);
                let checkpoint = serde_json::json!({ "page": 1 });
                settlement.hand_offs.push(NewHandOff::new(PIPELINE, "page", checkpoint));
                settlement.refused_hand_offs.push((PIPELINE.to_owned(), 1));
                settlement
            }
            Self::SucceedWithChild => {
                let mut settlement = succeed(run);
                settlement.spawned.push(scene.keyed());
                settlement
            }
            _ => succeed(run),
        }
    }
}

fn later() -> Due {
    Due::In(Duration::from_mins(5))
}

async fn connect(scene: &Scene) -> sqlx::PgConnection {
    sqlx::PgConnection::connect(&scene.url).await.expect("connects")
}
