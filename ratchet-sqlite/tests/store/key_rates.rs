//! Rates per concurrency key: the file counts the starts, and jobs that must wait are set aside.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::node::{Node, job};
use ratchet_core::VirtualClock;
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use ratchet_store::model::{
    Claimed, Command, ConcurrencyKey, JobId, Placement, Priority, QueueLimits, QueueUpdate, Rate,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _};

const MINUTE: Duration = Duration::from_secs(61);

async fn open(path: &Path, clock: &VirtualClock) -> SqliteStore {
    let options = SqliteStore::options(path).synchronous(Synchronous::Normal).max_skipped(10);
    options.clock(Arc::new(clock.clone())).open().await.expect("opens")
}

async fn each_minute(store: &SqliteStore, jobs: u32) {
    let mut limits = QueueLimits::default();
    limits.rate_per_key = Some(Rate { jobs, per: Duration::from_mins(1) });
    store.update_queue("default", QueueUpdate::Limit(limits)).await.expect("limits");
}

async fn submit(store: &SqliteStore, key: &str, count: usize) -> Vec<JobId> {
    let mut jobs = Vec::new();
    for _ in 0..count {
        let mut job = job("mail");
        job.spec.concurrency = Some(ConcurrencyKey { key: key.to_owned(), limit: 99 });
        jobs.push(job);
    }
    let ids = jobs.iter().map(|job| job.id).collect();
    store.insert(jobs).await.expect("inserts");
    ids
}

async fn claim(store: &SqliteStore, node: &Node, limit: u32) -> Vec<JobId> {
    let reply = node.claim(store, limit).await.expect("claims");
    reply.jobs.iter().map(Claimed::id).collect()
}

async fn count(path: &Path, sql: &'static str) -> i64 {
    let mut conn = SqliteConnectOptions::new().filename(path).connect().await.expect("connects");
    sqlx::query(sql).fetch_one(&mut conn).await.expect("counts").get(0)
}

const IN_LINE: &str = "SELECT count(*) FROM ratchet_job WHERE state = 0 AND ready = 1";
const ASIDE: &str = "SELECT count(*) FROM ratchet_job WHERE state = 0 AND ready = 2";

#[tokio::test]
async fn q_06_a_restart_keeps_the_starts_of_a_key() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, clock) = (folder.path().join("jobs.db"), VirtualClock::new());
    let store = open(&path, &clock).await;
    each_minute(&store, 2).await;
    let ids = submit(&store, "k", 5).await;
    let node = Node::join(&store, &["mail"]).await;
    assert_eq!(claim(&store, &node, 1).await, ids[..1]);
    drop(store);
    let store = open(&path, &clock).await;
    let node = Node::join(&store, &["mail"]).await;
    assert_eq!(claim(&store, &node, 9).await, ids[1..2]);
    assert!(claim(&store, &node, 9).await.is_empty());
    clock.advance(MINUTE);
    assert_eq!(claim(&store, &node, 9).await, ids[2..4]);
}

#[tokio::test]
async fn q_06_jobs_that_wait_for_their_rate_are_set_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, clock) = (folder.path().join("jobs.db"), VirtualClock::new());
    let store = open(&path, &clock).await;
    each_minute(&store, 2).await;
    let ids = submit(&store, "k", 500).await;
    let node = Node::join(&store, &["mail"]).await;
    assert_eq!(claim(&store, &node, 9).await, ids[..2]);
    assert_eq!((count(&path, IN_LINE).await, count(&path, ASIDE).await), (0, 498));
    for start in [2, 4] {
        clock.advance(MINUTE);
        assert_eq!(claim(&store, &node, 9).await, ids[start..start + 2]);
        assert!(count(&path, IN_LINE).await <= 10, "no more than are skipped came back");
    }
    store.update_queue("default", QueueUpdate::Reset).await.expect("resets");
    let rest = claim(&store, &node, 90).await;
    assert_eq!(rest, ids[6..96]);
}

#[tokio::test]
async fn q_06_maintenance_looks_behind_jobs_that_came_back_and_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, clock) = (folder.path().join("jobs.db"), VirtualClock::new());
    let store = open(&path, &clock).await;
    each_minute(&store, 1).await;
    let ids = submit(&store, "k", 20).await;
    let node = Node::join(&store, &["mail"]).await;
    assert_eq!(claim(&store, &node, 9).await, ids[..1]);
    let urgent = job("mail");
    let id = urgent.id;
    store.insert(vec![urgent]).await.expect("inserts");
    let first = Placement::default().priority(Priority::Critical);
    store.command(Command::Move(id, first)).await.expect("moves");
    clock.advance(MINUTE);
    assert_eq!(claim(&store, &node, 1).await, [id]);
    assert_eq!(count(&path, IN_LINE).await, 2, "one that can start, and the next");
    let gone = "UPDATE ratchet_job SET ready = 2, lane = (SELECT lane FROM ratchet_aside)
        WHERE state = 0 AND ready = 1 RETURNING 1";
    assert_eq!(count(&path, gone).await, 1, "as if they had left without being claimed");
    assert!(claim(&store, &node, 9).await.is_empty());
    clock.advance(MINUTE);
    assert!(store.try_lead(node.id, MINUTE).await.expect("leads"));
    assert_eq!(claim(&store, &node, 9).await, ids[1..2]);
    assert_eq!(count(&path, "SELECT count(*) FROM ratchet_key_rate").await, 1);
    clock.advance(MINUTE);
    assert!(store.try_lead(node.id, MINUTE).await.expect("leads"));
    assert_eq!(count(&path, "SELECT count(*) FROM ratchet_key_rate").await, 0);
}
