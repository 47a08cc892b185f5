//! C-07: a row that cannot be read affects only its own job. It is set aside, listed, and repaired or dropped. All
//! other jobs run.

use crate::support::Database;
use ratchet_conformance::damage::{Node, job, succeeded};
use ratchet_core::{JobState, StoreErrorKind};
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    AttemptOutcome, CancelCause, Claimed, Command, CommandError, Edge, EdgeTrigger, Filter,
    GroupId, GroupKind, GroupRecord, JobId, NewGraph, NewJob, PageRequest, Settled, Settlement,
    Step, Verdict, Vertex,
};
use ratchet_store::rules::graph::link;
use sqlx::Row as _;
use uuid::Uuid;

const PAGE: PageRequest = PageRequest { before: None, limit: 10 };

struct Bench {
    store: PgStore,
    database: Database,
}

impl Bench {
    async fn new() -> Self {
        let database = Database::take().await;
        let store = PgStore::open(database.options()).await.expect("opens");
        Self { store, database }
    }

    async fn insert(&self, jobs: &[NewJob]) {
        self.store.insert(jobs.to_vec()).await.expect("inserts");
    }

    /// Sets a column of a job's row to an SQL expression. Returns the old value as an expression.
    async fn set(&self, table: &str, id: JobId, column: &str, value: &str) -> String {
        let key = if table == "job" { "id" } else { "job" };
        let read =
            format!("SELECT quote_nullable({column}::text) FROM ratchet.{table} WHERE {key} = $1");
        let was = sqlx::query(sqlx::AssertSqlSafe(read)).bind(id.uuid());
        let was: String = was.fetch_one(&self.database.pool).await.expect("reads").get(0);
        let write = format!("UPDATE ratchet.{table} SET {column} = {value} WHERE {key} = $1");
        let done = sqlx::query(sqlx::AssertSqlSafe(write)).bind(id.uuid());
        let done = done.execute(&self.database.pool).await.expect("writes");
        assert_eq!(done.rows_affected(), 1);
        was
    }

    /// Returns the jobs listed as unreadable, with the damaged column.
    async fn listed(&self) -> Vec<(JobId, String)> {
        let listed = self.store.unreadable(100).await.expect("lists");
        let count = self.store.count_unreadable().await.expect("counts");
        assert_eq!(count, listed.len() as u64);
        listed.into_iter().map(|job| (job.id, job.column)).collect()
    }

    async fn count(&self, state: JobState) -> u64 {
        self.store.counts().await.expect("counts").state(state)
    }
}

/// Claims all three jobs and releases them with a checkpoint each, so that the next claim looks them up and reads their
/// notes.
async fn run_once(bench: &Bench, worker: &Node) {
    let claimed = worker.claim(&bench.store, 10).await.expect("claims").jobs;
    let back = claimed.iter().map(|claimed| {
        let mut back = Settlement::new(claimed.token, Verdict::Release, AttemptOutcome::Released);
        back.notes.checkpoint = Some(serde_json::json!({"at": 7}));
        back
    });
    bench.store.settle(back.collect()).await.expect("settles");
}

const DEEP: &str = "repeat('[', 200) || repeat(']', 200)";

