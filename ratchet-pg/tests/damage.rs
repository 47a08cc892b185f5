//! C-07 as a property: any column of any row of a live store is damaged, and everything else continues.
//!
//! Seeds are fixed. `RATCHET_DAMAGES` runs more of them.

mod support;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use ratchet_conformance::damage::{Live, assert_readiness_counts_unreadable};
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{JobId, QueueUpdate};
use sqlx::{AssertSqlSafe, PgPool, Row as _};
use support::Database;
use uuid::Uuid;

/// Tables whose rows are damaged, each with the column of the job id. Excluded are counts, the leader, the schema and
/// its partitions, and the records of unreadable jobs.
const TABLES: &[(&str, Option<&str>)] = &[
    ("job", Some("id")),
    ("ready", Some("job")),
    ("scheduled", Some("job")),
    ("blocked", Some("job")),
    ("outcome", Some("job")),
    ("attempt", Some("job")),
    ("note", Some("job")),
    ("log", Some("job")),
    ("lease", None),
    ("idempotency", Some("job")),
    ("business", Some("job")),
    ("slot", Some("job")),
    ("lingering", Some("job")),
    ("queue", None),
    ("breaker", None),
    ("node", None),
    ("alert", None),
    ("delivery", None),
    ("member", Some("job")),
    ("job_group", None),
    ("edge", None),
    ("graph", None),
    ("schedule", None),
    ("reject", None),
    ("hand_off", None),
];

/// One value of one row.
#[derive(Debug, Clone)]
struct Damage {
    table: &'static str,
    column: String,
    /// The job of the row, before and after the damage.
    jobs: Vec<Uuid>,
    /// The old value, as an SQL expression.
    was: String,
    #[allow(dead_code, reason = "shown when a seed fails")]
    now: String,
}

fn value(rng: &mut Rng, kind: &str, nullable: bool) -> String {
    if nullable && rng.u8(..5) == 0 {
        return "NULL".to_owned();
    }
    let number = |rng: &mut Rng, least: i64, most: i64| match rng.u8(..5) {
        0 => "-1".to_owned(),
        1 => "9".to_owned(),
        2 => most.to_string(),
        3 => format!("'{least}'"),
        _ => format!("'{}'", rng.i64(least..=most)),
    };
    let text = |rng: &mut Rng| match rng.u8(..7) {
        0 => "''".to_owned(),
        1 => "'{'".to_owned(),
        2 => "repeat('[', 200) || repeat(']', 200)".to_owned(),
        3 => format!("U&'\\{:04x}'", rng.u16(1..0xd000)),
        4 => "'{\"version\":99,\"future\":{\"kind\":\"unheard-of\"}}'".to_owned(),
        5 => "'null'".to_owned(),
        _ => "'7'".to_owned(),
    };
    match kind {
        "bigint" => number(rng, i64::MIN, i64::MAX),
        "integer" => number(rng, i32::MIN.into(), i32::MAX.into()),
        "smallint" => number(rng, i16::MIN.into(), i16::MAX.into()),
        "real" => (*rng.choice(&["'NaN'", "'-Infinity'", "-1", "1e30"]).expect("one")).to_owned(),
        "boolean" => rng.bool().to_string(),
        "uuid" => format!("'{}'", Uuid::from_u128(rng.u128(..))),
        "bytea" => {
            let mut bytes = vec![0; *rng.choice(&[0, 1, 40]).expect("one")];
            rng.fill(&mut bytes);
            format!(
                "decode('{}', 'hex')",
                bytes.iter().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                })
            )
        }
        "jsonb" => {
            (*rng.choice(&["'{}'", "'7'", "'[7]'", "'[\"a\", [\"b\"]]'", "'null'"]).expect("one"))
                .to_owned()
        }
        "ARRAY" => (*rng.choice(&["'{}'", "'{NULL}'", "'{{NULL,NULL}}'"]).expect("one")).to_owned(),
        _ => text(rng),
    }
}

/// Damages one value. Returns `None` if there is no row, or if the database rejects the value.
async fn damage(pool: &PgPool, rng: &mut Rng) -> Option<Damage> {
    // Half of the damage is in jobs.
    let (table, job) = if rng.bool() { TABLES[0] } else { *rng.choice(TABLES)? };
    let columns = "SELECT column_name::text, data_type::text, is_nullable = 'YES' FROM information_schema.columns
        WHERE table_schema = 'ratchet' AND table_name = $1 ORDER BY ordinal_position";
    let columns = sqlx::query(columns).bind(table).fetch_all(pool).await.expect("columns");
    let column = rng.choice(&columns)?;
    let (column, kind, nullable): (String, String, bool) =
        (column.get(0), column.get(1), column.get(2));
    // A node whose lease never expires keeps its jobs.
    if (table, column.as_str()) == ("node", "until") {
        return None;
    }
    let job = job.map_or("NULL::uuid".to_owned(), |job| format!("{job}::uuid"));
    let rows = format!(
        "SELECT tableoid::regclass::text, ctid::text, {job}, quote_nullable({column}::text) FROM ratchet.{table} t
        ORDER BY t::text"
    );
    let rows = sqlx::query(AssertSqlSafe(rows)).fetch_all(pool).await.expect("rows");
    let row = rng.choice(&rows)?;
    let (part, spot, before, was): (String, String, Option<Uuid>, String) =
        (row.get(0), row.get(1), row.get(2), row.get(3));
    let now = value(rng, &kind, nullable);
    // Write through the parent table, because a row may have to move to another partition.
    let write = format!(
        "UPDATE ratchet.{table} SET {column} = {now} WHERE ctid = $1::text::tid AND tableoid = $2::text::regclass RETURNING {job}"
    );
    let done =
        sqlx::query(AssertSqlSafe(write)).bind(spot).bind(part).fetch_one(pool).await.ok()?;
    let after: Option<Uuid> = done.get(0);
    let mut jobs: Vec<_> = before.into_iter().chain(after).collect();
    if table == "lease" {
        let members = "SELECT unnest(jobs) FROM ratchet.lease";
        let members: Vec<Option<Uuid>> =
            sqlx::query_scalar(members).fetch_all(pool).await.expect("reads");
        jobs.extend(members.into_iter().flatten());
    }
    Some(Damage { table, column, jobs, was, now })
}

