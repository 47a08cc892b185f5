//! C-07 as a property: any column of any row of a live store is damaged, and everything else goes on.
//!
//! Seeds are fixed; `RATCHET_DAMAGES` runs more of them.

mod node;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use node::{LEASE, Node, job, succeeded};
use ratchet_core::VirtualClock;
use ratchet_core::graph::link;
use ratchet_core::model::{
    AttemptOutcome, Channel, ConcurrencyKey, Due, Edge, Filter, GroupFilter, GroupId, GroupKind,
    GroupRecord, JobId, JobOutcome, JobState, NewGraph, NewHandOff, NewJob, NewReject, Notice,
    PageRequest, Point, RejectFilter, ScheduleRecord, Settled, Settlement, Step, Verdict, When,
    WriteSchedule,
};
use ratchet_core::store::Store as _;
use ratchet_sqlite::{SqliteStore, Synchronous};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection};
use uuid::Uuid;

/// Tables whose rows are damaged. What is left out says how much or who, not what: counts, the leader, the schema, the rules of
/// queues (a queue whose rules are damaged is paused), and what this feature writes itself.
const TABLES: &[&str] = &[
    "ratchet_job",
    "ratchet_template",
    "ratchet_ledger",
    "ratchet_business",
    "ratchet_lingering",
    "ratchet_breaker",
    "ratchet_attempt",
    "ratchet_log",
    "ratchet_node",
    "ratchet_alert",
    "ratchet_delivery",
    "ratchet_group",
    "ratchet_edge",
    "ratchet_schedule",
    "ratchet_reject",
    "ratchet_hand_off",
];

/// A store with a little of everything.
struct Live {
    store: SqliteStore,
    conn: SqliteConnection,
    clock: VirtualClock,
    names: Vec<String>,
    /// Jobs that are to run, by what they depend on beside their own row.
    plain: Vec<JobId>,
    orphans: Vec<JobId>,
    steps: Vec<JobId>,
}

async fn open(path: &Path, clock: &VirtualClock) -> SqliteStore {
    SqliteStore::options(path)
        .synchronous(Synchronous::Normal)
        .clock(Arc::new(clock.clone()))
        .open()
        .await
        .expect("opens")
}

impl Live {
    async fn new(path: &Path) -> Self {
        let clock = VirtualClock::new();
        let store = open(path, &clock).await;
        let conn = SqliteConnectOptions::new().filename(path).connect().await.expect("connects");
        // A name of its own for each, so that a damaged template concerns one job.
        let names = (0..32).map(|number| format!("job.{number}")).collect();
        let mut live = Self {
            store,
            conn,
            clock,
            names,
            plain: Vec::new(),
            orphans: Vec::new(),
            steps: Vec::new(),
        };
        live.fill().await;
        live
    }

    async fn worker(&self) -> Node {
        let names: Vec<_> = self.names.iter().map(String::as_str).collect();
        Node::join(&self.store, &names).await
    }

