//! C-07: a row that cannot be read affects only its own job. It is set aside, listed, and repaired or dropped. All
//! other jobs run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::node::{Node, job, succeeded};
use ratchet_core::{JobState, StoreErrorKind};
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use ratchet_store::model::{
    AttemptOutcome, CancelCause, Channel, Command, CommandError, Edge, EdgeTrigger, Filter,
    GroupId, GroupKind, GroupRecord, GroupState, JobId, JobOutcome, NewGraph, NewHandOff, NewJob,
    NodeId, NodeInfo, Notice, PageRequest, Settled, Settlement, Step, Verdict, Vertex,
};
use ratchet_store::rules::graph::link;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection};
use tempfile::TempDir;
use uuid::Uuid;

const DEEP: &str = "json('[' || replace(hex(zeroblob(100)), '0', '[') || replace(hex(zeroblob(100)), '0', ']') || ']')";

struct Bench {
    store: SqliteStore,
    conn: SqliteConnection,
    path: PathBuf,
    _folder: TempDir,
}

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::options(path).synchronous(Synchronous::Normal).open().await.expect("opens")
}

impl Bench {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("jobs.db");
        let store = open(&path).await;
        let conn = SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
        Self { store, conn, path, _folder: folder }
    }

    async fn insert(&self, jobs: &[NewJob]) {
        self.store.insert(jobs.to_vec()).await.expect("inserts");
    }

    /// Sets a column of a job to an SQL expression.
    async fn set(&mut self, id: JobId, column: &str, value: &str) {
        let sql = format!("UPDATE ratchet_job SET {column} = {value} WHERE id = ?1");
        let done = sqlx::query(AssertSqlSafe(sql)).bind(id.uuid().as_bytes().to_vec());
        let done = done.execute(&mut self.conn).await.expect("writes");
        assert_eq!(done.rows_affected(), 1);
    }

    async fn run(&mut self, sql: &str) {
        sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut self.conn).await.expect("writes");
    }

    /// Returns the ids of the jobs that are set aside, with the damaged column.
    async fn listed(&self) -> Vec<(JobId, String)> {
        let all = self.store.unreadable(100).await.expect("lists");
        assert_eq!(self.store.count_unreadable().await.expect("counts"), all.len() as u64);
        all.into_iter().map(|job| (job.id, job.column)).collect()
    }

    async fn state(&self, id: JobId) -> JobState {
        self.store.get(id).await.expect("reads").expect("is there").state
    }
}

fn retry(claimed: &ratchet_store::model::Claimed) -> Settlement {
    Settlement::new(claimed.token, Verdict::Release, AttemptOutcome::Released)
}

// spec: C-07
#[tokio::test]
async fn c_07_unreadable_job_is_left_out_of_the_claim() {
    let invalid = "CAST(x'22ff22' AS TEXT)";
    for (column, value) in [
        ("checkpoint", DEEP),
        ("checkpoint", "'{'"),
        ("checkpoint", invalid),
        ("progress", "'7'"),
        ("own", "'{\"tags\":7}'"),
        ("own", invalid),
        ("template", "7"),
        ("attempts", "-1"),
        ("crashes", "5000000000"),
        ("generation", "-1"),
        ("deferrals", "-1"),
        ("fence", "9223372036854775807"),
        ("run", "-9223372036854775808"),
        ("due", "-9223372036854775808"),
        ("queued_at", "9223372036854775807"),
    ] {
        let mut bench = Bench::new().await;
        let jobs = [job("mail"), job("mail"), job("mail")];
        bench.insert(&jobs).await;
        let [first, bad, last] = jobs.each_ref().map(|job| job.id);
        let was = sqlx::query(AssertSqlSafe(format!(
            "SELECT quote({column}) FROM ratchet_job WHERE id = ?1"
        )));
        let was = was.bind(bad.uuid().as_bytes().to_vec()).fetch_one(&mut bench.conn).await;
        let was: String = was.expect("reads").get(0);
        bench.set(bad, column, value).await;
        let worker = Node::join(&bench.store, &["mail"]).await;
        assert_eq!(worker.drain(&bench.store).await, [first, last], "{column} = {value}");
        assert_eq!(bench.listed().await, [(bad, column.to_owned())], "{column} = {value}");
        let listed = &bench.store.unreadable(1).await.expect("lists")[0];
        assert_eq!(listed.queue.as_deref(), Some("default"));
        assert_eq!(listed.name.as_deref(), (column != "template").then_some("mail"));

        // Reading this job fails with an instruction. The list is returned without it.
        let error = bench.store.get(bad).await.expect_err("cannot be read");
        assert_eq!(error.kind(), StoreErrorKind::Data, "{error}");
        assert!(
            error.to_string().contains(column) && !error.to_string().contains("backup"),
            "{error}"
        );
        let page = PageRequest { before: None, limit: 10 };
        let page = bench.store.list(&Filter::any(), page).await.expect("lists");
        assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [last, first]);
        let refused = bench.store.command(Command::Pause(bad)).await.expect_err("refused");
        assert!(matches!(refused, CommandError::Store(_)), "{refused}");

        // It is not returned to the queue before it is repaired.
        assert!(!bench.store.repair_unreadable(bad).await.expect("looks"));
        assert_eq!(bench.listed().await.len(), 1);
        bench.set(bad, column, &was).await;
        assert!(bench.store.repair_unreadable(bad).await.expect("repairs"));
        assert!(bench.listed().await.is_empty());
        assert!(!bench.store.repair_unreadable(bad).await.expect("it is done"));
        assert_eq!(worker.drain(&bench.store).await, [bad], "{column} = {value}");
        assert_eq!(bench.store.counts().await.expect("counts").state(JobState::Succeeded), 3);
    }
}

