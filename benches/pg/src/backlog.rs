//! Creates millions of rows with SQL on the server, in the form in which the store would have written them.

use sqlx::PgPool;

/// Inserts jobs that wait in the default queue.
const PENDING: &str = "WITH n AS (
    SELECT (lpad(to_hex($2::bigint), 12, '0') || '70008000' || lpad(to_hex(g), 12, '0'))::uuid AS id,
        ratchet.now_micros() - 1000000 + g AS due
    FROM generate_series(1, $1) g
), j AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload)
    SELECT id, due, due, 1800000000, 1, 2, 'bench.noop', 'default', '{\"id\":1}' FROM n
)
INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
    keyed, queue, name)
SELECT id, due - 1800000000, due, 0, 0, 1, 0, 0, 0, 1, false, 'default', 'bench.noop' FROM n";

const FINISHED: &str = "WITH n AS (
    SELECT (lpad(to_hex($2::bigint), 12, '0') || '70008000' || lpad(to_hex(g), 12, '0'))::uuid AS id,
        ratchet.now_micros() AS at
    FROM generate_series(1, $1) g
), j AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload)
    SELECT id, at, at, 1800000000, 1, 2, 'bench.noop', 'default', '{\"id\":1}' FROM n
)
INSERT INTO ratchet.outcome (job, at, due, version, run, attempts, crashes, deferrals, generation, state)
SELECT id, at, at, 2, 1, 0, 0, 0, 1, 2 FROM n";

/// Adds waiting jobs.
pub async fn add_pending(pool: &PgPool, count: i64) {
    add(pool, PENDING, count).await;
}

/// Adds succeeded jobs.
pub async fn add_finished(pool: &PgPool, count: i64) {
    add(pool, FINISHED, count).await;
}

async fn add(pool: &PgPool, sql: &'static str, count: i64) {
    let mut left = count;
    while left > 0 {
        let some = left.min(500_000);
        // The id contains the time in milliseconds; each call must use a different one.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.expect("after 1970").as_millis();
        sqlx::query(sql)
            .bind(i32::try_from(some).expect("fits"))
            .bind(i64::try_from(now).expect("fits"))
            .execute(pool)
            .await
            .expect("added");
        left -= some;
    }
}
