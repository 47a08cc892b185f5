//! Partitions: counts stay exact while one is dropped, and ids outside of the partitions do no harm.

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    CancelCause, Command, GroupId, GroupKind, GroupRecord, InsertError, JobId, JobState, NewGraph,
    NodeInfo, Step,
};
use ratchet_store::rules::graph::link;
use uuid::Uuid;

use crate::support::{ended_or_waits, ended_or_waits_beside, fail};
use crate::world::{World, succeed};

const HOUR: Duration = Duration::from_hours(1);

/// Returns an id with a time of this many hours from now.
fn id_in(hours: u64) -> JobId {
    let now = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)).job().uuid();
    let (seconds, _) = now.get_timestamp().expect("it tells the time").to_unix();
    let millis = (seconds + hours * 3600) * 1000;
    let bytes = uuid::Builder::from_unix_timestamp_millis(millis, &[7; 10]);
    JobId::from_uuid(bytes.into_uuid())
}

#[tokio::test]
async fn s_17_an_id_far_ahead_of_the_stores_clock_is_refused() {
    let world = World::fresh().await;
    let mut job = world.job();
    job.id = id_in(22 * 24);
    let id = job.id;
    for jobs in [vec![job.clone()], vec![world.job(), job.clone()], vec![world.keyed("k"), job]] {
        let refused = world.b.insert(jobs).await.expect_err("its clock is wrong");
        let InsertError::Store(error) = &refused else { panic!("{refused:?}") };
        assert!(error.to_string().contains(&id.to_string()), "{error}");
        assert!(!error.is_transient());
    }
    assert_eq!(world.count("SELECT count(*) FROM ratchet.job").await, 0, "nothing was stored");
    assert!(!world.is_taken("k").await);
    let mut soon = world.job();
    soon.id = id_in(2);
    world.submit(soon).await;
}

// Such an id may be older than the check, or inserted by hand.
#[tokio::test]
async fn d_05_a_range_is_made_although_an_id_of_it_is_there() {
    let world = World::fresh().await;
    world.pg.database.execute("DROP SCHEMA IF EXISTS strays CASCADE").await;
    let options = || world.pg.database.options().schema("strays").partition(HOUR);
    let store = PgStore::open(options()).await.expect("opens");
    let job = world.job();
    let id = job.id;
    store.insert(vec![job]).await.expect("inserted");
    let stray: Uuid = id_in(4).uuid();
    let moved = sqlx::query("UPDATE strays.job SET id = $2 WHERE id = $1").bind(id.uuid());
    moved.bind(stray).execute(world.pool()).await.expect("moved");
    assert_eq!(world.count("SELECT count(*) FROM strays.job_rest").await, 1);
    let width = "SELECT strays.make_parts(3600000000, 6 * 3600000000::bigint)";
    world.pg.database.execute(width).await;
    assert_eq!(world.count("SELECT count(*) FROM strays.job_rest").await, 0, "it is in its range");
    assert_eq!(world.count("SELECT count(*) FROM strays.job").await, 1);
    let holes = "SELECT count(*) FROM strays.part p
        WHERE NOT EXISTS (SELECT FROM strays.part n WHERE n.starts = p.ends)";
    assert_eq!(world.count(holes).await, 1, "the ranges have no holes");
    world.pg.database.execute("DROP SCHEMA strays CASCADE").await;
}

// The merge of the counts is not committed when the partition is dropped.
#[tokio::test]
async fn o_03_counts_are_exact_when_a_range_is_dropped_while_they_are_folded() {
    let world = World::fresh().await;
    world.pg.database.execute("DROP SCHEMA IF EXISTS folds CASCADE").await;
    let options = || world.pg.database.options().schema("folds").partition(HOUR);
    let a = PgStore::open(options()).await.expect("opens");
    let b = PgStore::open(options()).await.expect("opens");
    let info = NodeInfo::new(world.node);
    a.join(info, 100 * HOUR).await.expect("joins");
    for _ in 0..2 {
        a.insert(vec![world.job()]).await.expect("inserted");
        let run = a.claim(world.request("default", 1)).await.expect("claims").jobs.remove(0);
        a.settle(vec![succeed(&run)]).await.expect("settles");
    }
    world
        .pg
        .database
        .execute(
            "CREATE OR REPLACE FUNCTION folds.now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
                $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 10 * 3600000000 $$;
             CREATE FUNCTION folds.wait() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_advisory_xact_lock(4713); RETURN NULL; END $$;
             CREATE TRIGGER wait AFTER INSERT ON folds.tally
                FOR EACH STATEMENT EXECUTE FUNCTION folds.wait()",
        )
        .await;
    let mut gate = world.pool().begin().await.expect("begins");
    sqlx::query("SELECT pg_advisory_xact_lock(4713)").execute(&mut *gate).await.expect("locks");
    let node = world.node;
    let lead = tokio::spawn(async move { a.try_lead(node, HOUR).await });
    assert!(!ended_or_waits(world.pool(), &lead).await, "it waits at the end of the fold");
    let purges = b.clone();
    let purge = tokio::spawn(async move { purges.purge(JobState::Succeeded, HOUR, 1000).await });
    ended_or_waits_beside(world.pool(), &purge, 1).await;
    gate.rollback().await.expect("unlocks");
    lead.await.expect("no panic").expect("leads");
    purge.await.expect("no panic").expect("purges");
    let left = b.counts().await.expect("counts").state(JobState::Succeeded);
    let there = world.count("SELECT count(*) FROM folds.outcome").await;
    assert_eq!(i64::try_from(left).expect("fits"), there);
    world.pg.database.execute("DROP SCHEMA folds CASCADE").await;
}

