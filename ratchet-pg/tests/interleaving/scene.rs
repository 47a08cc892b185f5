//! The scenes: one job with a business key and a concurrency key, in each of the states and places that a job can have.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    BulkVerb, ClaimRequest, Claimed, Command, ConcurrencyKey, Due, Edge, EdgeTrigger, ErasurePhase,
    ErasureSubject, GroupId, GroupKind, GroupRecord, JobId, JobSpec, KnownJobs, NewGraph, NewJob,
    NodeId, NodeInfo, OperationRecord, QueueDemand, ScheduleRecord, Settlement, Step, Suspects,
    Vertex, WriteSchedule,
};
use ratchet_store::rules::graph::link;
use ratchet_store::rules::operation;

use crate::support::{Database, fail, lingering, retry, succeed};

/// The business key and the concurrency key of every subject.
pub(crate) const KEY: &str = "order";
pub(crate) const LANE: &str = "printer";

/// The correlation id of every job.
pub(crate) const CORRELATION: &str = "request";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The job waits for a worker.
    Ready,
    /// The job is due, but not promoted yet.
    Due,
    /// The job waits for another job that holds its concurrency key.
    Blocked,
    Running,
    /// The job runs again while the handler of its first run is still running.
    RunningLate,
    /// The job runs on a node whose lease expired.
    Orphaned,
    Failed,
    /// The job has failed while its handler is still running.
    FailedLate,
    Paused,
    PausedFailed,
    /// The job was canceled while it ran, and its handler is still running.
    Canceled,
    Succeeded,
    /// The first step of a chain runs, the second waits for it.
    Step,
    /// The first step of a chain has failed, the second was canceled.
    StepFailed,
    /// A member of an open batch: one member runs, one waits.
    Member,
    /// A schedule is due.
    Scheduled,
    /// The job waits for a worker and cannot be read.
    Damaged,
    /// The job cannot be read and was set aside.
    Unreadable,
}

impl Place {
    pub(crate) const ALL: [Self; 18] = [
        Self::Ready,
        Self::Due,
        Self::Blocked,
        Self::Running,
        Self::RunningLate,
        Self::Orphaned,
        Self::Failed,
        Self::FailedLate,
        Self::Paused,
        Self::PausedFailed,
        Self::Canceled,
        Self::Succeeded,
        Self::Step,
        Self::StepFailed,
        Self::Member,
        Self::Scheduled,
        Self::Damaged,
        Self::Unreadable,
    ];
}

impl Place {
    /// Returns whether there is a current run.
    pub(crate) fn has_run(self) -> bool {
        matches!(
            self,
            Self::Blocked
                | Self::Running
                | Self::RunningLate
                | Self::Orphaned
                | Self::Step
                | Self::Member
        )
    }

    /// Returns whether there is a lingering run.
    pub(crate) fn has_late_run(self) -> bool {
        matches!(self, Self::RunningLate | Self::FailedLate | Self::Canceled)
    }

    /// Returns whether the subject cannot be read.
    pub(crate) fn is_damaged(self) -> bool {
        matches!(self, Self::Damaged | Self::Unreadable)
    }

    pub(crate) fn has_group(self) -> bool {
        matches!(self, Self::Step | Self::StepFailed | Self::Member)
    }
}

/// A job in its place, with everything that the operations need.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) place: Place,
    pub(crate) subject: JobId,
    /// The current run.
    pub(crate) run: Option<Claimed>,
    /// The lingering run.
    pub(crate) late: Option<Claimed>,
    pub(crate) group: Option<GroupId>,
    pub(crate) schedule: Option<ScheduleRecord>,
    /// The node that claims jobs.
    pub(crate) node: NodeId,
    pub(crate) url: String,
    ids: Arc<IdSource>,
}