    async fn fill(&mut self) {
        let worker = self.worker().await;
        let mut names = self.names.clone().into_iter();
        let mut fresh = || job(&names.next().expect("enough names"));
        let ended: Vec<NewJob> = (0..4).map(|_| fresh()).collect();
        self.store.insert(ended).await.expect("inserts");
        let claimed = worker.claim(&self.store, 10).await.expect("claims").jobs;
        let settled = claimed.iter().enumerate().map(|(number, claimed)| {
            let mut settlement = succeeded(claimed);
            if number == 0 {
                settlement.verdict = Verdict::Release;
                settlement.outcome = AttemptOutcome::Released;
                settlement.notes.warnings.push("odd".to_owned());
                settlement.notes.checkpoint = Some(serde_json::json!({"at": 7}));
            }
            let outcome = JobOutcome::success(claimed, None, Duration::ZERO);
            settlement.notices = vec![Notice::Outcome(outcome.into())];
            let (pipeline, key) = ("next".to_owned(), number.to_string());
            let checkpoint = serde_json::json!([number]);
            settlement.hand_offs = vec![NewHandOff { pipeline, key, checkpoint }];
            settlement.rejects = vec![NewReject {
                index: 1,
                error_type: "E".to_owned(),
                message: "m".to_owned(),
                fingerprint: "f".to_owned(),
                payload: None,
            }];
            settlement
        });
        self.store.settle(settled.collect()).await.expect("settles");
        self.plain.push(claimed[0].id());

        let orphaned: Vec<NewJob> = (0..3).map(|_| fresh()).collect();
        self.orphans.extend(orphaned.iter().map(|job| job.id));
        self.store.insert(orphaned).await.expect("inserts");
        let others: HashSet<_> = self.plain.iter().copied().collect();
        let claimed = worker.claim(&self.store, 10).await.expect("claims").jobs;
        let back = claimed.iter().filter(|claimed| others.contains(&claimed.id()));
        let back = back.map(|claimed| {
            Settlement::new(claimed.token, Verdict::Release, AttemptOutcome::Released)
        });
        self.store.settle(back.collect()).await.expect("settles");
        self.store.leave(worker.id).await.expect("leaves");

        let mut waiting: Vec<NewJob> = (0..6).map(|_| fresh()).collect();
        waiting[1].due = Due::In(Duration::from_mins(1));
        waiting[2].spec.business_key = Some("order-7".to_owned());
        waiting[3].spec.idempotency_key = Some("once".to_owned());
        waiting[4].spec.concurrency = Some(ConcurrencyKey { key: "one".to_owned(), limit: 1 });
        waiting[5].spec.tags = vec!["a".to_owned()];
        self.plain.extend(waiting.iter().map(|job| job.id));
        self.store.insert(waiting).await.expect("inserts");

        let group = GroupId::from_uuid(Uuid::now_v7());
        let mut graph = NewGraph::default();
        graph.groups.push(GroupRecord::new(group, GroupKind::Chain, "chain"));
        for number in 0..3 {
            let mut job = fresh();
            let mut step = Step::default();
            step.group = Some(group);
            step.number = number;
            job.spec.step = Some(Box::new(step));
            if let Some(before) = self.steps.last() {
                graph.edges.push(Edge::new(Point::Job(*before), Point::Job(job.id), When::Success));
            }
            self.steps.push(job.id);
            graph.jobs.push(job);
        }
        link(&mut graph);
        self.store.insert_graph(graph).await.expect("inserts");

        for name in ["first", "second"] {
            let mut record = ScheduleRecord::new(name, fresh().spec, "* * * * *");
            record.next = Some(self.store.now().await.expect("a time"));
            let (name, record) = (name.to_owned(), Some(record));
            let write = WriteSchedule { name, replaces: None, record, jobs: Vec::new() };
            self.store.write_schedule(write).await.expect("writes");
        }
        for sql in [
            "INSERT INTO ratchet_log VALUES (randomblob(16), 1, '{}')",
            "INSERT INTO ratchet_alert (job, name, fingerprint, message, at) VALUES (zeroblob(16), 'a', 'f', 'm', 7)",
            "INSERT INTO ratchet_breaker VALUES ('bank', 0, '{}')",
            "INSERT INTO ratchet_lingering VALUES (randomblob(16), randomblob(16), 1, randomblob(16), 1, 'one', 'default', NULL)",
        ] {
            sqlx::query(AssertSqlSafe(sql.to_owned()))
                .execute(&mut self.conn)
                .await
                .expect("writes");
        }
    }