// A transaction that changes ranges takes this lock first, and the locks of tables later. An archiving process that had its
// locks of rows first and waited for this lock would stop both, until one of them gave up.
#[tokio::test]
async fn a_01_an_archiving_process_waits_for_the_ranges_before_it_locks_a_table() {
    let world = World::fresh().await;
    world.pg.database.execute("DROP SCHEMA IF EXISTS waits, waits_archive CASCADE").await;
    let store = PgStore::open(world.pg.database.options().schema("waits")).await.expect("opens");
    let job = world.job();
    let id = job.id;
    store.insert(vec![job]).await.expect("inserted");
    store.command(Command::Cancel(id, CancelCause::Requested)).await.expect("cancels");
    let mut gate = world.pool().begin().await.expect("begins");
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('waits parts', 0))")
        .execute(&mut *gate)
        .await
        .expect("locks");
    let archives = store.clone();
    let archive =
        tokio::spawn(async move { archives.archive(JobState::Canceled, Duration::ZERO, 10).await });
    ended_or_waits(world.pool(), &archive).await;
    for table in ["outcome", "job", "attempt", "note", "log"] {
        let lock = format!("LOCK TABLE waits.{table} IN ACCESS EXCLUSIVE MODE NOWAIT");
        sqlx::raw_sql(sqlx::AssertSqlSafe(lock)).execute(&mut *gate).await.expect(table);
    }
    gate.rollback().await.expect("unlocks");
    let mut moved = archive.await.expect("no panic").expect("archives");
    // The process waits at most half a second. On a slow machine it needs another try.
    if moved == 0 {
        moved = store.archive(JobState::Canceled, Duration::ZERO, 10).await.expect("archives");
    }
    assert_eq!(moved, 1);
    world.pg.database.execute("DROP SCHEMA waits, waits_archive CASCADE").await;
}

// A retry reopens a group after its removable members were read and before they are removed.
#[tokio::test]
async fn d_05_a_group_opened_again_while_its_range_is_dropped_keeps_its_members() {
    open_again(Removal::Drop).await;
}

#[tokio::test]
async fn a_01_a_group_opened_again_while_its_range_is_archived_keeps_its_members() {
    open_again(Removal::Archive).await;
}

#[derive(Clone, Copy)]
enum Removal {
    Drop,
    Archive,
}

impl Removal {
    async fn apply(self, store: &PgStore) {
        match self {
            Self::Drop => store.purge(JobState::Succeeded, HOUR, 1000).await.expect("purges"),
            Self::Archive => {
                store.archive(JobState::Succeeded, HOUR, 1000).await.expect("archives")
            }
        };
    }
}

async fn open_again(removal: Removal) {
    let world = World::fresh().await;
    world.pg.database.execute("DROP SCHEMA IF EXISTS reopens, reopens_archive CASCADE").await;
    let options = || world.pg.database.options().schema("reopens").partition(HOUR);
    let a = PgStore::open(options()).await.expect("opens");
    let b = PgStore::open(options()).await.expect("opens");
    let info = NodeInfo::new(world.node);
    a.join(info, 100 * HOUR).await.expect("joins");
    let group = GroupId::from_uuid(world.job().id.uuid());
    let mut jobs = vec![world.job(), world.job(), world.job()];
    for (number, job) in jobs.iter_mut().enumerate() {
        let mut step = Step::default();
        // The last job is in the graph and not in the group, so the graph goes on when the group has ended.
        step.group = (number < 2).then_some(group);
        job.spec.step = Some(Box::new(step));
    }
    let [done, failed] = [jobs[0].id, jobs[1].id];
    let groups = vec![GroupRecord::new(group, GroupKind::Batch, "batch")];
    let mut graph = NewGraph { groups, jobs, ..NewGraph::default() };
    link(&mut graph);
    a.insert_graph(graph).await.expect("inserted");
    for run in a.claim(world.request("default", 2)).await.expect("claims").jobs {
        let settlement = if run.id() == done { succeed(&run) } else { fail(&run) };
        a.settle(vec![settlement]).await.expect("settles");
    }
    assert!(a.group(group).await.expect("reads").expect("is there").state.is_ended());
    // A run in the same partition, so that the removal waits for its lease.
    let running = a.claim(world.request("default", 1)).await.expect("claims").jobs.remove(0);
    world
        .pg
        .database
        .execute(
            "CREATE OR REPLACE FUNCTION reopens.now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
                $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 10 * 3600000000 $$",
        )
        .await;
    let parts = "SELECT count(*) FROM reopens.part";
    let before = world.count(parts).await;
    let mut gate = world.pool().begin().await.expect("begins");
    let lock = sqlx::query("SELECT FROM reopens.lease WHERE id = $1 FOR UPDATE");
    lock.bind(running.token.lease.uuid()).execute(&mut *gate).await.expect("locks");
    let purges = b.clone();
    let purge = tokio::spawn(async move { removal.apply(&purges).await });
    ended_or_waits(world.pool(), &purge).await;
    a.command(Command::Retry(failed)).await.expect("retries");
    gate.rollback().await.expect("unlocks");
    purge.await.expect("no panic");
    // The removal waits a limited time. On a slow machine it needs another try.
    for _ in 0..10 {
        if world.count(parts).await < before {
            break;
        }
        removal.apply(&b).await;
    }
    assert!(world.count(parts).await < before, "the range is gone");
    let kept = b.get(done).await.expect("reads").expect("its group goes on");
    assert_eq!(kept.state, JobState::Succeeded);
    assert_eq!(b.members(group, None, 10).await.expect("reads").len(), 2);
    world.pg.database.execute("DROP SCHEMA reopens, reopens_archive CASCADE").await;
}