// spec: C-07
#[tokio::test]
async fn c_07_dropped_job_leaves_nothing_behind() {
    for (column, value) in [("own", "'{'"), ("state", "9"), ("template", "7"), ("id", "x'0102'")] {
        let mut bench = Bench::new().await;
        let mut keyed = job("mail");
        keyed.spec.business_key = Some("order-7".to_owned());
        bench.insert(std::slice::from_ref(&keyed)).await;
        bench.set(keyed.id, column, value).await;
        // Listing all jobs finds it.
        let page = PageRequest { before: None, limit: 10 };
        bench.store.list(&Filter::any(), page).await.expect("lists");
        let worker = Node::join(&bench.store, &["mail"]).await;
        assert!(worker.drain(&bench.store).await.is_empty());
        let listed = bench.listed().await;
        assert_eq!(listed.len(), 1, "{column}");
        assert_eq!(listed[0].1, column);
        let id = listed[0].0;
        assert_eq!(id == keyed.id, column != "id", "a damaged id has a substitute");
        let again = || NewJob { id: JobId::from_uuid(Uuid::now_v7()), ..keyed.clone() };
        // It holds its key until it is dropped.
        bench.store.insert(vec![again()]).await.expect_err("the key is taken");
        assert!(bench.store.drop_unreadable(id).await.expect("drops"));
        let again = again();
        bench.insert(std::slice::from_ref(&again)).await;
        assert_eq!(worker.drain(&bench.store).await, [again.id]);
        assert!(!bench.store.drop_unreadable(id).await.expect("it is gone"));
        assert_eq!(bench.store.get(keyed.id).await.expect("reads"), None);
        let counts = bench.store.counts().await.expect("counts");
        assert_eq!(counts.state(JobState::Pending), 0, "{column}");
    }
}

// spec: C-07
#[tokio::test]
async fn c_07_orphan_that_cannot_be_read_holds_up_no_rescue() {
    for (column, value) in
        [("checkpoint", DEEP), ("warnings", "'{'"), ("node", "NULL"), ("lease", "x'00'")]
    {
        let mut bench = Bench::new().await;
        let jobs = [job("mail"), job("mail"), job("mail")];
        bench.insert(&jobs).await;
        let [first, bad, last] = jobs.each_ref().map(|job| job.id);
        let dead = Node::join(&bench.store, &["mail"]).await;
        assert_eq!(dead.claim(&bench.store, 10).await.expect("claims").jobs.len(), 3);
        bench.set(bad, column, value).await;
        bench.store.leave(dead.id).await.expect("leaves");
        let orphans = bench.store.orphans(10).await.expect("sweeps");
        let ids: Vec<_> = orphans.iter().map(|orphan| orphan.claimed.id()).collect();
        assert_eq!(ids, [first, last], "{column}");
        assert_eq!(bench.listed().await, [(bad, column.to_owned())]);
        let counts = bench.store.counts().await.expect("counts");
        assert_eq!((counts.state(JobState::Running), counts.state(JobState::Pending)), (2, 1));
        // After the repair, it waits like a job that was never claimed.
        let good = if column == "node" { "zeroblob(16)" } else { "NULL" };
        bench.set(bad, column, good).await;
        assert!(bench.store.repair_unreadable(bad).await.expect("repairs"));
        let worker = Node::join(&bench.store, &["mail"]).await;
        assert_eq!(worker.drain(&bench.store).await, [bad]);
    }
}

// spec: C-07
#[tokio::test]
async fn c_07_run_whose_node_is_not_there_is_rescued() {
    let mut bench = Bench::new().await;
    let new = job("mail");
    bench.insert(std::slice::from_ref(&new)).await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    worker.claim(&bench.store, 1).await.expect("claims");
    assert!(bench.store.orphans(10).await.expect("sweeps").is_empty());
    bench.set(new.id, "node", "randomblob(16)").await;
    let orphans = bench.store.orphans(10).await.expect("sweeps");
    assert_eq!(orphans.len(), 1);
    assert_eq!(orphans[0].claimed.id(), new.id);
}