    /// Everything that looks at many rows. None of it may fail.
    async fn sweep(&self, what: &str) {
        let store = &self.store;
        let hold = Duration::from_secs(1);
        let page = PageRequest { before: None, limit: 1000 };
        store.list(&Filter::any(), page).await.expect(what);
        store.counts().await.expect(what);
        store.nodes().await.expect(what);
        store.unknown_jobs().await.expect(what);
        store.alerts(100).await.expect(what);
        store.schedules().await.expect(what);
        store.due_schedules(100).await.expect(what);
        store.queues().await.expect(what);
        store.breakers().await.expect(what);
        store.groups(&GroupFilter::default(), None, 100).await.expect(what);
        store.rejects(&RejectFilter::any(), None, 100).await.expect(what);
        store.reject_groups(&RejectFilter::any()).await.expect(what);
        store.hand_off_stats("next").await.expect(what);
        store.take_hand_offs("next", 100, hold).await.expect(what);
        for channel in [Channel::Alerts, Channel::DeadLetters, Channel::Outcomes] {
            store.undelivered(channel, 100, hold).await.expect(what);
        }
        store.unreadable(100).await.expect(what);
        store.orphans(100).await.expect(what);
        for state in [JobState::Failed, JobState::Canceled] {
            store.purge(state, Duration::from_hours(1), 100).await.expect(what);
        }
    }

    /// Rescues and runs everything there is; answers what ran.
    async fn drain(&self, what: &str) -> HashSet<JobId> {
        let worker = self.worker().await;
        let mut ran = HashSet::new();
        loop {
            store_beat(&self.store, &worker, what).await;
            let orphans = self.store.orphans(100).await.expect(what);
            let rescue = |orphan: &ratchet_core::model::Orphan| {
                let verdict = Verdict::Rescue { delay: Duration::ZERO, crashes: 0 };
                Settlement::new(orphan.claimed.token, verdict, AttemptOutcome::Crashed)
            };
            let rescued =
                self.store.settle(orphans.iter().map(rescue).collect()).await.expect(what);
            let claimed = worker.claim(&self.store, 100).await.expect(what).jobs;
            let settled = self.store.settle(claimed.iter().map(succeeded).collect()).await;
            let settled = settled.expect(what);
            let applied = |settled: &Settled| matches!(settled, Settled::Applied(_));
            if !rescued.iter().chain(&settled).any(applied) {
                return ran;
            }
            let done = claimed.iter().zip(&settled).filter(|(_, settled)| applied(settled));
            ran.extend(done.map(|(claimed, _)| claimed.id()));
        }
    }
}

async fn store_beat(store: &SqliteStore, worker: &Node, what: &str) {
    store.heartbeat(worker.id, LEASE).await.expect(what);
}

/// One cell of one row.
#[derive(Debug, Clone)]
struct Damage {
    table: &'static str,
    column: String,
    rowid: String,
    /// As it was, as an SQL literal.
    was: String,
    #[allow(dead_code)] // told when it fails
    /// As it is, as an SQL expression.
    now: String,
    /// For a row of a job: its place in the table.
    seq: Option<i64>,
}

fn value(rng: &mut Rng, kind: &str, nullable: bool) -> String {
    if nullable && rng.u8(..5) == 0 {
        return "NULL".to_owned();
    }
    let random = |rng: &mut Rng, length: usize| {
        let mut hex = String::new();
        for _ in 0..length {
            write!(hex, "{:02x}", rng.u8(..)).expect("writes");
        }
        hex
    };
    match kind {
        "INTEGER" => match rng.u8(..6) {
            0 => "-1".to_owned(),
            1 => "9".to_owned(),
            2 => i64::MAX.to_string(),
            3 => "(-9223372036854775807 - 1)".to_owned(),
            4 => "5000000000".to_owned(),
            _ => rng.i64(i64::MIN + 1..).to_string(),
        },
        "BLOB" => {
            let length = *rng.choice(&[0, 1, 15, 16, 17, 40]).expect("one");
            format!("x'{}'", random(rng, length))
        }
        _ => match rng.u8(..7) {
            0 => "''".to_owned(),
            1 => "'{'".to_owned(),
            2 => format!("'{}{}'", "[".repeat(200), "]".repeat(200)),
            3 => format!("CAST(x'{}' AS TEXT)", random(rng, 7)),
            4 => "'{\"version\":99,\"future\":{\"kind\":\"unheard-of\"}}'".to_owned(),
            5 => "'null'".to_owned(),
            _ => "'7'".to_owned(),
        },
    }
}

