//! Cuts the connection of one operation at each of its requests.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{Cut, Cutter, PgHarness, ended_or_waits};
use ratchet_conformance::Harness as _;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::model::{
    CancelCause, Command, CommandError, CommandReply, Extend, Filter, GraphKey, GroupId, GroupKind,
    GroupRecord, Heartbeat, Inserted, JobId, JobSpec, JobState, NewGraph, NewJob, NodeInfo,
    OnConflict, PageRequest, QueueUpdate, Step,
};
use ratchet_store::{Store, StoreErrorKind};

const LEASE: Duration = Duration::from_mins(10);

struct World {
    pg: PgHarness,
    cutter: Cutter,
    /// A store whose connections can be cut.
    store: PgStore,
    ids: IdSource,
}

impl World {
    async fn new() -> Self {
        let pg = PgHarness::fresh().await;
        let cutter = Cutter::to(pg.database.socket()).await;
        let options = cutter.options(pg.database.name()).acquire_timeout(Duration::from_secs(20));
        let store = PgStore::open(options).await.expect("opens");
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        Self { pg, cutter, store, ids }
    }

    /// Runs an operation again and again, and cuts its connection at another request each time, until it has no more
    /// requests.
    async fn cut_everywhere(&self, verb: impl AsyncFn(&Self, Cut)) {
        for cut in [Cut::Before, Cut::After] {
            let mut steps = 0;
            loop {
                self.cutter.arm(steps, cut);
                verb(self, cut).await;
                if !self.cutter.has_cut() {
                    break;
                }
                steps += 1;
            }
            assert!(steps > 0, "no request was cut");
        }
    }

    fn job(&self) -> NewJob {
        let spec = JobSpec::new("test.cut", b"{}".to_vec());
        NewJob::new(self.ids.job(), spec)
    }

    fn once(&self) -> NewJob {
        let mut job = self.job();
        job.spec.idempotency_key = Some(job.id.to_string());
        job
    }

    fn held(&self, on_conflict: OnConflict) -> NewJob {
        let mut job = NewJob { on_conflict, ..self.job() };
        job.spec.business_key = Some(job.id.to_string());
        job
    }

    fn step(&self, group: GroupId) -> NewJob {
        let mut job = self.job();
        let mut step = Step::default();
        step.group = Some(group);
        job.spec.step = Some(Box::new(step));
        job
    }

    async fn count(&self, sql: &'static str, ids: &[JobId]) -> i64 {
        let ids: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
        sqlx::query_scalar(sql).bind(ids).fetch_one(&self.pg.database.pool).await.expect("counts")
    }

    /// Checks that each job is stored once and waits once.
    async fn are_stored_once(&self, ids: &[JobId]) {
        let jobs = "SELECT count(*) FROM ratchet.job WHERE id = ANY($1)";
        let ready = "SELECT count(*) FROM ratchet.ready WHERE job = ANY($1)";
        let expected = i64::try_from(ids.len()).expect("few");
        assert_eq!(self.count(jobs, ids).await, expected);
        assert_eq!(self.count(ready, ids).await, expected);
    }

