//! Ways to open a store: from a pool of the application, beside another store, and with migrations as a separate step.

use std::time::Duration;

use crate::jobs::Greet;
use crate::support::{Database, PgHarness};
use ratchet_conformance::Harness as _;
use ratchet_core::{IdSource, Job as _, JobState, OsEntropy, Ratchet, SystemClock, Worker};
use ratchet_pg::sqlx::postgres::PgPoolOptions;
use ratchet_pg::{EnqueueInTx as _, PgOptions, PgStore};
use ratchet_store::model::{Heartbeat, NodeInfo};
use ratchet_store::{Store, StoreErrorKind};
use std::sync::Arc;

const LONGEST: Duration = Duration::from_mins(1);

fn greet(name: &str) -> Greet {
    Greet { name: name.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pool_whose_connections_are_all_in_use_does_not_stop_the_store() {
    let database = Database::take().await;
    let pool = PgPoolOptions::new().max_connections(1).connect(&database.url()).await;
    let pool = pool.expect("connects");
    let store = PgStore::from_pool(&pool).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone()).jobs([Greet::JOB]).build().await.expect("builds");

    // A handler that never returns its connection.
    let mut tx = pool.begin().await.expect("begins");
    let handle = ratchet.enqueue(greet("Ada")).in_tx(&mut tx).await.expect("enqueues");
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let node = ids.node();
    store.join(NodeInfo::new(node), LONGEST).await.expect("joins");
    let beat = store.heartbeat(node, LONGEST).await.expect("a heartbeat");
    assert!(matches!(beat, Heartbeat::Renewed { .. }));
    ratchet.enqueue(greet("Bob")).await.expect("submits");

    tx.commit().await.expect("commits");
    assert!(store.get(handle.id()).await.expect("reads").is_some());
}

async fn worker(store: PgStore) -> (Ratchet, Worker) {
    let ratchet = Ratchet::builder(store).jobs([Greet::JOB]).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    (ratchet, worker)
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_in_two_schemas_of_one_database_are_independent() {
    let database = Database::take().await;
    database.execute("DROP SCHEMA IF EXISTS \"other jobs\" CASCADE").await;
    let one = PgStore::open(database.options()).await.expect("opens");
    let two = PgStore::open(database.options().schema("other jobs")).await.expect("opens");
    let (one_ratchet, one_worker) = worker(one.clone()).await;
    let (two_ratchet, two_worker) = worker(two.clone()).await;

    for (ratchet, other, name) in [(&one_ratchet, &two, "one"), (&two_ratchet, &one, "two")] {
        for number in 0..20 {
            // The same key is free in the other schema.
            let key = format!("key-{number}");
            let enqueued =
                ratchet.enqueue(greet(name)).idempotency_key(key).await.expect("submits");
            let waited = tokio::time::timeout(LONGEST, enqueued.wait()).await.expect("in time");
            assert_eq!(waited.expect("succeeds"), format!("hello {name}"));
            assert!(other.get(enqueued.id()).await.expect("reads").is_none());
        }
    }
    for (store, worker) in [(&one, &one_worker), (&two, &two_worker)] {
        assert_eq!(store.nodes().await.expect("reads").len(), 1, "each sees its own worker");
        assert_eq!(store.counts().await.expect("counts").state(JobState::Succeeded), 20);
        worker.stop().await;
    }
    one.close().await;
    two.close().await;
    database.execute("DROP SCHEMA \"other jobs\" CASCADE").await;
}

// spec: U-04
#[tokio::test(flavor = "multi_thread")]
async fn u_04_migrating_is_a_step_of_its_own() {
    let database = Database::take().await;
    database.execute("DROP SCHEMA IF EXISTS apart CASCADE").await;
    let options = || database.options().schema("apart");
    let refusal = async || {
        let opened = PgStore::open(options().without_migrations()).await;
        let error = opened.expect_err("the schema is old");
        assert_eq!(error.kind(), StoreErrorKind::Schema);
        assert!(error.to_string().contains("migrate with `PgOptions::migrate`"), "{error}");
        error.to_string()
    };
    assert!(refusal().await.contains("the schema `apart` has no tables of Ratchet"));
    options().migrate().await.expect("migrates");
    options().migrate().await.expect("changes nothing");
    let store = PgStore::open(options().without_migrations()).await.expect("opens");
    store.counts().await.expect("works");
    store.close().await;
    database.execute("DELETE FROM apart.migration WHERE version > 3").await;
    assert!(refusal().await.contains("the schema `apart` is at version 3, this program needs"));
    database.execute("DROP SCHEMA apart CASCADE").await;
}

// spec: U-04
#[tokio::test(flavor = "multi_thread")]
async fn u_04_the_script_of_a_migration_creates_what_a_migration_creates() {
    let database = Database::take().await;
    for schema in ["scripted", "migrated"] {
        let drop = format!("DROP SCHEMA IF EXISTS {schema}, {schema}_archive CASCADE");
        database.execute(&drop).await;
    }
    let options = |schema: &str| database.options().schema(schema);
    let script = options("scripted").migration_script().await.expect("answers");
    database.execute(&script.expect("everything is missing")).await;
    assert_eq!(options("scripted").migration_script().await.expect("answers"), None);
    options("migrated").migrate().await.expect("migrates");
    let columns = async |schema: &str| -> Vec<(String, String, String)> {
        let columns = sqlx::query_as(
            "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, a.atttypmod)
             FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
             WHERE c.relnamespace IN (to_regnamespace($1), to_regnamespace($1 || '_archive'))
               AND NOT c.relispartition ORDER BY 1, 2",
        );
        columns.bind(schema).fetch_all(&database.pool).await.expect("reads")
    };
    let (scripted, migrated) = (columns("scripted").await, columns("migrated").await);
    assert!(scripted.len() > 100, "{scripted:?}");
    assert_eq!(scripted, migrated);
    let store = PgStore::open(options("scripted").without_migrations()).await.expect("opens");
    let vitals = store.vitals(true).await.expect("answers");
    assert!(vitals.missing.is_empty(), "{vitals:?}");
    store.close().await;
    for schema in ["scripted", "migrated"] {
        database.execute(&format!("DROP SCHEMA {schema} CASCADE")).await;
        database.execute(&format!("DROP SCHEMA IF EXISTS {schema}_archive CASCADE")).await;
    }
}

#[tokio::test]
async fn options_of_a_pool_are_those_of_its_connections() {
    let pg = PgHarness::fresh().await;
    let options = PgOptions::from_pool(&pg.database.pool).schema("ratchet").without_migrations();
    let store = PgStore::open(options).await.expect("opens");
    store.counts().await.expect("the same database");
}
