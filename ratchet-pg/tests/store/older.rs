//! A schema that version 0.1.0 has written.

use std::sync::Arc;

use crate::support::Database;
use ratchet_conformance::older::check_everything;
use ratchet_pg::PgStore;

#[tokio::test(flavor = "multi_thread")]
async fn u_04_jobs_of_version_0_1_0_are_kept_and_run() {
    let database = Database::take().await;
    database.execute("DROP SCHEMA IF EXISTS ratchet, ratchet_archive CASCADE").await;
    database.execute(include_str!("../../../tests/older/pg-everything.sql")).await;
    let store = PgStore::open(database.options()).await.expect("migrates");
    check_everything(Arc::new(store.clone())).await;
    store.close().await;
    // The next test that takes this database makes a new schema.
    database.execute("DROP SCHEMA ratchet, ratchet_archive CASCADE").await;
}