// spec: C-07
#[tokio::test]
async fn c_07_outcome_of_an_unreadable_job_holds_up_no_other() {
    let mut bench = Bench::new().await;
    let jobs = [job("mail"), job("mail"), job("mail")];
    bench.insert(&jobs).await;
    let [_, bad, _] = jobs.each_ref().map(|job| job.id);
    let worker = Node::join(&bench.store, &["mail"]).await;
    let claimed = worker.claim(&bench.store, 10).await.expect("claims").jobs;
    bench.set(bad, "warnings", "'{'").await;
    let settled = bench.store.settle(claimed.iter().map(retry).collect()).await.expect("settles");
    assert!(matches!(settled[0], Settled::Applied(_)) && matches!(settled[2], Settled::Applied(_)));
    assert!(matches!(settled[1], Settled::Stale { .. }), "{:?}", settled[1]);
    // Its run is over, so it is set aside at once and not only when this node ends.
    assert_eq!(bench.listed().await, [(bad, "warnings".to_owned())]);
    assert_eq!(bench.store.counts().await.expect("counts").state(JobState::Running), 0);
    bench.set(bad, "warnings", "NULL").await;
    assert!(bench.store.repair_unreadable(bad).await.expect("repairs"));
    assert_eq!(worker.drain(&bench.store).await.len(), 3);
}

// spec: C-07
#[tokio::test]
async fn c_07_damaged_hand_offs_and_deliveries_hold_up_no_other() {
    let mut bench = Bench::new().await;
    bench.insert(&[job("mail"), job("mail"), job("mail")]).await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    let claimed = worker.claim(&bench.store, 10).await.expect("claims").jobs;
    let settle = |(number, claimed): (usize, &ratchet_store::model::Claimed)| {
        let mut settlement = succeeded(claimed);
        let checkpoint = serde_json::json!(number);
        settlement.hand_offs = vec![NewHandOff::new("next", number.to_string(), checkpoint)];
        settlement.notices =
            vec![Notice::Outcome(JobOutcome::success(claimed, None, Duration::ZERO).into())];
        settlement
    };
    let settled = claimed.iter().enumerate().map(settle).collect();
    bench.store.settle(settled).await.expect("settles");
    bench.run(&format!("UPDATE ratchet_hand_off SET checkpoint = {DEEP} WHERE key = '1'")).await;
    bench.run("UPDATE ratchet_delivery SET envelope = '{}' WHERE number = 2").await;
    let hold = Duration::from_mins(1);
    let taken = bench.store.take_hand_offs("next", 2, hold).await.expect("takes");
    let mut keys: Vec<_> = taken.into_iter().map(|taken| taken.handed.key).collect();
    let taken = bench.store.take_hand_offs("next", 2, hold).await.expect("takes");
    keys.extend(taken.into_iter().map(|taken| taken.handed.key));
    assert_eq!(keys, ["0", "2"]);
    let mut handed = Vec::new();
    for _ in 0..2 {
        let out = bench.store.take_deliveries(Channel::Outcomes, 2, hold).await.expect("takes");
        handed.extend(out.into_iter().map(|delivery| delivery.id.0));
    }
    assert_eq!(handed, [1, 3]);
}

/// Returns a graph of two jobs and a third one that waits for both.
fn fan_in() -> (NewGraph, GroupId, [JobId; 3]) {
    let group = GroupId::from_uuid(Uuid::now_v7());
    let mut graph = NewGraph::default();
    graph.groups.push(GroupRecord::new(group, GroupKind::Workflow, "fan-in"));
    let jobs = [job("mail"), job("mail"), job("mail")];
    let [left, right, join] = jobs.each_ref().map(|job| job.id);
    for (number, mut job) in (0..).zip(jobs) {
        let mut step = Step::default();
        step.group = Some(group);
        step.number = number;
        job.spec.step = Some(Box::new(step));
        graph.jobs.push(job);
    }
    for parent in [left, right] {
        graph.edges.push(Edge::new(Vertex::Job(parent), Vertex::Job(join), EdgeTrigger::Success));
    }
    link(&mut graph);
    (graph, group, [left, right, join])
}

