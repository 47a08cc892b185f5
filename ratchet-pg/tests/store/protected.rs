//! Signed and encrypted jobs in a database.

use std::fmt::Write as _;
use std::time::Duration;

use crate::jobs::Greet;
use crate::support::PgHarness;
use ratchet_conformance::{Harness, planted_secrets};
use ratchet_core::{Job as _, JobId, JobState, Ratchet};
use ratchet_pg::EnqueueInTx as _;
use ratchet_pg::sqlx::{self, AssertSqlSafe};
use ratchet_store::model::TerminalReason;

/// Returns the content of all tables as text. Bytes are hexadecimal.
pub(crate) async fn dump(pg: &PgHarness) -> String {
    let tables: Vec<(String,)> = sqlx::query_as(
        "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) FROM information_schema.tables \
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'",
    )
    .fetch_all(&pg.database.pool)
    .await
    .expect("lists the tables");
    let mut text = String::new();
    for (table,) in tables {
        let rows = format!("SELECT it::text FROM {table} it");
        let rows: Vec<(Option<String>,)> =
            sqlx::query_as(AssertSqlSafe(rows)).fetch_all(&pg.database.pool).await.expect("reads");
        rows.into_iter().filter_map(|row| row.0).for_each(|row| text.push_str(&row));
    }
    text
}

pub(crate) fn hexadecimal(text: &str) -> String {
    let mut digits = String::new();
    for byte in text.bytes() {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_05_no_planted_secret_is_in_any_table() {
    let pg = PgHarness::fresh().await;
    let secrets = planted_secrets::run(pg.store()).await;
    let stored = dump(&pg).await;
    assert!(stored.contains("planted.everywhere"), "names are readable, so the search works");
    assert!(stored.contains(&hexadecimal("\"$ratchet\"")), "bytes are searched as well");
    let is_there = |secret: &&String| {
        stored.contains(secret.as_str()) || stored.contains(&hexadecimal(secret))
    };
    let found: Vec<_> = secrets.iter().filter(is_there).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(!stored.contains("the password is"), "no error message is readable");
}

/// Every column of a waiting job that a worker reads, changed with SQL, and a submit by SQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_02_a_row_that_was_changed_with_sql_is_refused() {
    let pg = PgHarness::fresh().await;
    let builder = || {
        Ratchet::builder(pg.store.clone()).jobs([Greet::JOB]).keyring(planted_secrets::keyring())
    };
    let client = builder().build().await.expect("builds");
    let greet = || Greet { name: "Ada".to_owned() };
    let mut changed: Vec<(JobId, &str)> = Vec::new();
    for change in [
        r#"payload = convert_to('{"name":"Eve"}', 'UTF8')"#,
        "payload = convert_to(replace(convert_from(payload, 'UTF8'), 'Ada', 'Eve'), 'UTF8')",
        "tenant = 'other'",
        "tenant = NULL",
        "tags = '[\"b\"]'",
        "correlation_id = 'c'",
        "idempotency_key = 'k'",
    ] {
        let job = client.enqueue(greet()).tenant("acme").tag("a").await.expect("enqueues");
        let id = job.id();
        let sql = format!("UPDATE ratchet.job SET {change} WHERE id = $1");
        let done = sqlx::query(AssertSqlSafe(sql)).bind(id.uuid());
        let done = done.execute(&pg.database.pool).await.expect("changes");
        assert_eq!(done.rows_affected(), 1, "{change}");
        changed.push((id, change));
    }
    let submit = "SELECT ratchet.enqueue('test.greet', '{\"name\":\"Eve\"}')";
    let (id,): (uuid::Uuid,) =
        sqlx::query_as(submit).fetch_one(&pg.database.pool).await.expect("submits");
    changed.push((JobId::from_uuid(id), "a submit by SQL"));
    let mut tx = pg.database.pool.begin().await.expect("begins");
    let honest = client.enqueue(greet()).in_tx(&mut tx).await.expect("enqueues");
    tx.commit().await.expect("commits");
    let ratchet = builder().build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let output = honest.wait_for(Duration::from_secs(30)).await.expect("an honest job runs");
    assert_eq!(output, "hello Ada");
    for (id, change) in changed {
        let handle = ratchet.handle::<Greet>(id);
        assert!(handle.wait_for(Duration::from_secs(30)).await.is_err(), "{change}");
        let job = handle.record().await.expect("reads").expect("exists");
        assert_eq!(job.state, JobState::Failed, "{change}");
        let reason = job.envelope.expect("an envelope").reason;
        assert_eq!(reason, TerminalReason::RejectedSignature, "{change}");
    }
    worker.stop().await;
}
