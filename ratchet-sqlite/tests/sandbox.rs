//! Tests of an application on SQLite: a handler that enqueues in its own transaction, in virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet_core::testing::Sandbox;
use ratchet_core::{Job as _, JobContext, JobError, State, VirtualClock, assert_enqueued};
use ratchet_macros::job;
use ratchet_sqlite::{EnqueueInTx as _, SqliteStore};

#[derive(Debug, Clone, Default)]
struct Outbox(Arc<Mutex<Vec<String>>>);

#[job(name = "sandbox.welcome", max_retries = 2, backoff = fixed("10m"), crate = ::ratchet_core)]
async fn welcome(
    #[inject] ctx: JobContext,
    #[inject] outbox: State<Outbox>,
    name: String,
) -> Result<(), JobError> {
    if ctx.attempt() == 1 {
        return Err(JobError::msg("the mail server is down"));
    }
    ctx.sleep(Duration::from_mins(1)).await;
    outbox.0.0.lock().expect("not poisoned").push(format!("welcome, {name}"));
    Ok(())
}

#[job(name = "sandbox.report", cron = "0 3 * * *", crate = ::ratchet_core)]
async fn report(#[inject] outbox: State<Outbox>) {
    outbox.0.0.lock().expect("not poisoned").push("report".to_owned());
}

/// The code under test: registers a customer and enqueues a job in one transaction.
async fn register(
    ratchet: &ratchet_core::Ratchet,
    store: &SqliteStore,
    name: &str,
    valid: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut tx = store.begin().await?;
    sqlx::query("INSERT INTO customer VALUES (?1)").bind(name).execute(&mut *tx).await?;
    ratchet.enqueue(Welcome { name: name.to_owned() }).in_tx(&mut tx).await?;
    if valid {
        tx.commit().await?;
    }
    Ok(())
}

#[tokio::test]
async fn j_01_a_sandbox_over_sqlite_runs_what_a_transaction_has_enqueued() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let clock = VirtualClock::new();
    let store = SqliteStore::options(&path).clock(Arc::new(clock.clone()));
    let store = store.open().await.expect("opens");
    let outbox = Outbox::default();
    let sandbox = Sandbox::with_store(store.clone(), &clock)
        .jobs([Welcome::JOB, Report::JOB])
        .state(outbox.clone())
        .build()
        .await
        .expect("builds");

    let mut tx = store.begin().await.expect("begins");
    let table = sqlx::query("CREATE TABLE customer (name TEXT NOT NULL)");
    table.execute(&mut *tx).await.expect("creates");
    tx.commit().await.expect("commits");
    register(sandbox.ratchet(), &store, "Bob", false).await.expect("rolls back");
    assert_enqueued!(sandbox, Welcome { .. }, count = 0);
    register(sandbox.ratchet(), &store, "Ada", true).await.expect("commits");
    assert_enqueued!(sandbox, Welcome { name: "Ada", .. }, count = 1, queue = "default");

    assert_eq!(sandbox.drain().await.expect("drains").retried, 1);
    let later = sandbox.drain_for(Duration::from_hours(1)).await.expect("drains");
    assert!(later.succeeded >= 1, "{later:?}");
    assert!(outbox.0.lock().expect("not poisoned").contains(&"welcome, Ada".to_owned()));

    outbox.0.lock().expect("not poisoned").clear();
    sandbox.drain_for(Duration::from_hours(72)).await.expect("drains");
    assert_eq!(*outbox.0.lock().expect("not poisoned"), ["report"; 3], "once per night");
}
