//! C-07 as a property: any column of any row of a live store is damaged, and everything else continues.
//!
//! Seeds are fixed. `RATCHET_DAMAGES` runs more of them.

mod node;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use node::{Live, assert_readiness_counts_unreadable};
use ratchet_core::VirtualClock;
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::model::JobId;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection};
use uuid::Uuid;

/// Tables whose rows are damaged. Excluded are counts, the leader, the schema, queue rules (damaged rules pause the
/// queue), and the records of unreadable jobs.
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

/// The store under test, and a second connection to its file.
struct Bench {
    live: Live,
    conn: SqliteConnection,
    clock: VirtualClock,
}

async fn open(path: &Path, clock: &VirtualClock) -> Arc<SqliteStore> {
    let store = SqliteStore::options(path)
        .synchronous(Synchronous::Normal)
        .clock(Arc::new(clock.clone()))
        .open()
        .await;
    Arc::new(store.expect("opens"))
}

impl Bench {
    async fn new(path: &Path) -> Self {
        let clock = VirtualClock::new();
        let store = open(path, &clock).await;
        let mut conn =
            SqliteConnectOptions::new().filename(path).connect().await.expect("connects");
        let live = Live::new(store).await;
        for sql in [
            "INSERT INTO ratchet_log VALUES (randomblob(16), 1, '{}')",
            "INSERT INTO ratchet_alert (job, name, fingerprint, message, at) VALUES (zeroblob(16), 'a', 'f', 'm', 7)",
            "INSERT INTO ratchet_breaker VALUES ('bank', 0, '{}')",
            "INSERT INTO ratchet_lingering VALUES (randomblob(16), randomblob(16), 1, randomblob(16), 1, 'one', 'default', NULL)",
        ] {
            sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.expect("writes");
        }
        Self { live, conn, clock }
    }
}

