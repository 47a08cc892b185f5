//! Jobs in a transaction of the caller.

use std::path::Path;
use std::time::Duration;

use crate::jobs::Greet;
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

// A deferred transaction that has read cannot write after another one has written: SQLite fails it without waiting.
#[tokio::test(flavor = "multi_thread")]
async fn s_07_transactions_of_the_store_are_never_locked_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::options(folder.path().join("shop.db"))
        .busy_timeout(Duration::from_mins(1))
        .open()
        .await
        .expect("opens");
    let ratchet = Ratchet::builder(store.clone()).jobs([Greet::JOB]).build().await.expect("builds");
    let mut tx = store.begin().await.expect("begins");
    let create = "CREATE TABLE orders (number INTEGER NOT NULL)";
    sqlx::query(create).execute(&mut *tx).await.expect("a table");
    tx.commit().await.expect("commits");
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, ratchet) = (store.clone(), ratchet.clone());
        tasks.spawn(async move {
            for _ in 0..20 {
                let mut tx = store.begin().await.expect("begins");
                let count = sqlx::query_scalar("SELECT count(*) FROM orders");
                let number: i64 = count.fetch_one(&mut *tx).await.expect("counts");
                let insert = sqlx::query("INSERT INTO orders VALUES (?)").bind(number);
                insert.execute(&mut *tx).await.expect("an order");
                let greet = Greet { name: number.to_string() };
                ratchet.enqueue(greet).in_tx(&mut tx).await.expect("enqueues");
                tx.commit().await.expect("commits");
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(store.counts().await.expect("counts").state(JobState::Pending), 160);
    let mut tx = store.begin().await.expect("begins");
    let numbers = sqlx::query_scalar("SELECT count(DISTINCT number) FROM orders");
    let numbers: i64 = numbers.fetch_one(&mut *tx).await.expect("counts");
    assert_eq!(numbers, 160, "each transaction has seen those before it");
}

#[tokio::test]
async fn s_07_a_deferred_transaction_that_is_locked_out_is_told_what_to_do() {
    let shop = shop().await;
    let mut tx = shop.pool.begin().await.expect("begins");
    sqlx::query("SELECT count(*) FROM orders").execute(&mut *tx).await.expect("reads");
    shop.greet().await.expect("another one writes");
    let error = shop.greet().in_tx(&mut tx).await.expect_err("it is locked out");
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        text += &error.to_string();
        source = error.source();
    }
    assert!(text.contains("`SqliteStore::begin`"), "{text}");
}

#[tokio::test]
async fn s_06_many_jobs_are_enqueued_in_one_transaction() {
    let shop = shop().await;
    let greets = || (0..50).map(|number| Greet { name: number.to_string() });
    let mut tx = shop.store.begin().await.expect("begins");
    shop.ratchet.enqueue_many(greets()).in_tx(&mut tx).await.expect("enqueues");
    tx.rollback().await.expect("rolls back");
    assert_eq!(shop.pending().await, 0);
    let mut tx = shop.store.begin().await.expect("begins");
    let handles = shop.ratchet.enqueue_many(greets()).in_tx(&mut tx).await.expect("enqueues");
    tx.commit().await.expect("commits");
    assert_eq!((handles.len(), shop.pending().await), (50, 50));
}

#[tokio::test]
async fn a_pool_whose_connections_are_all_in_use_does_not_stop_the_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let connect =
        SqliteConnectOptions::new().filename(folder.path().join("shop.db")).create_if_missing(true);
    let one = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
    let pool = one.connect_with(connect).await.expect("connects");
    let store = SqliteStore::from_pool(&pool).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone()).jobs([Greet::JOB]).build().await.expect("builds");
    let held = pool.acquire().await.expect("the only connection");
    ratchet.enqueue(Greet { name: "Ada".to_owned() }).await.expect("submits");
    store.counts().await.expect("reads");
    drop(held);
    let mut tx = store.begin().await.expect("a connection of the pool");
    assert_eq!(pool.num_idle(), 0);
    let handle = ratchet.enqueue(Greet { name: "Bob".to_owned() }).in_tx(&mut tx).await;
    tx.commit().await.expect("commits");
    assert!(store.get(handle.expect("enqueues").id()).await.expect("reads").is_some());
}