// spec: C-07
#[tokio::test]
async fn c_07_unreadable_job_is_left_out_of_the_claim() {
    for (table, column, value) in [
        ("job", "extra", "'{\"options\": 7}'"),
        ("job", "extra", "'{\"step\": \"unheard-of\"}'"),
        ("job", "extra", "'{\"on_success\": ' || repeat('[', 200) || repeat(']', 200) || '}'"),
        ("note", "checkpoint", DEEP),
        ("note", "checkpoint", "'{'"),
    ] {
        let bench = Bench::new().await;
        let jobs = [job("mail"), job("mail"), job("mail")];
        bench.insert(&jobs).await;
        let [first, bad, last] = jobs.each_ref().map(|job| job.id);
        let worker = Node::join(&bench.store, &["mail"]).await;
        run_once(&bench, &worker).await;
        let was = bench.set(table, bad, column, value).await;
        let what = format!("{table}.{column} = {value}");
        // The rest of the same claim runs at once.
        let claimed = worker.claim(&bench.store, 10).await.expect("claims").jobs;
        assert_eq!(claimed.iter().map(Claimed::id).collect::<Vec<_>>(), [first, last], "{what}");
        let settled = bench.store.settle(claimed.iter().map(succeeded).collect()).await;
        let settled = settled.expect("settles");
        assert!(settled.iter().all(|it| matches!(it, Settled::Applied(_))), "{what}: {settled:?}");
        assert!(worker.drain(&bench.store).await.is_empty(), "{what}");
        assert_eq!(bench.listed().await, [(bad, column.to_owned())], "{what}");
        let listed = &bench.store.unreadable(1).await.expect("lists")[0];
        assert_eq!(listed.queue.as_deref(), Some("default"));
        assert_eq!(listed.name.as_deref(), Some("mail"));
        assert_eq!(
            (bench.count(JobState::Pending).await, bench.count(JobState::Running).await),
            (1, 0)
        );

        // Reading this job fails with an instruction. The list is returned without it.
        let error = bench.store.get(bad).await.expect_err("cannot be read");
        assert_eq!(error.kind(), StoreErrorKind::Data, "{error}");
        assert!(error.to_string().contains(column), "{error}");
        let page = bench.store.list(&Filter::any(), PAGE).await.expect("lists");
        assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [last, first]);
        let refused = bench.store.command(Command::Pause(bad)).await.expect_err("refused");
        assert!(matches!(refused, CommandError::Store(_)), "{refused}");

        // It is not returned to the queue before it is repaired.
        assert!(!bench.store.repair_unreadable(bad).await.expect("looks"));
        assert_eq!(bench.listed().await.len(), 1);
        bench.set(table, bad, column, &was).await;
        assert!(bench.store.repair_unreadable(bad).await.expect("repairs"));
        assert!(bench.listed().await.is_empty());
        assert!(!bench.store.repair_unreadable(bad).await.expect("it is done"));
        assert_eq!(worker.drain(&bench.store).await, [bad], "{what}");
        assert_eq!(bench.count(JobState::Succeeded).await, 3);
    }
}