    /// Inserts jobs that must all be created.
    async fn insert(&self, jobs: Vec<NewJob>) {
        let ids: Vec<_> = jobs.iter().map(|job| job.id).collect();
        let inserted = self.store.insert(jobs).await.expect("survives the cut");
        let created: Vec<_> = ids.iter().copied().map(Inserted::Created).collect();
        assert_eq!(inserted, created);
        self.are_stored_once(&ids).await;
    }
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_submits_without_keys_survive_a_cut_at_every_step() {
    let world = World::new().await;
    world.cut_everywhere(async |world, _| world.insert(vec![world.job()]).await).await;
    let many = async |world: &World, _| {
        world.insert((0..40).map(|_| world.job()).collect()).await;
    };
    world.cut_everywhere(many).await;
    let unlike = async |world: &World, _| {
        let mut other = world.job();
        other.spec.tags.push("other".to_owned());
        world.insert(vec![world.job(), other]).await;
    };
    world.cut_everywhere(unlike).await;
}

// spec: S-13, S-03, S-04
#[tokio::test(flavor = "multi_thread")]
async fn s_13_submits_with_keys_return_the_answer_of_the_try_that_was_committed() {
    let world = World::new().await;
    world.cut_everywhere(async |world, _| world.insert(vec![world.once()]).await).await;
    for on_conflict in [OnConflict::Refuse, OnConflict::ReturnHolder] {
        let held = async |world: &World, _| world.insert(vec![world.held(on_conflict)]).await;
        world.cut_everywhere(held).await;
    }
    let mixed = async |world: &World, _| {
        let (once, first) = (world.once(), world.held(OnConflict::Refuse));
        let mut again = world.job();
        again.spec.idempotency_key.clone_from(&once.spec.idempotency_key);
        let mut second = NewJob { on_conflict: OnConflict::ReturnHolder, ..world.job() };
        second.spec.business_key.clone_from(&first.spec.business_key);
        let jobs = vec![world.job(), once.clone(), again, first.clone(), second];
        let stored = [jobs[0].id, once.id, first.id];
        let answers = world.store.insert(jobs).await.expect("survives the cut");
        let expected = [
            Inserted::Created(stored[0]),
            Inserted::Created(once.id),
            Inserted::Duplicate(once.id),
            Inserted::Created(first.id),
            Inserted::Holder(first.id),
        ];
        assert_eq!(answers, expected);
        world.are_stored_once(&stored).await;
    };
    world.cut_everywhere(mixed).await;
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_graphs_and_their_members_survive_a_cut_at_every_step() {
    let world = World::new().await;
    let graph = async |world: &World, keyed: bool| {
        let group = GroupId::from_uuid(world.ids.job().uuid());
        let mut record = GroupRecord::new(group, GroupKind::Batch, "import");
        let jobs = vec![world.step(group), world.step(group)];
        let ids: Vec<_> = jobs.iter().map(|job| job.id).collect();
        record.counts.total = 2;
        let key = keyed.then(|| GraphKey::new(None, group.to_string()));
        let graph = NewGraph { jobs, edges: Vec::new(), groups: vec![record], key };
        let inserted = world.store.insert_graph(graph).await.expect("survives the cut");
        assert_eq!(inserted.original, None, "it is no repeat");
        assert_eq!(inserted.created().collect::<Vec<_>>(), ids);
        world.are_stored_once(&ids).await;
        group
    };
    for keyed in [false, true] {
        let one = async |world: &World, _| {
            graph(world, keyed).await;
        };
        world.cut_everywhere(one).await;
    }
    let extend = async |world: &World, _| {
        let group = open_group(world).await;
        let more = vec![world.step(group), world.step(group)];
        let ids: Vec<_> = more.iter().map(|job| job.id).collect();
        let more = Extend { group, jobs: more, seal: false };
        let inserted = world.store.add_members(more).await.expect("survives the cut");
        assert_eq!(inserted.created().collect::<Vec<_>>(), ids);
        let seal = Extend { group, jobs: Vec::new(), seal: true };
        world.store.add_members(seal).await.expect("survives the cut");
        let stored = world.pg.store.group(group).await.expect("reads").expect("is there");
        assert_eq!((stored.counts.total, stored.sealed), (2, true));
        world.are_stored_once(&ids).await;
    };
    world.cut_everywhere(extend).await;
}

/// Inserts an open group by the store whose connections are not cut.
async fn open_group(world: &World) -> GroupId {
    let group = GroupId::from_uuid(world.ids.job().uuid());
    let mut record = GroupRecord::new(group, GroupKind::Batch, "import");
    record.sealed = false;
    let graph = NewGraph { groups: vec![record], ..NewGraph::default() };
    world.pg.store.insert_graph(graph).await.expect("inserts");
    group
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_reads_and_idempotent_operations_survive_a_cut_at_every_step() {
    let world = World::new().await;
    let job = world.job();
    world.pg.store.insert(vec![job.clone()]).await.expect("inserts");
    let store = &world.store;
    world.cut_everywhere(async |_, _| assert!(store.now().await.is_ok())).await;
    let read = async |_: &World, _| {
        assert!(store.get(job.id).await.expect("gets").is_some());
        assert_eq!(store.counts().await.expect("counts").state(JobState::Pending), 1);
        let page = store.list(&Filter::default(), PageRequest::default()).await.expect("lists");
        assert_eq!(page.jobs.len(), 1);
    };
    world.cut_everywhere(read).await;
    let queue = async |_: &World, _| {
        assert!(store.update_queue("q", QueueUpdate::Pause).await.expect("pauses"));
        assert!(store.update_queue("q", QueueUpdate::Resume).await.expect("resumes"));
    };
    world.cut_everywhere(queue).await;
    let node = async |world: &World, _| {
        let id = world.ids.node();
        store.join(NodeInfo::new(id), LEASE).await.expect("joins");
        let beat = store.heartbeat(id, LEASE).await.expect("a heartbeat");
        assert!(matches!(beat, Heartbeat::Renewed { .. }));
        assert!(store.try_lead(id, LEASE).await.expect("leads"));
        store.leave(id).await.expect("leaves");
    };
    world.cut_everywhere(node).await;
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_commands_are_not_repeated_after_an_uncertain_commit() {
    let world = World::new().await;
    let cancel = async |world: &World, cut| {
        let job = world.job();
        world.pg.store.insert(vec![job.clone()]).await.expect("inserts");
        let command = Command::Cancel(job.id, CancelCause::Requested);
        let state =
            || async { world.pg.store.get(job.id).await.expect("reads").expect("is there").state };
        match world.store.command(command).await {
            Ok(CommandReply::Done { .. }) => assert_eq!(state().await, JobState::Canceled),
            Ok(reply) => panic!("{reply:?}"),
            Err(CommandError::Store(error)) => {
                assert_eq!(error.kind(), StoreErrorKind::Unavailable);
                assert!(error.to_string().contains("lost during a commit"), "{error}");
                let expected =
                    if cut == Cut::After { JobState::Canceled } else { JobState::Pending };
                assert_eq!(state().await, expected);
            }
            Err(error) => panic!("{error}"),
        }
    };
    world.cut_everywhere(cancel).await;
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_a_commit_that_arrives_late_counts_once() {
    let (mut late, mut commits) = (0, 0);
    // Which of its messages a submit sends in one packet depends on the state of its connection. A round in which no
    // commit was cut on its own proves nothing.
    for _ in 0..30 {
        let (more_late, more_commits) = deliver_late_at_every_step().await;
        (late, commits) = (late + more_late, commits + more_commits);
        if late > 0 && commits > 0 {
            break;
        }
    }
    assert!(late > 0, "no try waited for the keys of an earlier one");
    assert!(commits > 0, "no commit arrived late");
}

/// Submits with a cut at every step. What was cut off reaches the server only when the next try waits or has ended.
/// Returns how many tries waited, and how many of these waited for a commit.
async fn deliver_late_at_every_step() -> (i32, i32) {
    let world = World::new().await;
    let (mut late, mut commits) = (0, 0);
    for steps in 0.. {
        let job = world.held(OnConflict::ReturnHolder);
        let id = job.id;
        world.cutter.arm(steps, Cut::Late);
        let store = world.store.clone();
        let submit = tokio::spawn(async move { store.insert(vec![job]).await });
        while world.cutter.is_armed() && !submit.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if !world.cutter.has_cut() {
            break;
        }
        let ended = ended_or_waits(&world.pg.database.pool, &submit).await;
        let commit = world.cutter.deliver().await;
        (late, commits) = (late + i32::from(!ended), commits + i32::from(commit && !ended));
        let answers = submit.await.expect("ends").expect("survives the cut");
        assert_eq!(answers, [Inserted::Created(id)]);
        world.are_stored_once(&[id]).await;
    }
    (late, commits)
}