// spec: C-07
#[tokio::test]
async fn c_07_step_that_cannot_be_read_is_in_its_place_once_repaired() {
    let mut bench = Bench::new().await;
    let (graph, group, [left, right, join]) = fan_in();
    bench.store.insert_graph(graph).await.expect("inserts");
    let was = sqlx::query("SELECT quote(own) FROM ratchet_job WHERE id = ?1");
    let was = was.bind(join.uuid().as_bytes().to_vec()).fetch_one(&mut bench.conn).await;
    let was: String = was.expect("reads").get(0);
    bench.set(join, "own", "'{'").await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert_eq!(worker.drain(&bench.store).await, [left, right]);
    assert_eq!(bench.listed().await, [(join, "own".to_owned())]);
    bench.set(join, "own", &was).await;
    assert!(bench.store.repair_unreadable(join).await.expect("repairs"));
    assert_eq!(worker.drain(&bench.store).await, [join]);
    let group = bench.store.group(group).await.expect("reads").expect("is there");
    assert_eq!(group.state, GroupState::Succeeded);
}

// spec: C-07
#[tokio::test]
async fn c_07_graph_goes_on_without_a_step_that_was_dropped() {
    let mut bench = Bench::new().await;
    let (graph, group, [left, right, join]) = fan_in();
    bench.store.insert_graph(graph).await.expect("inserts");
    bench.set(left, "own", "'{'").await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert_eq!(worker.drain(&bench.store).await, [right]);
    assert!(bench.store.drop_unreadable(left).await.expect("drops"));
    let job = bench.store.get(join).await.expect("reads").expect("is there");
    assert_eq!(
        (job.state, job.canceled),
        (JobState::Canceled, Some(CancelCause::UpstreamCanceled))
    );
    let group = bench.store.group(group).await.expect("reads").expect("is there");
    assert!(group.state.is_ended(), "{:?}", group.state);
}

// spec: C-07
#[tokio::test]
async fn c_07_options_of_a_newer_version_concern_their_own_jobs_only() {
    let mut bench = Bench::new().await;
    let (old, new) = (job("mail"), job("newer"));
    bench.insert(&[new.clone(), old.clone()]).await;
    bench
        .run(
            "UPDATE ratchet_template SET body = json_set(body, '$.options.max_retries', 'as long as it takes') \
             WHERE name = 'newer'",
        )
        .await;
    // This process has cached the template. Another one must read it.
    bench.store = open(&bench.path).await;
    let worker = Node::join(&bench.store, &["mail", "newer"]).await;
    assert_eq!(worker.drain(&bench.store).await, [old.id]);
    assert_eq!(bench.listed().await, [(new.id, "template".to_owned())]);
    assert_eq!(bench.state(old.id).await, JobState::Succeeded);
}

// spec: C-07
#[tokio::test]
async fn c_07_damaged_gates_and_nodes_hold_up_nobody_else() {
    let mut bench = Bench::new().await;
    let new = job("mail");
    bench.insert(std::slice::from_ref(&new)).await;
    let strange = NodeInfo::new(NodeId::from_uuid(Uuid::now_v7()));
    bench.store.join(strange, crate::node::LEASE).await.expect("joins");
    bench.run("UPDATE ratchet_node SET known = '{', queues = '7', pid = -1").await;
    bench
        .run("INSERT INTO ratchet_breaker VALUES ('bank', 0, '{'), (CAST(x'ff' AS TEXT), 0, '{')")
        .await;
    bench.run("INSERT INTO ratchet_queue VALUES ('other', 1, '{')").await;
    bench.run("INSERT INTO ratchet_aside VALUES (7, 'default', CAST(x'ff' AS TEXT), 1, NULL, NULL, NULL, 1, NULL, NULL)").await;
    bench.run("INSERT INTO ratchet_count VALUES (7, 9, 1), (7, 0, 9223372036854775807)").await;
    bench.run("INSERT INTO ratchet_schedule VALUES ('broken', -1, 0, 0, '{')").await;
    bench.run("INSERT INTO ratchet_lingering VALUES (x'00', x'00', 1, x'00', 1, NULL, 'default', NULL)").await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert_eq!(worker.drain(&bench.store).await, [new.id]);
    bench.store.orphans(10).await.expect("sweeps");
    let left = sqlx::query("SELECT count(*) FROM ratchet_lingering").fetch_one(&mut bench.conn);
    assert_eq!(left.await.expect("reads").get::<i64, _>(0), 0, "a run without a node is released");
    bench.store.counts().await.expect("counts");
    assert!(bench.store.due_schedules(10).await.expect("lists").is_empty());
    assert_eq!(bench.store.nodes().await.expect("lists").len(), 1);
    assert!(bench.store.breakers().await.expect("lists").is_empty());
    bench.store.unknown_jobs().await.expect("lists");
    // The limits in the damaged rules are unknown, so the queue is paused until it is resumed.
    let rules = bench.store.queues().await.expect("lists");
    assert!(rules.len() == 1 && rules[0].rules.paused);
    assert!(
        bench
            .store
            .update_queue("other", ratchet_store::model::QueueUpdate::Resume)
            .await
            .expect("resumes")
    );
    assert!(bench.store.queues().await.expect("lists").is_empty());
}