// spec: C-07
#[tokio::test]
async fn c_07_a_page_that_has_an_unreadable_job_leaves_out_no_other() {
    let bench = Bench::new().await;
    let jobs = [job("mail"), job("mail"), job("mail")];
    bench.insert(&jobs).await;
    let [first, second, last] = jobs.each_ref().map(|job| job.id);
    bench.set("job", last, "extra", "'{\"options\": 7}'").await;
    let filter = Filter::any().name("mail");
    let (mut found, mut before) = (Vec::new(), None);
    for _ in 0..jobs.len() {
        let request = PageRequest { before, limit: 1 };
        let page = bench.store.list(&filter, request).await.expect("a page");
        found.extend(page.jobs.iter().map(|job| job.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!((found, before), (vec![second, first], None));
    assert_eq!(bench.listed().await, [(last, "extra".to_owned())]);
}

/// Inserts jobs, one of which makes the claim statement fail.
async fn unclaimable(bench: &Bench) -> [JobId; 3] {
    let mut jobs = [job("mail"), job("mail"), job("mail")];
    for job in &mut jobs {
        // With tags, the job is not plain and must be looked up.
        job.spec.tags = vec!["a".to_owned()];
    }
    bench.insert(&jobs).await;
    let ids = jobs.each_ref().map(|job| job.id);
    bench.set("ready", ids[1], "version", &i64::MAX.to_string()).await;
    ids
}

// spec: C-07
#[tokio::test]
async fn c_07_claim_that_one_job_makes_fail_leaves_it_out() {
    let bench = Bench::new().await;
    let [first, bad, last] = unclaimable(&bench).await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert_eq!(worker.drain(&bench.store).await, [first, last]);
    let listed = bench.listed().await;
    assert_eq!(listed.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [bad]);
    bench.set("blocked", bad, "version", "0").await;
    assert!(bench.store.repair_unreadable(bad).await.expect("repairs"));
    assert_eq!(worker.drain(&bench.store).await, [bad]);
}

// spec: C-07
#[tokio::test]
async fn c_07_settlement_does_not_depend_on_the_claim_beside_it() {
    let bench = Bench::new().await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    bench.insert(&[job("mail")]).await;
    let running = worker.claim(&bench.store, 1).await.expect("claims").jobs;
    let [first, _, last] = unclaimable(&bench).await;
    let settlements = running.iter().map(succeeded).collect();
    let (settled, reply) =
        bench.store.settle_and_claim(settlements, worker.request(10)).await.expect("settles");
    assert!(matches!(settled[..], [Settled::Applied(_)]), "{settled:?}");
    assert_eq!(reply.jobs.iter().map(Claimed::id).collect::<Vec<_>>(), [first, last]);
}

// spec: C-07
#[tokio::test]
async fn c_07_claimed_job_without_a_row_holds_up_no_other() {
    let bench = Bench::new().await;
    let mut jobs = [job("mail"), job("mail")];
    for job in &mut jobs {
        job.spec.tags = vec!["a".to_owned()];
    }
    bench.insert(&jobs).await;
    let [gone, other] = jobs.each_ref().map(|job| job.id);
    let delete = sqlx::query("DELETE FROM ratchet.job WHERE id = $1").bind(gone.uuid());
    delete.execute(&bench.database.pool).await.expect("deletes");
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert_eq!(worker.drain(&bench.store).await, [other]);
    assert_eq!(bench.count(JobState::Running).await, 0, "its lease is empty");
    assert_eq!(bench.listed().await, [(gone, "job".to_owned())]);
    assert!(bench.store.drop_unreadable(gone).await.expect("drops"));
    assert!(bench.listed().await.is_empty());
}

// spec: C-07
#[tokio::test]
async fn c_07_dropped_job_leaves_nothing_behind() {
    let bench = Bench::new().await;
    let mut keyed = job("mail");
    keyed.spec.business_key = Some("order-7".to_owned());
    bench.insert(std::slice::from_ref(&keyed)).await;
    bench.set("job", keyed.id, "extra", "'{\"options\": 7}'").await;
    // Listing all jobs finds it.
    bench.store.list(&Filter::any(), PAGE).await.expect("lists");
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert!(worker.drain(&bench.store).await.is_empty());
    assert_eq!(bench.listed().await, [(keyed.id, "extra".to_owned())]);
    let again = || NewJob { id: JobId::from_uuid(Uuid::now_v7()), ..keyed.clone() };
    // It holds its key until it is dropped.
    bench.store.insert(vec![again()]).await.expect_err("the key is taken");
    assert!(bench.store.drop_unreadable(keyed.id).await.expect("drops"));
    let again = again();
    bench.insert(std::slice::from_ref(&again)).await;
    assert_eq!(worker.drain(&bench.store).await, [again.id]);
    assert!(!bench.store.drop_unreadable(keyed.id).await.expect("it is gone"));
    assert_eq!(bench.store.get(keyed.id).await.expect("reads"), None);
    assert_eq!(bench.count(JobState::Pending).await, 0);
    let tables =
        "SELECT (SELECT count(*) FROM ratchet.blocked) + (SELECT count(*) FROM ratchet.business)
        + (SELECT count(*) FROM ratchet.unreadable) + (SELECT count(*) FROM ratchet.lease)";
    let left: i64 =
        sqlx::query_scalar(tables).fetch_one(&bench.database.pool).await.expect("reads");
    assert_eq!(left, 0);
}

// spec: C-07
#[tokio::test]
async fn c_07_run_of_a_job_that_became_unreadable_can_be_dropped() {
    let bench = Bench::new().await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    bench.insert(&[job("mail"), job("mail")]).await;
    let claimed = worker.claim(&bench.store, 10).await.expect("claims").jobs;
    let [bad, other] = [&claimed[0], &claimed[1]];
    bench.set("job", bad.id(), "extra", "'{\"options\": 7}'").await;
    bench.store.get(bad.id()).await.expect_err("cannot be read");
    assert!(bench.store.drop_unreadable(bad.id()).await.expect("drops"));
    let settled = bench.store.settle(vec![succeeded(bad), succeeded(other)]).await;
    let settled = settled.expect("settles");
    assert!(
        matches!(settled[..], [Settled::Stale { state: None }, Settled::Applied(_)]),
        "{settled:?}"
    );
    assert_eq!(bench.count(JobState::Running).await, 0);
    assert_eq!(bench.count(JobState::Succeeded).await, 1);
}

// spec: C-07
#[tokio::test]
async fn c_07_orphan_that_cannot_be_read_holds_up_no_rescue() {
    let bench = Bench::new().await;
    let lost = Node::join(&bench.store, &["mail"]).await;
    bench.insert(&[job("mail"), job("mail"), job("mail")]).await;
    let claimed = lost.claim(&bench.store, 10).await.expect("claims").jobs;
    bench.store.leave(lost.id).await.expect("leaves");
    let bad = claimed[1].id();
    bench.set("job", bad, "extra", "'{\"options\": 7}'").await;
    let orphans = bench.store.orphans(10).await.expect("looks");
    let found: Vec<_> = orphans.iter().map(|orphan| orphan.claimed.id()).collect();
    assert_eq!(found, [claimed[0].id(), claimed[2].id()]);
    assert_eq!(bench.listed().await, [(bad, "extra".to_owned())]);
    // It is no longer an orphan, but waits for a repair.
    let again = bench.store.orphans(10).await.expect("looks");
    assert_eq!(again.len(), 2);
    assert_eq!(
        (bench.count(JobState::Pending).await, bench.count(JobState::Running).await),
        (1, 2)
    );
}

/// Returns a graph of two steps and a third one that waits for both.
fn fan_in() -> (NewGraph, GroupId, [JobId; 3]) {
    let group = GroupId::from_uuid(Uuid::now_v7());
    let mut graph = NewGraph::default();
    graph.groups.push(GroupRecord::new(group, GroupKind::Workflow, "fan-in"));
    let mut ids = Vec::new();
    for number in 0..3 {
        let mut job = job("mail");
        let mut step = Step::default();
        (step.group, step.number) = (Some(group), number);
        job.spec.step = Some(Box::new(step));
        ids.push(job.id);
        graph.jobs.push(job);
    }
    for parent in &ids[..2] {
        graph.edges.push(Edge::new(
            Vertex::Job(*parent),
            Vertex::Job(ids[2]),
            EdgeTrigger::Success,
        ));
    }
    link(&mut graph);
    (graph, group, ids.try_into().expect("three"))
}

// spec: C-07
#[tokio::test]
async fn c_07_graph_goes_on_without_a_step_that_was_dropped() {
    let bench = Bench::new().await;
    let (graph, group, [first, bad, last]) = fan_in();
    bench.store.insert_graph(graph).await.expect("inserts");
    bench.set("job", bad, "extra", "'{\"options\": 7}'").await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    assert_eq!(worker.drain(&bench.store).await, [first]);
    assert!(bench.store.drop_unreadable(bad).await.expect("drops"));
    let step = bench.store.get(last).await.expect("reads").expect("is there");
    let called_off = Some(CancelCause::UpstreamCanceled);
    assert_eq!((step.state, step.canceled), (JobState::Canceled, called_off));
    let group = bench.store.group(group).await.expect("reads").expect("is there");
    assert!(group.state.is_ended(), "{:?}", group.state);
}

// spec: C-07
#[tokio::test]
async fn c_07_damaged_gates_hold_up_no_other() {
    let bench = Bench::new().await;
    for sql in [
        "INSERT INTO ratchet.queue (name, limited, rules) VALUES ('default', true, '{\"limits\": 7}')",
        "INSERT INTO ratchet.breaker (service, closed, until, breaker) VALUES ('bank', false, 0, '[]')",
        "INSERT INTO ratchet.schedule (name, version, next, paused, body) VALUES ('nightly', 1, 0, false, '{')",
    ] {
        bench.database.execute(sql).await;
    }
    let mut other = job("mail");
    other.spec.queue = "other".to_owned();
    let mut call = job("mail");
    (call.spec.queue, call.spec.service) = ("other".to_owned(), Some("bank".to_owned()));
    bench.insert(&[other, call, job("mail")]).await;
    let worker = Node::join(&bench.store, &["mail"]).await;
    let mut request = worker.request(10);
    request.queues[0].queue = "other".to_owned();
    assert_eq!(bench.store.claim(request).await.expect("claims").jobs.len(), 2);
    // A queue whose rules cannot be read is paused until it gets new ones.
    assert!(worker.drain(&bench.store).await.is_empty());
    assert!(bench.store.queues().await.expect("lists").iter().all(|queue| queue.rules.paused));
    bench
        .store
        .update_queue("default", ratchet_store::model::QueueUpdate::Resume)
        .await
        .expect("obeys");
    assert_eq!(worker.drain(&bench.store).await.len(), 1);
    assert!(bench.store.schedules().await.expect("lists").is_empty());
    assert!(bench.store.due_schedules(10).await.expect("lists").is_empty());
    bench.store.breakers().await.expect("lists");
}
