//! Signed and encrypted jobs in a file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::jobs::Greet;
use ratchet_conformance::planted_secrets;
use ratchet_core::{Job as _, JobId, JobState, Ratchet};
use ratchet_sqlite::{EnqueueInTx as _, SqliteStore};
use ratchet_store::model::TerminalReason;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

/// Returns the bytes of all files of a database.
fn bytes(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).expect("reads");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        std::fs::read(entry.expect("an entry").path()).expect("reads")
    };
    files.flat_map(read).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_05_no_planted_secret_is_in_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("jobs.db")).await.expect("opens");
    let secrets = planted_secrets::run(Arc::new(store.clone())).await;
    let stored = bytes(folder.path());
    assert!(contains(&stored, "planted.everywhere"), "names are readable, so the search works");
    let found: Vec<_> = secrets.iter().filter(|secret| contains(&stored, secret)).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(!contains(&stored, "the password is"), "no error message is readable");
}

/// Every column of a waiting job that a worker reads, changed with SQL.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_02_a_row_that_was_changed_with_sql_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::open(&path).await.expect("opens");
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&path)).await;
    let pool = pool.expect("connects");
    let builder =
        || Ratchet::builder(store.clone()).jobs([Greet::JOB]).keyring(planted_secrets::keyring());
    let client = builder().build().await.expect("builds");
    let greet = || Greet { name: "Ada".to_owned() };
    let mut changed: Vec<(JobId, &str)> = Vec::new();
    for change in [
        r#"payload = CAST('{"name":"Eve"}' AS BLOB)"#,
        "payload = CAST(replace(CAST(payload AS TEXT), 'Ada', 'Eve') AS BLOB)",
        "own = json_set(own, '$.tenant', 'other')",
        r#"own = json_set(own, '$.tags', json('["b"]'))"#,
        "own = json_set(own, '$.correlation_id', 'c')",
    ] {
        let job = client.enqueue(greet()).tenant("acme").tag("a").await.expect("enqueues");
        let id = job.id();
        let sql = format!("UPDATE ratchet_job SET {change} WHERE id = ?");
        let done = sqlx::query(AssertSqlSafe(sql)).bind(id.uuid().as_bytes().to_vec());
        let done = done.execute(&pool).await.expect("changes");
        assert_eq!(done.rows_affected(), 1, "{change}");
        changed.push((id, change));
    }
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
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
