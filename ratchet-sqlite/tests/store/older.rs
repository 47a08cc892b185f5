//! A file that version 0.1.0 has written.

use std::path::Path;
use std::sync::Arc;

use ratchet_conformance::older::check_everything;
use ratchet_sqlite::SqliteStore;
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

async fn restore(path: &Path) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut db = options.connect().await.expect("connects");
    let sql = include_str!("../../../tests/older/sqlite-everything.sql");
    sqlx::raw_sql(sql).execute(&mut db).await.expect("restores");
}

#[tokio::test(flavor = "multi_thread")]
async fn u_04_jobs_of_version_0_1_0_are_kept_and_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    restore(&path).await;
    let store = SqliteStore::open(&path).await.expect("migrates");
    check_everything(Arc::new(store)).await;
}
