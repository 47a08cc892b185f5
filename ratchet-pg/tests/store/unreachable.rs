//! Errors of a server that cannot be reached name its address and the cause.

use std::time::Duration;

use crate::support::{Database, OwnServer};
use ratchet_pg::{PgOptions, PgStore};
use ratchet_store::{Store, StoreErrorKind};

// spec: S-13
#[tokio::test]
async fn s_13_a_refused_connection_names_the_address() {
    let port = crate::support::free_port();
    let options = PgOptions::new(&format!("postgres://127.0.0.1:{port}/shop")).expect("a URL");
    let opened = PgStore::open(options.acquire_timeout(Duration::from_millis(200))).await;
    let error = opened.expect_err("no server");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let text = error.to_string();
    let expected = format!("cannot connect to 127.0.0.1:{port}: connection refused");
    assert!(text.contains(&expected), "{text}");
}

/// Opens a store that waits only briefly for a connection. On a busy machine, one may take longer.
async fn open(options: PgOptions, longest: Duration) -> PgStore {
    loop {
        match PgStore::open(options.clone().acquire_timeout(longest)).await {
            Ok(store) => return store,
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}"),
        }
    }
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_a_server_that_stops_is_named_with_its_socket() {
    let server = OwnServer::start("");
    let options = PgOptions::new(&server.url("postgres")).expect("a URL");
    let store = open(options, Duration::from_millis(200)).await;
    server.down("fast");
    let text = store.counts().await.expect_err("no server").to_string();
    let socket = server.folder().join(".s.PGSQL.5432").display().to_string();
    assert!(text.contains(&socket), "{text}");
    server.up();
    // On a busy machine, a new connection may take longer than the store waits.
    while let Err(error) = store.counts().await {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
}

// spec: S-13
#[tokio::test(flavor = "multi_thread")]
async fn s_13_a_pool_that_is_used_up_says_so() {
    let database = Database::take().await;
    let options = PgOptions::new(&database.url()).expect("a URL").connections(2);
    let store = open(options, Duration::from_millis(500)).await;
    let mut holder = database.pool.begin().await.expect("begins");
    let lock = "LOCK TABLE ratchet.tally IN ACCESS EXCLUSIVE MODE";
    sqlx::query(lock).execute(&mut *holder).await.expect("locks");
    // One connection listens, and one waits for the lock.
    let waits = tokio::spawn({
        let store = store.clone();
        async move { store.counts().await }
    });
    assert!(!crate::support::ended_or_waits(&database.pool, &waits).await);
    let text = store.nodes().await.expect_err("no connection is free").to_string();
    assert!(text.contains("none of the 2 connections of the store became free"), "{text}");
    holder.rollback().await.expect("ends");
    waits.await.expect("ends").expect("counts");
}
