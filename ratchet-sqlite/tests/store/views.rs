//! The views for people say what the library says about the same rows.

use std::sync::Arc;

use ratchet_conformance::views;
use ratchet_sqlite::SqliteStore;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, SqliteConnection};

async fn view(conn: &mut SqliteConnection, name: &str, columns: &[&str]) -> Vec<Value> {
    let cells: Vec<_> = columns.iter().map(|column| format!("'{column}', {column}")).collect();
    let select = format!("SELECT json_object({}) FROM ratchet_{name}", cells.join(", "));
    let rows: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(select)).fetch_all(conn).await.expect(name);
    let rows = rows.iter().map(|row| serde_json::from_str(row).expect("JSON"));
    views::read(rows.collect(), columns)
}

// spec: O-03
#[tokio::test(flavor = "multi_thread")]
async fn views_say_what_the_library_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::options(&path).open().await.expect("opens");
    let ratchet = views::populate(Arc::new(store.clone())).await;
    let options = SqliteConnectOptions::new().filename(&path).read_only(true);
    let mut conn = options.connect().await.expect("connects");
    let jobs = view(&mut conn, "v_jobs", &views::JOB_COLUMNS).await;
    assert_eq!(jobs, views::jobs(&ratchet).await);
    let failures = view(&mut conn, "v_failures", &views::FAILURE_COLUMNS).await;
    assert_eq!(failures, views::failures(&ratchet).await);
    let queues = view(&mut conn, "v_queues", &views::QUEUE_COLUMNS).await;
    assert_eq!(queues, views::queues(&ratchet, &store).await);
    let nodes = view(&mut conn, "v_nodes", &views::NODE_COLUMNS).await;
    assert_eq!(nodes, views::nodes(&ratchet).await);
}