/// One cell of one row.
#[derive(Debug, Clone)]
struct Damage {
    table: &'static str,
    column: String,
    rowid: String,
    /// The old value, as an SQL literal.
    was: String,
    #[allow(dead_code)] // shown when a seed fails
    /// The new value, as an SQL expression.
    now: String,
    /// The seq of the job, for rows of `ratchet_job`.
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

/// Damages one cell. Returns `None` if the database rejects the value.
async fn damage(conn: &mut SqliteConnection, rng: &mut Rng) -> Option<Damage> {
    // Half of the damage is in jobs.
    let table = if rng.bool() { "ratchet_job" } else { rng.choice(TABLES).copied()? };
    let info = sqlx::query(AssertSqlSafe(format!("PRAGMA table_info({table})")));
    let info = info.fetch_all(&mut *conn).await.expect("columns");
    let info = rng.choice(&info)?;
    let (column, kind): (String, String) = (info.get("name"), info.get("type"));
    if column == "seq" || (table == "ratchet_node" && column == "lease_until") {
        return None;
    }
    let nullable = info.get::<i64, _>("notnull") == 0 && info.get::<i64, _>("pk") == 0;
    // Rows of tables without rowids are identified by their whole key.
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

/// Returns the jobs that need not run: damaged jobs, and jobs that depend on damaged rows.
async fn concerned(
    bench: &mut Bench,
    damages: &[Damage],
    seqs: &BTreeMap<JobId, i64>,
) -> HashSet<JobId> {
    let mut concerned = HashSet::new();
    let damaged: HashSet<_> = damages.iter().filter_map(|damage| damage.seq).collect();
    let in_table = |table: &str| damages.iter().any(|damage| damage.table == table);
    concerned.extend(seqs.iter().filter(|(_, seq)| damaged.contains(seq)).map(|(id, _)| *id));
    let graph = ["ratchet_group", "ratchet_edge"].into_iter().any(in_table)
        || bench.live.steps.iter().any(|step| concerned.contains(step));
    if graph {
        concerned.extend(&bench.live.steps);
    }
    if in_table("ratchet_node") {
        concerned.extend(&bench.live.orphans);
    }
    for damage in damages.iter().filter(|damage| damage.table == "ratchet_template") {
        // By its old or its new id.
        let jobs = sqlx::query(
            "SELECT seq FROM ratchet_job WHERE template = ?1 OR NOT EXISTS (SELECT 1 FROM ratchet_template WHERE id = template)",
        );
        let jobs = jobs.bind(damage.rowid.parse::<i64>().expect("a number"));
        let jobs = jobs.fetch_all(&mut bench.conn).await.expect("reads");
        let jobs: HashSet<i64> = jobs.iter().map(|row| row.get(0)).collect();
        let hit: Vec<_> =
            seqs.iter().filter(|(_, seq)| jobs.contains(seq)).map(|(id, _)| *id).collect();
        if hit.iter().any(|id| bench.live.steps.contains(id)) {
            concerned.extend(&bench.live.steps);
        }
        concerned.extend(hit);
    }
    if in_table("ratchet_lingering") {
        // A run that lingers forever holds the key of this job.
        concerned.insert(bench.live.plain[5]);
    }
    concerned
}

async fn one(seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let mut bench = Bench::new(&path).await;
    let mut rng = Rng::with_seed(seed);
    let as_job = |id: &[u8]| Uuid::from_slice(id).ok().map(JobId::from_uuid);
    let before = ids(&mut bench.conn).await;
    let seqs: BTreeMap<JobId, i64> =
        before.iter().map(|(seq, id)| (as_job(id).expect("an id"), *seq)).collect();
    let mut damages: Vec<Damage> = Vec::new();
    let most = rng.usize(1..5);
    while damages.len() < most {
        damages.extend(damage(&mut bench.conn, &mut rng).await);
    }
    let what = format!("seed {seed}: {damages:?}");
    let concerned = concerned(&mut bench, &damages, &seqs).await;
    // Half of the time, another process with an empty cache finds the damage.
    if rng.bool() {
        bench.live.store = open(&path, &bench.clock).await;
    }
    bench.live.sweep(&what).await;
    let mut ran = bench.live.drain(&what).await;
    bench.clock.advance(Duration::from_mins(2));
    ran.extend(bench.live.drain(&what).await);
    for id in bench.live.plain.iter().chain(&bench.live.orphans).chain(&bench.live.steps) {
        assert!(concerned.contains(id) || ran.contains(id), "{id} did not run; {what}");
    }

    // After all jobs were read, each is either readable or listed.
    bench.live.sweep(&what).await;
    let listed = bench.live.store.unreadable(100).await.expect(&what);
    let count = bench.live.store.count_unreadable().await.expect(&what);
    assert_eq!(count, listed.len() as u64, "{what}");
    for (seq, id) in ids(&mut bench.conn).await {
        let found = sqlx::query("SELECT 1 FROM ratchet_unreadable WHERE seq = ?1").bind(seq);
        let aside = found.fetch_optional(&mut bench.conn).await.expect(&what).is_some();
        let read = match as_job(&id) {
            Some(id) => bench.live.store.get(id).await.is_ok_and(|job| job.is_some()),
            None => false,
        };
        assert!(aside || read, "job {seq} is neither readable nor listed; {what}");
    }

    if !listed.is_empty() {
        assert_readiness_counts_unreadable(bench.live.store.clone(), listed.len(), &what).await;
    }

    // Half of the time, damaged jobs are repaired by hand and returned to the queue. The rest are dropped.
    let repairs = rng.bool();
    if repairs {
        for damage in damages.iter().rev().filter(|damage| damage.table == "ratchet_job") {
            let Damage { column, was, seq, .. } = damage;
            let write = format!("UPDATE ratchet_job SET {column} = {was} WHERE seq = ?1");
            // A job that is no longer recorded as unreadable keeps its current value.
            let still = sqlx::query("SELECT 1 FROM ratchet_unreadable WHERE seq = ?1").bind(seq);
            if still.fetch_optional(&mut bench.conn).await.expect(&what).is_some() {
                let write = sqlx::query(AssertSqlSafe(write)).bind(seq);
                write.execute(&mut bench.conn).await.expect(&what);
            }
        }
    }
    for job in listed {
        let repaired = repairs && bench.live.store.repair_unreadable(job.id).await.expect(&what);
        if !repaired {
            assert!(bench.live.store.drop_unreadable(job.id).await.expect(&what), "{job}; {what}");
        }
    }
    assert_eq!(bench.live.store.count_unreadable().await.expect(&what), 0, "{what}");
    bench.live.drain(&what).await;
    bench.live.sweep(&what).await;
}

// spec: C-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c_07_any_damage_concerns_its_own_job_only() {
    let most = std::env::var("RATCHET_DAMAGES").ok().and_then(|most| most.parse().ok());
    for seed in 0..most.unwrap_or(60) {
        one(seed).await;
    }
}
