//! The measurements by which the doctor judges a database.

use std::collections::BTreeSet;
use std::time::Duration;

use ratchet_pg::{DatabaseRole, PgStore};
use ratchet_store::Store as _;
use ratchet_store::model::Vitals;
use sqlx::Connection as _;

use crate::support::Database;

async fn vitals(database: &Database) -> Vitals {
    let store = PgStore::open(database.options().schema("vitals")).await.expect("opens");
    let vitals = store.vitals(false).await.expect("measures");
    store.close().await;
    vitals
}

async fn fresh() -> Database {
    let database = Database::take().await;
    database.execute("DROP SCHEMA IF EXISTS vitals CASCADE").await;
    database
}

// spec: O-11
#[tokio::test(flavor = "multi_thread")]
async fn o_11_missing_and_invalid_objects_are_named() {
    let database = fresh().await;
    assert_eq!(vitals(&database).await.missing, [""; 0]);
    let objects: Vec<String> = sqlx::query_scalar(
        "SELECT relname::text FROM pg_class WHERE relnamespace = 'vitals'::regnamespace AND NOT relispartition",
    )
    .fetch_all(&database.pool)
    .await
    .expect("reads");
    let expected = include_str!("../../migrations/objects.txt").lines().map(str::to_owned);
    let (objects, expected): (BTreeSet<_>, BTreeSet<_>) =
        (objects.into_iter().collect(), expected.collect());
    assert_eq!(objects, expected, "write the objects of the newest schema to `objects.txt`");
    database.execute("DROP INDEX vitals.lease_node").await;
    database
        .execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'vitals.ready_order'::regclass")
        .await;
    assert_eq!(vitals(&database).await.missing, ["lease_node", "ready_order"]);
    database.execute("DROP SCHEMA vitals CASCADE").await;
}

// spec: O-11
#[tokio::test(flavor = "multi_thread")]
async fn o_11_a_server_in_trouble_is_measured() {
    let database = fresh().await;
    let healthy = vitals(&database).await;
    let connections = healthy.connections.expect("a server has connections");
    assert!(connections.open >= 1 && connections.limit > connections.open, "{connections:?}");
    assert_eq!((healthy.no_autovacuum, healthy.unencrypted), (None, None));
    // The server of the tests does not wait for its disk.
    assert_eq!(healthy.unsafe_commits.as_deref(), Some("fsync = off"));
    assert_eq!(healthy.tables.len(), 6);
    database.execute("ALTER TABLE vitals.ready SET (autovacuum_enabled = off)").await;
    let mut other = sqlx::PgConnection::connect(&database.url()).await.expect("connects");
    let mut tx = other.begin().await.expect("begins");
    let pid: i32 =
        sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *tx).await.expect("reads");
    let ill = vitals(&database).await;
    assert_eq!(ill.no_autovacuum.as_deref(), Some("autovacuum_enabled = off for ready"));
    let open = ill.oldest_transaction.expect("a transaction is open");
    assert!(open.session.contains(&format!("process {pid} ")), "{open:?}");
    assert!(open.age < Duration::from_mins(10), "{open:?}");
    tx.rollback().await.expect("ends");
    database.execute("DROP SCHEMA vitals CASCADE").await;
}

/// A user that only reads can run the doctor.
#[tokio::test(flavor = "multi_thread")]
async fn z_09_read_measures() {
    let database = Database::take().await;
    let options = database.options_as(DatabaseRole::Read).await;
    let store = PgStore::open(options).await.expect("opens");
    assert_eq!(store.vitals(false).await.expect("measures").missing, [""; 0]);
}