/// Damages one cell. None if the database does not let it.
async fn damage(conn: &mut SqliteConnection, rng: &mut Rng) -> Option<Damage> {
    // Half of it hits jobs.
    let table = if rng.bool() { "ratchet_job" } else { rng.choice(TABLES).copied()? };
    let info = sqlx::query(AssertSqlSafe(format!("PRAGMA table_info({table})")));
    let info = info.fetch_all(&mut *conn).await.expect("columns");
    let info = rng.choice(&info)?;
    let (column, kind): (String, String) = (info.get("name"), info.get("type"));
    if column == "seq" || (table == "ratchet_node" && column == "lease_until") {
        return None;
    }
    let nullable = info.get::<i64, _>("notnull") == 0 && info.get::<i64, _>("pk") == 0;
    // Tables without rowids are named by their whole key.
    let keys = sqlx::query(AssertSqlSafe(format!(
        "SELECT group_concat(name, '||') FROM (SELECT 'quote(' || name || ')' AS name FROM pragma_table_info('{table}') WHERE pk > 0)"
    )));
    let key: String = keys.fetch_one(&mut *conn).await.expect("a key").get(0);
    let rows = sqlx::query(AssertSqlSafe(format!(
        "SELECT {key}, quote({column}) FROM {table} ORDER BY 1"
    )));
    let rows = rows.fetch_all(&mut *conn).await.expect("rows");
    let row = rng.choice(&rows)?;
    let (rowid, was): (String, String) = (row.get(0), row.get(1));
    let now = value(rng, &kind, nullable);
    let write = format!("UPDATE {table} SET {column} = {now} WHERE {key} = ?1");
    let done = sqlx::query(AssertSqlSafe(write)).bind(&rowid).execute(&mut *conn).await.ok()?;
    assert_eq!(done.rows_affected(), 1);
    let seq = (table == "ratchet_job").then(|| rowid.parse().expect("a number"));
    Some(Damage { table, column, rowid, was, now, seq })
}