impl Scene {
    /// Empties the database and creates a job in this place.
    pub(crate) async fn set(place: Place, database: &Database, store: &PgStore) -> Self {
        database.empty().await;
        let ids = Arc::new(IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)));
        let node = ids.node();
        let mut scene = Self {
            place,
            subject: ids.job(),
            run: None,
            late: None,
            group: None,
            schedule: None,
            node,
            url: database.url(),
            ids,
        };
        store.join(Self::info(node), Duration::from_hours(1000)).await.expect("joins");
        scene.fill(database, store).await;
        scene
    }

    fn info(node: NodeId) -> NodeInfo {
        let mut info = NodeInfo::new(node);
        (info.known, info.queues) = (known(), ["default".to_owned()].into());
        info
    }

    async fn fill(&mut self, database: &Database, store: &PgStore) {
        match self.place {
            Place::Ready => self.submit(store, Due::Now).await,
            Place::Due => {
                self.submit(store, Due::In(Duration::from_mins(1))).await;
                database.advance(Duration::from_mins(2)).await;
            }
            Place::Blocked => {
                let mut other = self.plain();
                other.spec.concurrency = Some(lane());
                store.insert(vec![other]).await.expect("inserted");
                self.run = Some(self.claim(store, self.node).await);
                self.submit(store, Due::Now).await;
                database
                    .execute(
                        "WITH moved AS (DELETE FROM ratchet.ready RETURNING *)
                         INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes,
                            deferrals, generation, climit, keyed, queue, name, ckey, service, judges, cause)
                         SELECT job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
                            climit, keyed, queue, name, ckey, service, judges, 'key:' || ckey FROM moved",
                    )
                    .await;
            }
            Place::Running => self.running(store, self.node).await,
            Place::RunningLate => {
                self.running(store, self.node).await;
                let late = self.run.take().expect("runs");
                settle(store, lingering(retry(&late))).await;
                // The lingering run keeps its slot.
                database.execute("UPDATE ratchet.ready SET climit = 2").await;
                self.run = Some(self.claim(store, self.node).await);
                self.late = Some(late);
            }
            Place::Orphaned => {
                let gone = self.ids.node();
                store.join(Self::info(gone), Duration::from_hours(1)).await.expect("joins");
                self.running(store, gone).await;
                store.leave(gone).await.expect("leaves");
            }
            Place::Failed | Place::PausedFailed => {
                self.running(store, self.node).await;
                settle(store, fail(&self.run.take().expect("runs"))).await;
                if self.place == Place::PausedFailed {
                    store.command(Command::Pause(self.subject)).await.expect("paused");
                }
            }
            Place::FailedLate => {
                self.running(store, self.node).await;
                self.late = self.run.take();
                settle(store, lingering(fail(self.late.as_ref().expect("ran")))).await;
            }
            Place::Paused => {
                self.submit(store, Due::Now).await;
                store.command(Command::Pause(self.subject)).await.expect("paused");
            }
            Place::Canceled => {
                self.running(store, self.node).await;
                let cancel =
                    Command::Cancel(self.subject, ratchet_store::model::CancelCause::Requested);
                store.command(cancel).await.expect("canceled");
                self.late = self.run.take();
            }
            Place::Succeeded => {
                self.running(store, self.node).await;
                settle(store, succeed(&self.run.take().expect("runs"))).await;
            }
            Place::Step | Place::StepFailed => {
                self.chain(store).await;
                if self.place == Place::StepFailed {
                    settle(store, fail(&self.run.take().expect("runs"))).await;
                }
            }
            Place::Member => self.batch(store).await,
            Place::Scheduled => self.schedule(database, store).await,
            Place::Damaged | Place::Unreadable => {
                self.submit(store, Due::Now).await;
                database.execute("UPDATE ratchet.job SET extra = '{\"options\": 7}'").await;
                if self.place == Place::Unreadable {
                    store.get(self.subject).await.expect_err("cannot be read");
                }
            }
        }
    }

    async fn submit(&mut self, store: &PgStore, due: Due) {
        let mut job = self.keyed();
        (job.id, job.due) = (self.subject, due);
        store.insert(vec![job]).await.expect("inserted");
    }

    async fn running(&mut self, store: &PgStore, node: NodeId) {
        self.submit(store, Due::Now).await;
        self.run = Some(self.claim(store, node).await);
    }

    async fn chain(&mut self, store: &PgStore) {
        let group = GroupId::from_uuid(self.ids.job().uuid());
        let (mut first, mut second) = (self.plain(), self.keyed());
        first.id = self.subject;
        for job in [&mut first, &mut second] {
            job.spec.step = Some(Box::new(member_of(group)));
        }
        let edge = Edge::new(Vertex::Job(first.id), Vertex::Job(second.id), EdgeTrigger::Success);
        let groups = vec![GroupRecord::new(group, GroupKind::Chain, "chain")];
        let mut graph =
            NewGraph { groups, jobs: vec![first, second], edges: vec![edge], key: None };
        link(&mut graph);
        store.insert_graph(graph).await.expect("inserted");
        self.group = Some(group);
        self.run = Some(self.claim(store, self.node).await);
    }

    async fn batch(&mut self, store: &PgStore) {
        let group = GroupId::from_uuid(self.ids.job().uuid());
        let mut jobs = vec![self.keyed(), self.plain()];
        jobs[0].id = self.subject;
        for job in &mut jobs {
            job.spec.step = Some(Box::new(member_of(group)));
        }
        let mut record = GroupRecord::new(group, GroupKind::Batch, "batch");
        record.sealed = false;
        let mut graph = NewGraph { groups: vec![record], jobs, ..NewGraph::default() };
        link(&mut graph);
        graph.groups[0].sealed = false;
        store.insert_graph(graph).await.expect("inserted");
        self.group = Some(group);
        let mut request = Self::request(self.node);
        request.queues[0].limit = 1;
        self.run = store.claim(request).await.expect("claims").jobs.pop();
    }

    async fn schedule(&mut self, database: &Database, store: &PgStore) {
        let now = store.now().await.expect("the time");
        let mut record = ScheduleRecord::new("nightly", self.keyed().spec, "* * * * *");
        record.next = Some(now);
        let write = WriteSchedule {
            name: record.name.clone(),
            replaces: None,
            record: Some(record),
            declarations: None,
            jobs: Vec::new(),
            notices: Vec::new(),
        };
        store.write_schedule(write).await.expect("written");
        database.advance(Duration::from_secs(1)).await;
        self.schedule = store.due_schedules(10).await.expect("reads").pop();
        self.submit(store, Due::In(Duration::from_hours(1))).await;
    }

    /// Returns a job without keys.
    pub(crate) fn plain(&self) -> NewJob {
        let mut spec = JobSpec::new("mail", b"{}".to_vec());
        spec.correlation_id = Some(CORRELATION.to_owned());
        NewJob::new(self.ids.job(), spec)
    }

    /// Returns an erasure of everything of the scene, which has canceled what could be canceled.
    pub(crate) fn erasure(&self) -> OperationRecord {
        let filter = ErasureSubject::Correlation(CORRELATION.to_owned()).filter();
        let later = Timestamp::MAX - Duration::from_hours(1);
        let mut erasure =
            operation::prepare(self.ids.operation(), BulkVerb::Erase, &filter, later, None);
        erasure.erasure.as_mut().expect("an erasure").phase = ErasurePhase::Remove;
        erasure
    }

    /// Returns a job with the keys of the subject.
    pub(crate) fn keyed(&self) -> NewJob {
        let mut job = self.plain();
        job.spec.business_key = Some(KEY.to_owned());
        job.spec.concurrency = Some(lane());
        job
    }

    /// Returns another member of the subject's group.
    pub(crate) fn more(&self, group: GroupId) -> NewJob {
        let mut job = self.plain();
        job.spec.step = Some(Box::new(member_of(group)));
        job
    }

    pub(crate) fn request(node: NodeId) -> ClaimRequest {
        ClaimRequest {
            node,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit: 10 }],
            known: known(),
            suspects: Suspects::beside_others(100),
            starting: true,
        }
    }

    async fn claim(&self, store: &PgStore, node: NodeId) -> Claimed {
        let mut jobs = store.claim(Self::request(node)).await.expect("claims").jobs;
        assert_eq!(jobs.len(), 1, "{:?}: one job is due", self.place);
        jobs.remove(0)
    }
}

fn lane() -> ConcurrencyKey {
    ConcurrencyKey { key: LANE.to_owned(), limit: 1 }
}

fn member_of(group: GroupId) -> Step {
    let mut step = Step::default();
    step.group = Some(group);
    step
}

fn known() -> Arc<KnownJobs> {
    Arc::new(KnownJobs([("mail".to_owned(), 1)].into()))
}

async fn settle(store: &PgStore, settlement: Settlement) {
    store.settle(vec![settlement]).await.expect("settles");
}
