//! The baseline: the same work in hand-written SQL, with a minimal client. It uses an immutable job row, a narrow ready
//! row that the claim deletes, one lease row per batch and an appended outcome. Complete and claim are one statement.

use sqlx::{PgPool, Row};
use uuid::Uuid;

const TABLES: &str = "
    DROP SCHEMA IF EXISTS raw CASCADE;
    CREATE SCHEMA raw;
    CREATE TABLE raw.job (id uuid PRIMARY KEY, queue text NOT NULL, name text NOT NULL, payload bytea NOT NULL, at bigint NOT NULL);
    CREATE TABLE raw.ready (job uuid NOT NULL, sort_key bigint NOT NULL, queue text NOT NULL, attempts int NOT NULL)
        WITH (autovacuum_vacuum_scale_factor = 0.01);
    CREATE INDEX ready_order ON raw.ready (queue, sort_key, job);
    CREATE TABLE raw.lease (id uuid PRIMARY KEY, node uuid NOT NULL, jobs uuid[] NOT NULL);
    CREATE TABLE raw.done (job uuid PRIMARY KEY, state smallint NOT NULL, at bigint NOT NULL, output text)";

const INSERT: &str = "
    WITH n AS MATERIALIZED (SELECT * FROM unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS n(id, payload, at)),
    j AS (INSERT INTO raw.job SELECT id, 'default', 'bench.noop', payload, at FROM n)
    INSERT INTO raw.ready SELECT id, at, 'default', 0 FROM n";

const EXCHANGE: &str = "
    WITH picked AS MATERIALIZED (
        SELECT ctid, job FROM raw.ready WHERE queue = 'default' ORDER BY sort_key, job LIMIT $1 FOR UPDATE SKIP LOCKED
    ),
    taken AS (DELETE FROM raw.ready WHERE ctid = ANY (ARRAY(SELECT ctid FROM picked))),
    leased AS (INSERT INTO raw.lease SELECT $2, $2, array_agg(job) FROM picked HAVING count(*) > 0),
    gone AS (DELETE FROM raw.lease WHERE id = $3 RETURNING jobs),
    ended AS (INSERT INTO raw.done SELECT unnest(jobs), 2, 0, 'null' FROM gone)
    SELECT j.id, j.queue, j.name, j.payload FROM picked p
    CROSS JOIN LATERAL (SELECT * FROM raw.job j WHERE j.id = p.job OFFSET 0) j";

pub async fn tables(pool: &PgPool) {
    sqlx::raw_sql(TABLES).execute(pool).await.expect("tables");
}

/// Inserts `count` jobs, 1000 at a time.
pub async fn fill(pool: &PgPool, count: usize) {
    for start in (0..count).step_by(1000) {
        let numbers = start..count.min(start + 1000);
        sqlx::query(INSERT)
            .bind(numbers.clone().map(|_| Uuid::now_v7()).collect::<Vec<_>>())
            .bind(
                numbers.clone().map(|n| format!("{{\"id\":{n}}}").into_bytes()).collect::<Vec<_>>(),
            )
            .bind(numbers.map(|n| n as i64).collect::<Vec<_>>())
            .execute(pool)
            .await
            .expect("inserted");
    }
}

/// Drains all jobs with the given number of claimers. Returns the number of jobs.
pub async fn drain(pool: &PgPool, claimers: usize, limit: i64) -> usize {
    let tasks: Vec<_> = (0..claimers).map(|_| tokio::spawn(claim(pool.clone(), limit))).collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.expect("drains");
    }
    total
}

async fn claim(pool: PgPool, limit: i64) -> usize {
    let mut db = pool.acquire().await.expect("a connection");
    sqlx::raw_sql(
        "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off",
    )
    .execute(&mut *db)
    .await
    .expect("set");
    let (mut last, mut total) = (Uuid::nil(), 0);
    loop {
        let lease = Uuid::now_v7();
        let rows = sqlx::query(EXCHANGE).bind(limit).bind(lease).bind(last).fetch_all(&mut *db);
        let rows = rows.await.expect("goes on");
        for row in &rows {
            let _: (Uuid, String, String, Vec<u8>) =
                (row.get(0), row.get(1), row.get(2), row.get(3));
        }
        total += rows.len();
        last = lease;
        if rows.is_empty() {
            return total;
        }
    }
}
