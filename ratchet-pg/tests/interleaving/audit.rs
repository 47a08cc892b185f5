//! The invariants that must hold after any two operations, and after all remaining jobs are canceled.

use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    CancelCause, Command, Filter, JobId, JobState, LeaseId, PageRequest, Token,
};
use sqlx::{PgPool, Row as _};
use uuid::Uuid;

/// Members that have not left their lease.
const STANDING: &str = "standing AS (
    SELECT l.id AS lease, m.job, COALESCE(m.version, 1) AS version
    FROM ratchet.lease l CROSS JOIN LATERAL unnest(l.jobs, l.versions) AS m(job, version)
    WHERE m.version IS DISTINCT FROM 0 AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = m.job)
)";

/// The invariants. Each statement returns the violations.
const RULES: &[(&str, &str)] = &[
    (
        "a job is in no place, or in several",
        "SELECT j.id::text || ' in ' || n FROM (
            SELECT j.id, (SELECT count(*) FROM ratchet.ready r WHERE r.job = j.id)
                + (SELECT count(*) FROM ratchet.scheduled r WHERE r.job = j.id)
                + (SELECT count(*) FROM ratchet.blocked r WHERE r.job = j.id)
                + (SELECT count(*) FROM ratchet.paused r WHERE r.job = j.id AND NOT r.failed)
                + (SELECT count(*) FROM standing r WHERE r.job = j.id)
                + (SELECT count(*) FROM ratchet.outcome r WHERE r.job = j.id) AS n
            FROM ratchet.job j) j WHERE j.n <> 1",
    ),
    (
        "a row of a job that is gone",
        "SELECT x.job::text || ' in ' || x.place FROM (
            SELECT job, 'ready' AS place FROM ratchet.ready UNION ALL SELECT job, 'scheduled' FROM ratchet.scheduled
            UNION ALL SELECT job, 'blocked' FROM ratchet.blocked UNION ALL SELECT job, 'paused' FROM ratchet.paused
            UNION ALL SELECT job, 'outcome' FROM ratchet.outcome UNION ALL SELECT job, 'lingering' FROM ratchet.lingering
            UNION ALL SELECT job, 'standing' FROM standing UNION ALL SELECT job, 'business' FROM ratchet.business
            UNION ALL SELECT job, 'slot' FROM ratchet.slot UNION ALL SELECT job, 'member' FROM ratchet.member
        ) x WHERE NOT EXISTS (SELECT FROM ratchet.job j WHERE j.id = x.job)",
    ),
    (
        "a paused job that had failed has no outcome",
        "SELECT p.job::text FROM ratchet.paused p
        WHERE p.failed AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = p.job AND o.state = 3)",
    ),
    (
        "a live job does not hold its business key",
        "SELECT j.id::text FROM ratchet.job j WHERE j.business_key IS NOT NULL
            AND NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = j.id)
            AND NOT EXISTS (SELECT FROM ratchet.business b WHERE b.job = j.id AND b.key = j.business_key)",
    ),
    (
        "a business key is held by a job that has ended",
        "SELECT b.key || ' by ' || b.job FROM ratchet.business b
        WHERE EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = b.job)
            AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = b.job)",
    ),
    (
        "a run without its slot",
        "SELECT s.job::text FROM standing s JOIN ratchet.job j ON j.id = s.job WHERE j.ckey IS NOT NULL
            AND NOT EXISTS (SELECT FROM ratchet.slot t
                WHERE t.job = s.job AND t.lease = s.lease AND t.version = s.version AND t.key = j.ckey)",
    ),
    (
        "a slot without its run",
        "SELECT t.key || ' of ' || t.job || ' v' || t.version FROM ratchet.slot t
        WHERE NOT EXISTS (SELECT FROM standing s WHERE s.job = t.job AND s.lease = t.lease AND s.version = t.version)
            AND NOT EXISTS (SELECT FROM ratchet.lingering x
                WHERE x.job = t.job AND x.lease = t.lease AND x.version = t.version)",
    ),
    (
        "a lease counts its members wrongly",
        "SELECT l.id::text || ': ' || l.remaining || ' of ' || s.n FROM ratchet.lease l
        CROSS JOIN LATERAL (SELECT count(*) AS n FROM standing s WHERE s.lease = l.id) s WHERE s.n <> l.remaining",
    ),
    (
        "ends are counted wrongly",
        "SELECT queue || ' ' || state || ': ' || sum(n) FROM (
            SELECT queue, state, change AS n FROM ratchet.tally
            UNION ALL SELECT j.queue, o.state, -1 FROM ratchet.outcome o JOIN ratchet.job j ON j.id = o.job
                WHERE NOT EXISTS (SELECT FROM ratchet.paused p WHERE p.job = o.job)
        ) x GROUP BY queue, state HAVING sum(n) <> 0",
    ),
    (
        "a job was set aside that is not listed",
        "SELECT b.job::text FROM ratchet.blocked b
        WHERE b.cause = 'unreadable' AND NOT EXISTS (SELECT FROM ratchet.unreadable u WHERE u.job = b.job)",
    ),
    (
        "a run is reported twice",
        "SELECT a.job::text FROM ratchet.attempt a JOIN ratchet.outcome o ON o.job = a.job AND o.run = a.run WHERE o.started_at IS NOT NULL",
    ),
];