async fn ids(conn: &mut SqliteConnection) -> BTreeMap<i64, Vec<u8>> {
    let rows = sqlx::query("SELECT seq, id FROM ratchet_job").fetch_all(conn).await.expect("reads");
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Jobs that need not run: those that are damaged, and those that depend on what is.
async fn concerned(
    live: &mut Live,
    damages: &[Damage],
    seqs: &BTreeMap<JobId, i64>,
) -> HashSet<JobId> {
    let mut concerned = HashSet::new();
    let damaged: HashSet<_> = damages.iter().filter_map(|damage| damage.seq).collect();
    let in_table = |table: &str| damages.iter().any(|damage| damage.table == table);
    concerned.extend(seqs.iter().filter(|(_, seq)| damaged.contains(seq)).map(|(id, _)| *id));
    let graph = ["ratchet_group", "ratchet_edge"].into_iter().any(in_table)
        || live.steps.iter().any(|step| concerned.contains(step));
    if graph {
        concerned.extend(&live.steps);
    }
    if in_table("ratchet_node") {
        concerned.extend(&live.orphans);
    }
    for damage in damages.iter().filter(|damage| damage.table == "ratchet_template") {
        // By its old or its new id.
        let jobs = sqlx::query(
            "SELECT seq FROM ratchet_job WHERE template = ?1 OR NOT EXISTS (SELECT 1 FROM ratchet_template WHERE id = template)",
        );
        let jobs = jobs.bind(damage.rowid.parse::<i64>().expect("a number"));
        let jobs = jobs.fetch_all(&mut live.conn).await.expect("reads");
        let jobs: HashSet<i64> = jobs.iter().map(|row| row.get(0)).collect();
        let hit: Vec<_> =
            seqs.iter().filter(|(_, seq)| jobs.contains(seq)).map(|(id, _)| *id).collect();
        if hit.iter().any(|id| live.steps.contains(id)) {
            concerned.extend(&live.steps);
        }
        concerned.extend(hit);
    }
    if in_table("ratchet_lingering") {
        // A run that lingers for ever holds the key of this one.
        concerned.insert(live.plain[5]);
    }
    concerned
}

async fn one(seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let mut live = Live::new(&path).await;
    let mut rng = Rng::with_seed(seed);
    let as_job = |id: &[u8]| Uuid::from_slice(id).ok().map(JobId::from_uuid);
    let before = ids(&mut live.conn).await;
    let seqs: BTreeMap<JobId, i64> =
        before.iter().map(|(seq, id)| (as_job(id).expect("an id"), *seq)).collect();
    let mut damages: Vec<Damage> = Vec::new();
    let most = rng.usize(1..5);
    while damages.len() < most {
        damages.extend(damage(&mut live.conn, &mut rng).await);
    }
    let what = format!("seed {seed}: {damages:?}");
    let concerned = concerned(&mut live, &damages, &seqs).await;
    // Half of the time another process meets it, which remembers nothing.
    if rng.bool() {
        live.store = open(&path, &live.clock).await;
    }
    live.sweep(&what).await;
    let mut ran = live.drain(&what).await;
    live.clock.advance(Duration::from_mins(2));
    ran.extend(live.drain(&what).await);
    for id in live.plain.iter().chain(&live.orphans).chain(&live.steps) {
        assert!(concerned.contains(id) || ran.contains(id), "{id} did not run; {what}");
    }

    // Whoever looks at all jobs has met what is damaged: it can be read, or it is listed.
    live.sweep(&what).await;
    let listed = live.store.unreadable(100).await.expect(&what);
    let count = live.store.count_unreadable().await.expect(&what);
    assert_eq!(count, listed.len() as u64, "{what}");
    for (seq, id) in ids(&mut live.conn).await {
        let found = sqlx::query("SELECT 1 FROM ratchet_unreadable WHERE seq = ?1").bind(seq);
        let aside = found.fetch_optional(&mut live.conn).await.expect(&what).is_some();
        let read = match as_job(&id) {
            Some(id) => live.store.get(id).await.is_ok_and(|job| job.is_some()),
            None => false,
        };
        assert!(aside || read, "job {seq} is neither readable nor listed; {what}");
    }

    // Half of them are repaired by hand and put back; the rest is dropped.
    let repairs = rng.bool();
    if repairs {
        for damage in damages.iter().rev().filter(|damage| damage.table == "ratchet_job") {
            let Damage { column, was, seq, .. } = damage;
            let write = format!("UPDATE ratchet_job SET {column} = {was} WHERE seq = ?1");
            // What has moved meanwhile is put back as it is, unless that is what was damaged.
            let still = sqlx::query("SELECT 1 FROM ratchet_unreadable WHERE seq = ?1").bind(seq);
            if still.fetch_optional(&mut live.conn).await.expect(&what).is_some() {
                let write = sqlx::query(AssertSqlSafe(write)).bind(seq);
                write.execute(&mut live.conn).await.expect(&what);
            }
        }
    }
    for job in listed {
        let repaired = repairs && live.store.repair_unreadable(job.id).await.expect(&what);
        if !repaired {
            assert!(live.store.drop_unreadable(job.id).await.expect(&what), "{job}; {what}");
        }
    }
    assert_eq!(live.store.count_unreadable().await.expect(&what), 0, "{what}");
    live.drain(&what).await;
    live.sweep(&what).await;
}

// spec: C-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c_07_any_damage_concerns_its_own_job_only() {
    let most = std::env::var("RATCHET_DAMAGES").ok().and_then(|most| most.parse().ok());
    for seed in 0..most.unwrap_or(60) {
        one(seed).await;
    }
}
