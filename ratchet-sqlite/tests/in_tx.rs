//! Jobs in a transaction of the caller.

mod jobs;

use std::path::Path;
use std::time::Duration;

use jobs::Greet;
use ratchet_core::{Job as _, JobState, Ratchet, SubmitError};
use ratchet_sqlite::{EnqueueInTx as _, SqliteStore};
use ratchet_store::model::{CommandReply, Due};
use ratchet_store::{Store, Wake};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

struct Shop {
    store: SqliteStore,
    ratchet: Ratchet,
    pool: SqlitePool,
    _folder: tempfile::TempDir,
}

async fn shop() -> Shop {
    let folder = tempfile::tempdir().expect("a folder");
    let path: &Path = &folder.path().join("shop.db");
    let store = SqliteStore::options(path)
        .busy_timeout(Duration::from_millis(200))
        .open()
        .await
        .expect("opens");
    let ratchet = Ratchet::builder(store.clone()).jobs([Greet::JOB]).build().await.expect("builds");
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(path))
        .await
        .expect("connects");
    sqlx::query("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        .execute(&pool)
        .await
        .expect("a table");
    Shop { store, ratchet, pool, _folder: folder }
}

impl Shop {
    async fn pending(&self) -> u64 {
        self.store.counts().await.expect("counts").state(JobState::Pending)
    }

    fn greet(&self) -> ratchet_core::Enqueue<'_, Greet> {
        self.ratchet.enqueue(Greet { name: "Ada".to_owned() })
    }
}

#[tokio::test]
async fn s_07_commit_makes_it_visible_and_wakes() {
    let shop = shop().await;
    let mut wakes = shop.store.subscribe_wakeups();
    let mut tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    sqlx::query("INSERT INTO orders DEFAULT VALUES").execute(&mut *tx).await.expect("an order");
    let id = shop.greet().tag("vip").in_tx(&mut tx).await.expect("enqueues").id();
    assert_eq!(shop.pending().await, 0, "nothing is seen before the commit");
    tx.commit().await.expect("commits");
    let job = shop.store.get(id).await.expect("reads").expect("is there");
    assert_eq!((job.state, job.spec.tags.clone()), (JobState::Pending, vec!["vip".to_owned()]));
    assert_eq!(shop.pending().await, 1);
    let woken = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            if let Ok(Wake::Work { queue }) = wakes.recv().await {
                break queue;
            }
        }
    });
    assert_eq!(woken.await.expect("the commit is noticed"), job.spec.queue);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_07_a_worker_runs_it_after_the_commit() {
    let shop = shop().await;
    let worker = shop.ratchet.start().await.expect("starts");
    let mut tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let job = shop.greet().in_tx(&mut tx).await.expect("enqueues");
    tx.commit().await.expect("commits");
    let said = job.wait_for(Duration::from_secs(10)).await;
    assert_eq!(said.expect("runs"), "hello Ada");
    worker.stop().await;
}

#[tokio::test]
async fn s_07_rollback_leaves_no_trace() {
    let shop = shop().await;
    let mut tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let first = shop
        .greet()
        .idempotency_key("once")
        .business_key("one")
        .in_tx(&mut tx)
        .await
        .expect("enqueues");
    tx.rollback().await.expect("rolls back");
    assert!(shop.store.get(first.id()).await.expect("reads").is_none());
    assert_eq!(shop.pending().await, 0);
    // Neither key was used.
    let again = shop.greet().idempotency_key("once").business_key("one").await.expect("enqueues");
    assert_ne!(again.id(), first.id());
    assert_eq!(shop.pending().await, 1);
}

#[tokio::test]
async fn s_07_keys_hold_in_a_transaction() {
    let shop = shop().await;
    let holder = shop.greet().business_key("one").await.expect("enqueues").id();
    let mut tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let taken = shop.greet().business_key("one").in_tx(&mut tx).await.expect_err("taken");
    assert!(
        matches!(taken, SubmitError::BusinessKeyTaken { holder: by, .. } if by == holder),
        "{taken}"
    );
    let standing = shop.greet().business_key("one").or_existing().in_tx(&mut tx).await;
    assert_eq!(standing.expect("the holder stands for it").id(), holder);
    let first = shop.greet().idempotency_key("once").in_tx(&mut tx).await.expect("enqueues");
    let repeat = shop.greet().idempotency_key("once").in_tx(&mut tx).await.expect("enqueues");
    assert_eq!(repeat.id(), first.id());
    tx.commit().await.expect("commits");
    assert_eq!(shop.pending().await, 2);
}

#[tokio::test]
async fn s_07_cancel_and_reschedule_in_a_transaction() {
    let shop = shop().await;
    let (one, two) =
        (shop.greet().await.expect("enqueues").id(), shop.greet().await.expect("enqueues").id());
    let mut tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let canceled = shop.store.cancel_in_tx(&mut tx, one).await.expect("cancels");
    assert_eq!(canceled, CommandReply::Done { from: JobState::Pending, to: JobState::Canceled });
    let day = Due::In(Duration::from_hours(24));
    shop.store.reschedule_in_tx(&mut tx, two, day).await.expect("reschedules");
    assert_eq!(shop.pending().await, 2, "not before the commit");
    tx.commit().await.expect("commits");
    let job = shop.store.get(two).await.expect("reads").expect("is there");
    assert!(job.due > job.queued_at + Duration::from_hours(1));
    assert_eq!(
        shop.store.get(one).await.expect("reads").expect("is there").state,
        JobState::Canceled
    );
    assert_eq!(shop.pending().await, 1);

    let mut tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    shop.store.cancel_in_tx(&mut tx, two).await.expect("cancels");
    tx.rollback().await.expect("rolls back");
    assert_eq!(
        shop.store.get(two).await.expect("reads").expect("is there").state,
        JobState::Pending
    );
}

#[tokio::test]
async fn s_07_plain_enqueue_inside_a_transaction_names_the_remedy() {
    let shop = shop().await;
    let tx = shop.pool.begin_with("BEGIN IMMEDIATE").await.expect("begins");
    let error = shop.greet().await.expect_err("the writer waits for this very transaction");
    assert!(error.to_string().contains(".in_tx(&mut tx)"), "{error}");
    drop(tx);
}
