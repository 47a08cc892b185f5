//! The sink that writes outcomes to a table, on PostgreSQL.
#![cfg(feature = "outcome-table")]

#[allow(dead_code)]
#[path = "../../../ratchet-pg/tests/support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::time::Duration;

use ratchet::JobError;
use ratchet::model::JobOutcome;
use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet_core::OutcomeSink as _;
use ratchet_extras::outcome_table::{OutcomeTable, OutcomeTableError};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Row as _};

#[job(name = "table.work", max_retries = 0)]
async fn work(fails: bool) -> Result<String, JobError> {
    if fails { Err(JobError::msg("broken")) } else { Ok("a\u{0}b".to_owned()) }
}

/// A database of its own, which is dropped by the next run.
async fn database(name: &str) -> PgPool {
    let mut admin =
        PgConnection::connect(&format!("{}/postgres", server::url())).await.expect("connects");
    for sql in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut admin).await.expect("a database");
    }
    PgPool::connect(&format!("{}/{name}", server::url())).await.expect("connects")
}

async fn sandbox(pool: &PgPool) -> Sandbox {
    let table = OutcomeTable::create(pool.clone(), "job_outcomes").await.expect("a table");
    let builder = Sandbox::builder().jobs([Work::JOB]);
    builder.configure(|builder| builder.outcome_sink(table)).build().await.expect("a sandbox")
}

// spec: D-08
#[tokio::test]
async fn d_08_every_outcome_has_one_row() {
    let pool = database("outcome_rows").await;
    let sandbox = sandbox(&pool).await;
    let done = sandbox.enqueue(Work { fails: false }).tenant("acme").await.expect("enqueued");
    let broken = sandbox.enqueue(Work { fails: true }).await.expect("enqueued");
    sandbox.drain().await.expect("drained");
    sandbox.ratchet().jobs().retry(broken.id()).await.expect("is retried");
    sandbox.drain().await.expect("drained");
    let sql = "SELECT job::text, kind, output::text, envelope ->> 'job_name' AS failed, tenant, generation, run
        FROM job_outcomes ORDER BY position";
    let rows = sqlx::query(sql).fetch_all(&pool).await.expect("reads");
    let of = |id: ratchet::JobId| {
        let rows = rows.iter().filter(|row| row.get::<String, _>("job") == id.to_string());
        rows.collect::<Vec<_>>()
    };
    let [row] = of(done.id())[..] else { panic!("one success") };
    assert_eq!((row.get("kind"), row.get("tenant")), ("success", Some("acme")));
    assert_eq!(row.get::<&str, _>("output"), "\"a\\u0000b\"");
    assert_eq!(row.get::<Option<&str>, _>("failed"), None);
    let failures = of(broken.id());
    let generations: Vec<i64> = failures.iter().map(|row| row.get("generation")).collect();
    assert_eq!(generations, [1, 2], "in the order of the commits");
    assert!(failures.iter().all(|row| row.get::<&str, _>("kind") == "failure"));
    assert!(failures.iter().all(|row| row.get::<&str, _>("failed") == "table.work"));
}

/// Returns an outcome that was delivered by a sandbox, as a template.
async fn some_outcome() -> JobOutcome {
    #[derive(Debug, Clone, Default)]
    struct Last(std::sync::Arc<std::sync::Mutex<Option<JobOutcome>>>);

    #[ratchet::async_trait]
    impl ratchet_core::OutcomeSink for Last {
        async fn publish(&self, outcome: &JobOutcome) -> Result<(), ratchet_core::SinkError> {
            *self.0.lock().expect("not poisoned") = Some(outcome.clone());
            Ok(())
        }
    }
    let last = Last::default();
    let builder = Sandbox::builder().jobs([Work::JOB]);
    let builder = builder.configure(|builder| builder.outcome_sink(last.clone()));
    let sandbox = builder.build().await.expect("a sandbox");
    sandbox.enqueue(Work { fails: false }).await.expect("enqueued");
    sandbox.drain().await.expect("drained");
    last.0.lock().expect("not poisoned").take().expect("an outcome")
}

// spec: D-08
#[tokio::test]
async fn d_08_a_repeat_changes_nothing() {
    let pool = database("outcome_repeats").await;
    let table = OutcomeTable::create(pool.clone(), "job_outcomes").await.expect("a table");
    let outcome = some_outcome().await;
    for _ in 0..3 {
        table.publish(&outcome).await.expect("is written");
    }
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM job_outcomes")
        .fetch_one(&pool)
        .await
        .expect("counts");
    assert_eq!(count, 1);
}

/// A reader that keeps its position must see every row, although several connections write at once.
// spec: D-08
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d_08_rows_become_visible_in_the_order_of_their_positions() {
    const WRITERS: u64 = 4;
    const ROWS: u64 = 100;
    let pool = database("outcome_order").await;
    OutcomeTable::create(pool.clone(), "job_outcomes").await.expect("a table");
    let outcome = some_outcome().await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let table = OutcomeTable::existing(pool.clone(), "job_outcomes").expect("a table");
            let mut outcome = outcome.clone();
            tokio::spawn(async move {
                for row in 0..ROWS {
                    outcome.transition_key = format!("{writer}:{row}");
                    table.publish(&outcome).await.expect("is written");
                }
            })
        })
        .collect();
    let (mut last, mut seen) = (0_i64, BTreeSet::new());
    let reading = async {
        while (seen.len() as u64) < WRITERS * ROWS {
            let sql = "SELECT position, transition_key FROM job_outcomes WHERE position > $1 ORDER BY position";
            for row in sqlx::query(sql).bind(last).fetch_all(&pool).await.expect("reads") {
                last = row.get("position");
                seen.insert(row.get::<String, _>("transition_key"));
            }
        }
    };
    let all = tokio::time::timeout(Duration::from_mins(1), reading).await;
    assert!(all.is_ok(), "the reader has missed rows: it has seen {}", seen.len());
    for writer in writers {
        writer.await.expect("writes");
    }
}

// spec: D-08
#[tokio::test]
async fn d_08_a_name_that_needs_quotes_is_refused() {
    let pool = PgPool::connect_lazy("postgres://localhost/nothing").expect("a pool");
    let too_long = "a".repeat(64);
    for name in ["", "a.b.c", "Outcomes", "a-b", "a.", "1a", "a; DROP TABLE b", &too_long] {
        let refused = OutcomeTable::existing(pool.clone(), name);
        assert!(matches!(refused, Err(OutcomeTableError::Name(_))), "{name}");
        assert!(OutcomeTable::definition(name).is_err(), "{name}");
    }
    for name in ["outcomes", "shop.job_outcomes", "_a1"] {
        assert!(OutcomeTable::existing(pool.clone(), name).is_ok(), "{name}");
    }
}