/// Returns the jobs that need not run: damaged jobs, and jobs that depend on damaged rows.
fn concerned(live: &Live, damages: &[Damage]) -> HashSet<JobId> {
    let of_rows = damages.iter().flat_map(|damage| damage.jobs.iter().copied());
    let mut concerned: HashSet<_> = of_rows.map(JobId::from_uuid).collect();
    let in_table = |tables: &[&str]| damages.iter().any(|damage| tables.contains(&damage.table));
    if in_table(&["member", "job_group", "edge", "graph"])
        || live.steps.iter().any(|step| concerned.contains(step))
    {
        concerned.extend(&live.steps);
    }
    if in_table(&["node", "lease"]) {
        concerned.extend(&live.orphans);
    }
    if in_table(&["slot", "lingering"]) {
        // A slot that seems taken blocks the key of this job.
        concerned.insert(live.plain[5]);
    }
    if in_table(&["queue"]) {
        // A queue may have the rules of another one.
        concerned.extend(live.plain.iter().chain(&live.orphans).chain(&live.steps));
    }
    concerned
}

async fn fill(database: &Database, store: &PgStore) -> Live {
    let live = Live::new(Arc::new(store.clone())).await;
    store.update_queue("other", QueueUpdate::Pause).await.expect("obeys");
    for sql in [
        "INSERT INTO ratchet.log (job, run, after, level, message) SELECT id, 1, 0, 1, 'm' FROM ratchet.job LIMIT 2",
        "INSERT INTO ratchet.alert (job, at, name, fingerprint, message) VALUES (gen_random_uuid(), 7, 'a', 'f', 'm')",
        "INSERT INTO ratchet.delivery (channel, alert) SELECT 0, id FROM ratchet.alert",
        "INSERT INTO ratchet.breaker (service, closed, until, breaker) VALUES ('bank', false, 0, '{}')",
        "INSERT INTO ratchet.lingering VALUES (gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), true)",
        "INSERT INTO ratchet.slot VALUES (gen_random_uuid(), gen_random_uuid(), 1, 'two', 'default')",
    ] {
        database.execute(sql).await;
    }
    live
}

async fn one(seed: u64) {
    let database = Database::take().await;
    let mut store = PgStore::open(database.options()).await.expect("opens");
    let mut live = fill(&database, &store).await;
    let mut rng = Rng::with_seed(seed);
    let mut damages: Vec<Damage> = Vec::new();
    let most = rng.usize(1..5);
    while damages.len() < most {
        damages.extend(damage(&database.pool, &mut rng).await);
    }
    let what = format!("seed {seed}: {damages:?}");
    let concerned = concerned(&live, &damages);
    // Half of the time, another process with an empty cache finds the damage.
    if rng.bool() {
        store = PgStore::open(database.options()).await.expect("opens");
        live.store = Arc::new(store.clone());
    }
    live.sweep(&what).await;
    let mut ran = live.drain(&what).await;
    database.advance(Duration::from_mins(2)).await;
    ran.extend(live.drain(&what).await);
    for id in live.plain.iter().chain(&live.orphans).chain(&live.steps) {
        assert!(concerned.contains(id) || ran.contains(id), "{id} did not run; {what}");
    }

    // After all jobs were read, each is either readable or listed.
    live.sweep(&what).await;
    let listed = store.unreadable(100).await.expect(&what);
    assert_eq!(store.count_unreadable().await.expect(&what), listed.len() as u64, "{what}");
    let ids: Vec<Uuid> = sqlx::query_scalar("SELECT id FROM ratchet.job")
        .fetch_all(&database.pool)
        .await
        .expect("reads");
    for id in ids.into_iter().map(JobId::from_uuid) {
        let aside = listed.iter().any(|job| job.id == id);
        let read = store.get(id).await.is_ok_and(|job| job.is_some());
        assert!(aside || read, "job {id} is neither readable nor listed; {what}");
    }

    if !listed.is_empty() {
        assert_readiness_counts_unreadable(live.store.clone(), listed.len(), &what).await;
    }

    // Half of the time, damaged jobs are repaired by hand and returned to the queue. The rest are dropped.
    let repairs = rng.bool();
    if repairs {
        for damage in damages.iter().rev().filter(|damage| damage.table == "job") {
            let Damage { column, was, jobs, .. } = damage;
            let write = format!("UPDATE ratchet.job SET {column} = {was} WHERE id = $1");
            // The job may have run and been purged, or may have moved.
            let write = sqlx::query(AssertSqlSafe(write)).bind(jobs.last());
            let _ = write.execute(&database.pool).await;
        }
    }
    for job in listed {
        let repaired = repairs && store.repair_unreadable(job.id).await.expect(&what);
        if !repaired {
            assert!(store.drop_unreadable(job.id).await.expect(&what), "{job}; {what}");
        }
    }
    assert_eq!(store.count_unreadable().await.expect(&what), 0, "{what}");
    live.drain(&what).await;
    live.sweep(&what).await;
    store.close().await;
}

// spec: C-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c_07_any_damage_concerns_its_own_job_only() {
    let most = std::env::var("RATCHET_DAMAGES").ok().and_then(|most| most.parse().ok());
    for seed in 0..most.unwrap_or(30) {
        one(seed).await;
    }
}
