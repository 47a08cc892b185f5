//! Tests of an application on PostgreSQL: a handler that enqueues in its own transaction, in virtual time.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet_conformance::Harness as _;
use ratchet_core::testing::Sandbox;
use ratchet_core::{Job as _, JobContext, JobError, State, assert_enqueued};
use ratchet_macros::job;
use ratchet_pg::EnqueueInTx as _;
use support::PgHarness;

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
    pool: &sqlx::PgPool,
    name: &str,
    valid: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut tx = pool.begin().await?;
    sqlx::query("INSERT INTO customer VALUES ($1)").bind(name).execute(&mut *tx).await?;
    ratchet.enqueue(Welcome { name: name.to_owned() }).in_tx(&mut tx).await?;
    if valid {
        tx.commit().await?;
    }
    Ok(())
}

#[tokio::test]
async fn j_01_a_sandbox_over_postgres_runs_what_a_transaction_has_enqueued() {
    let pg = PgHarness::fresh().await;
    let outbox = Outbox::default();
    let sandbox = Sandbox::with_live_store(pg.store.clone())
        .jobs([Welcome::JOB, Report::JOB])
        .state(outbox.clone())
        .build()
        .await
        .expect("builds");
    let pool = &pg.database.pool;
    sqlx::query("CREATE TABLE IF NOT EXISTS customer (name text NOT NULL)")
        .execute(pool)
        .await
        .expect("creates");
    register(sandbox.ratchet(), pool, "Bob", false).await.expect("rolls back");
    assert_enqueued!(sandbox, Welcome { .. }, count = 0);
    register(sandbox.ratchet(), pool, "Ada", true).await.expect("commits");
    assert_enqueued!(sandbox, Welcome { name: "Ada", .. }, count = 1, queue = "default");

    assert_eq!(sandbox.drain().await.expect("drains").retried, 1);
    let later = sandbox.drain_for(Duration::from_hours(1)).await.expect("drains");
    assert!(later.succeeded >= 1, "{later:?}");
    assert!(outbox.0.lock().expect("not poisoned").contains(&"welcome, Ada".to_owned()));

    outbox.0.lock().expect("not poisoned").clear();
    sandbox.drain_for(Duration::from_hours(30)).await.expect("drains");
    assert!(outbox.0.lock().expect("not poisoned").contains(&"report".to_owned()));
    let nodes = sandbox.ratchet().nodes().list().await.expect("reads");
    assert!(nodes.iter().all(|node| !node.alive), "no node is left behind: {nodes:?}");
}
