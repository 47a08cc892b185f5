//! Schema names, and the isolation of two schemas in one database.

use std::time::Duration;

use ratchet_pg::PgStore;
use ratchet_store::model::NodeInfo;
use ratchet_store::{Store as _, StoreErrorKind};
use tokio::time::Instant;

use crate::support::hold;
use crate::world::World;

#[tokio::test]
async fn u_04_a_schema_name_that_postgresql_would_cut_is_refused() {
    let world = World::fresh().await;
    let long = "s".repeat(64);
    let refused = PgStore::open(world.pg.database.options().schema(&long)).await;
    let error = refused.expect_err("the name is too long");
    assert_eq!(error.kind(), StoreErrorKind::Config);
    assert!(error.to_string().contains("63"), "{error}");
    for odd in ["", "a\0b", "it's"] {
        let refused = PgStore::open(world.pg.database.options().schema(odd)).await;
        assert_eq!(refused.expect_err("no name").kind(), StoreErrorKind::Config);
    }
    let longest = "s".repeat(63);
    for _ in 0..2 {
        PgStore::open(world.pg.database.options().schema(&longest)).await.expect("opens");
    }
    world.pg.database.execute(&format!("DROP SCHEMA {longest} CASCADE")).await;
}

#[tokio::test]
async fn u_04_a_schema_name_may_contain_the_name_of_the_default_schema() {
    let world = World::fresh().await;
    for name in ["my.ratchet.jobs", "__SCHEMA__", "a __HOME__ b"] {
        for _ in 0..2 {
            let store = PgStore::open(world.pg.database.options().schema(name)).await;
            let store = store.unwrap_or_else(|error| panic!("{name}: {error}"));
            store.insert(vec![world.job()]).await.expect("inserted");
        }
        world.pg.database.execute(&format!("DROP SCHEMA \"{name}\" CASCADE")).await;
    }
}

#[tokio::test]
async fn c_01_a_claim_in_another_schema_passes_over_nothing() {
    let world = World::fresh().await;
    world.pg.database.execute("DROP SCHEMA IF EXISTS other CASCADE").await;
    let other = PgStore::open(world.pg.database.options().schema("other")).await.expect("opens");
    other.join(NodeInfo::new(world.node), Duration::from_hours(1)).await.expect("joins");
    world.submit(world.limited("printer")).await;
    other.insert(vec![world.limited("printer")]).await.expect("inserted");
    let (a, request) = (world.a.clone(), world.request("default", 1));
    let held = hold(&world.a, "count_slots", async move { a.claim(request).await }).await;
    let there = other.claim(world.request("default", 1)).await.expect("claims").jobs.len();
    let here = held.finish().await.expect("claims").jobs.len();
    assert_eq!((here, there), (1, 1), "each schema has a key of this name");
    world.pg.database.execute("DROP SCHEMA other CASCADE").await;
}

// Another node is dropping a partition, which may take minutes.
#[tokio::test]
async fn u_04_opening_does_not_wait_for_a_range_to_be_dropped() {
    let world = World::fresh().await;
    let mut gate = world.pool().begin().await.expect("begins");
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended('ratchet parts', 0))";
    sqlx::query(lock).execute(&mut *gate).await.expect("locks");
    let options = world.pg.database.options().statement_timeout(Duration::from_mins(2));
    let began = Instant::now();
    let opened = tokio::time::timeout(Duration::from_secs(50), PgStore::open(options)).await;
    opened.unwrap_or_else(|_| panic!("it waits for {:?}", began.elapsed())).expect("opens");
    gate.rollback().await.expect("unlocks");
}
