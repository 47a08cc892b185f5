//! Queries with several statements see one snapshot of the database, despite concurrent writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::node::{Node, job};
use ratchet_core::JobState;
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use ratchet_store::model::{
    AttemptOutcome, ConcurrencyKey, Filter, JobId, PageRequest, Settlement, Verdict,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};
use tempfile::TempDir;

/// The number of reads. Without a snapshot, a few hundred reads see two states.
const LOOKS: usize = 3_000;

async fn fresh() -> (TempDir, SqliteStore, SqliteConnection) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::options(&path).synchronous(Synchronous::Normal).open().await;
    let conn = SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
    (folder, store.expect("opens"), conn)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn surroundings_are_of_one_moment() {
    let (_folder, store, _) = fresh().await;
    let mut new = job("mail");
    new.spec.concurrency = Some(ConcurrencyKey { key: "one".to_owned(), limit: 1 });
    let id = new.id;
    store.insert(vec![new]).await.expect("inserts");
    let stop = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn({
        let (store, stop) = (store.clone(), Arc::clone(&stop));
        async move {
            let worker = Node::join(&store, &["mail"]).await;
            while !stop.load(Ordering::Relaxed) {
                let claimed = worker.claim(&store, 1).await.expect("claims").jobs;
                let back = claimed.iter().map(|claimed| {
                    Settlement::new(claimed.token, Verdict::Release, AttemptOutcome::Released)
                });
                store.settle(back.collect()).await.expect("settles");
            }
        }
    });
    for _ in 0..LOOKS {
        let around = store.claim_context(id).await.expect("reads").expect("is there");
        // The job holds its key only while it runs.
        let running = around.job.state == JobState::Running;
        assert_eq!(around.holders, running.then_some(id).into_iter().collect::<Vec<_>>());
        assert_eq!(around.running, u64::from(running));
    }
    stop.store(true, Ordering::Relaxed);
    load.await.expect("the load ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_is_of_one_moment() {
    let (_folder, store, mut conn) = fresh().await;
    let mut jobs: Vec<_> = (0..12).map(|_| job("mail")).collect();
    jobs.sort_by_key(|job| job.id);
    let (oldest, newest) = (jobs[0].id, jobs[11].id);
    for place in [0, 11] {
        jobs[place].spec.tags = vec!["marked".to_owned()];
    }
    store.insert(jobs).await.expect("inserts");
    // One of the two is paused, never both and never none.
    let pause = "UPDATE ratchet_job SET state = iif(id = ?1, 4, 0), paused_from = iif(id = ?1, 0, NULL) WHERE id IN (?1, ?2)";
    let bytes = |id: JobId| id.uuid().as_bytes().to_vec();
    let done = sqlx::query(pause).bind(bytes(oldest)).bind(bytes(newest));
    done.execute(&mut conn).await.expect("pauses");
    let stop = Arc::new(AtomicBool::new(false));
    let load = tokio::spawn({
        let stop = Arc::clone(&stop);
        async move {
            let mut pair = [newest, oldest];
            while !stop.load(Ordering::Relaxed) {
                let done = sqlx::query(pause).bind(bytes(pair[0])).bind(bytes(pair[1]));
                done.execute(&mut conn).await.expect("pauses");
                pair.reverse();
            }
        }
    });
    let filter = Filter::any().state(JobState::Pending).tag("marked");
    for _ in 0..LOOKS {
        // A page this small is read with several statements.
        let page = PageRequest { before: None, limit: 2 };
        let page = store.list(&filter, page).await.expect("lists");
        assert_eq!(page.jobs.len(), 1, "{:?}", page.jobs);
    }
    stop.store(true, Ordering::Relaxed);
    load.await.expect("the load ends");
}

#[tokio::test]
async fn read_that_is_given_up_leaves_no_transaction_behind() {
    let (_folder, store, mut conn) = fresh().await;
    let new = job("mail");
    store.insert(vec![new.clone()]).await.expect("inserts");
    for _ in 0..50 {
        for polls in 0..6 {
            let mut read = std::pin::pin!(store.claim_context(new.id));
            for _ in 0..polls {
                tokio::select! {
                    biased;
                    _ = &mut read => break,
                    () = tokio::task::yield_now() => {}
                }
            }
        }
    }
    // No reader holds an old snapshot, so the whole log can be moved.
    store.claim_context(new.id).await.expect("reads");
    store.queues().await.expect("reads");
    store.insert(vec![job("mail")]).await.expect("inserts");
    let until = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    loop {
        let moved = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut conn).await;
        if sqlx::Row::get::<i64, _>(&moved.expect("moves the log"), 0) == 0 {
            break;
        }
        assert!(tokio::time::Instant::now() < until, "a reader holds an old snapshot");
    }
    assert_eq!(store.counts().await.expect("counts").state(JobState::Pending), 2);
}
