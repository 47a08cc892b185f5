//! The cost of notifying workers of a submit: one connection, one commit, few hints, and no thread switch.

use std::sync::Arc;
use std::time::Duration;

use crate::support::PgHarness;
use futures_util::future::join_all;
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_store::Store;
use ratchet_store::model::{JobSpec, NewJob, QueueUpdate};
use sqlx::postgres::{PgListener, PgNotification};
use tokio::time::Instant;

fn job() -> NewJob {
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let spec = JobSpec::new("mail", b"{}".to_vec());
    NewJob::new(ids.job(), spec)
}

/// Returns the server processes whose last statement was an insert.
async fn inserters(pg: &PgHarness) -> Vec<i32> {
    let sql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ratchet'
                   AND query LIKE '%differ in nothing but their arguments.%'";
    sqlx::query_scalar(sql).fetch_all(&pg.database.pool).await.expect("tells")
}

async fn spy(pg: &PgHarness) -> PgListener {
    let mut spy = PgListener::connect(&pg.database.url()).await.expect("connects");
    spy.listen("ratchet:ratchet").await.expect("listens");
    spy
}

async fn heard(spy: &mut PgListener) -> PgNotification {
    let heard = tokio::time::timeout(Duration::from_secs(10), spy.recv()).await;
    heard.expect("in time").expect("a hint")
}

// spec: S-09
#[tokio::test]
async fn s_09_a_hint_goes_with_the_commit_it_tells_of() {
    let pg = PgHarness::fresh().await;
    let mut spy = spy(&pg).await;
    pg.store.insert(vec![job()]).await.expect("inserted");
    let hint = heard(&mut spy).await;
    assert!(hint.payload().ends_with(" default"), "{}", hint.payload());
    assert_eq!(inserters(&pg).await, [hint.process_id().cast_signed()]);
}

// spec: S-09
#[tokio::test]
async fn s_09_hints_of_many_submits_go_out_together() {
    let pg = PgHarness::fresh().await;
    let mut spy = spy(&pg).await;
    let began = Instant::now();
    for _ in 0..100 {
        pg.store.insert(vec![job()]).await.expect("inserted");
    }
    // These hints are sent after all others of this store.
    for order in [QueueUpdate::Pause, QueueUpdate::Resume] {
        pg.store.update_queue("q", order).await.expect("obeys");
    }
    let mut hints = 0;
    while !heard(&mut spy).await.payload().contains(" u ") {
        hints += 1;
    }
    let most = began.elapsed().as_millis() / 4 + 2;
    assert!((1..=most).contains(&hints), "{hints} hints, at most {most} at one every 4 ms");
}

#[tokio::test]
async fn the_connection_that_was_used_last_is_used_next() {
    let pg = PgHarness::fresh().await;
    // Open more connections.
    for now in join_all((0..8).map(|_| pg.store.now())).await {
        now.expect("tells");
    }
    for _ in 0..12 {
        pg.store.insert(vec![job()]).await.expect("inserted");
    }
    assert_eq!(inserters(&pg).await.len(), 1);
}

#[tokio::test]
async fn the_engine_is_offered_the_thread_of_the_connections() {
    let pg = PgHarness::fresh().await;
    let home = pg.store.runtime().expect("a runtime of its own");
    let thread = home.spawn(async { std::thread::current().name().map(str::to_owned) });
    assert_eq!(thread.await.expect("runs").as_deref(), Some("ratchet-pg"));
}