/// Checks all invariants on the current state of the database. Returns the violations.
pub(crate) async fn audit(pool: &PgPool, store: &PgStore) -> Vec<String> {
    let rule =
        |(rule, sql): &(&str, &str)| format!("SELECT '{rule}: ' || x.found FROM ({sql}) x(found)");
    let rules: Vec<_> = RULES.iter().map(rule).collect();
    let sql = format!("WITH {STANDING} {}", rules.join(" UNION ALL "));
    let mut wrong: Vec<String> =
        sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_all(pool).await.expect("an answer");
    let counts = store.counts().await.expect("counts");
    let page = PageRequest { limit: 1000, ..PageRequest::default() };
    let jobs = store.list(&Filter::default(), page).await.expect("lists").jobs;
    // Unreadable jobs are pending, but not listed.
    let aside = "SELECT count(*) FROM ratchet.blocked WHERE cause = 'unreadable'";
    let aside: i64 = sqlx::query_scalar(aside).fetch_one(pool).await.expect("an answer");
    for state in JobState::ALL {
        let mut listed = jobs.iter().filter(|job| job.state == state).count() as u64;
        if state == JobState::Pending {
            listed += aside.unsigned_abs();
        }
        let counted = counts.state(state);
        if counted != listed {
            wrong.push(format!("{state:?}: {counted} counted, {listed} listed"));
        }
    }
    wrong
}

/// Cancels all live jobs and ends all late handlers. Then nothing may be left. Returns the violations.
pub(crate) async fn drain(pool: &PgPool, store: &PgStore) -> Vec<String> {
    let mut wrong = Vec::new();
    for _ in 0..4 {
        if left(pool).await.is_empty() {
            break;
        }
        for job in store.unreadable(100).await.expect("lists") {
            store.drop_unreadable(job.id).await.expect("drops");
        }
        let live = "SELECT j.id FROM ratchet.job j
            WHERE NOT EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = j.id)
                OR EXISTS (SELECT FROM ratchet.paused p WHERE p.job = j.id)";
        let live: Vec<Uuid> = sqlx::query_scalar(live).fetch_all(pool).await.expect("reads");
        for job in live.into_iter().map(JobId::from_uuid) {
            // The resume fails if the job is not paused, and the cancel fails if it has failed.
            let _ = store.command(Command::Resume(job)).await;
            let _ = store.command(Command::Cancel(job, CancelCause::Requested)).await;
        }
        store.release_holds(late(pool).await).await.expect("lets go");
        let empty = "DELETE FROM ratchet.lease WHERE remaining <= 0";
        sqlx::query(empty).execute(pool).await.expect("swept");
    }
    wrong.extend(audit(pool, store).await);
    wrong.extend(left(pool).await.into_iter().map(|table| format!("rows are left in `{table}`")));
    wrong
}

/// Returns the tables of live jobs that are not empty.
async fn left(pool: &PgPool) -> Vec<String> {
    let tables =
        ["ready", "scheduled", "blocked", "paused", "lease", "lingering", "slot", "business"];
    let sql: Vec<_> = tables
        .iter()
        .map(|table| format!("SELECT '{table}' WHERE EXISTS (SELECT FROM ratchet.{table})"))
        .collect();
    let sql = sqlx::AssertSqlSafe(sql.join(" UNION ALL "));
    sqlx::query_scalar(sql).fetch_all(pool).await.expect("an answer")
}

/// Returns the lingering runs.
async fn late(pool: &PgPool) -> Vec<Token> {
    let late = "SELECT job, lease, version FROM ratchet.lingering";
    let rows = sqlx::query(late).fetch_all(pool).await.expect("reads");
    let token = |row: &sqlx::postgres::PgRow| Token {
        job: JobId::from_uuid(row.get("job")),
        lease: LeaseId::from_uuid(row.get("lease")),
        version: u64::try_from(row.get::<i64, _>("version")).expect("not negative"),
    };
    rows.iter().map(token).collect()
}
