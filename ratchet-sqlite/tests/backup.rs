//! Backups that are taken while jobs are submitted and run.

mod node;

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use node::{Node, job};
use ratchet_core::{JobState, StoreErrorKind};
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use ratchet_store::model::{Filter, JobId, PageRequest};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _};

async fn open(path: &Path) -> SqliteStore {
    // These tests do not simulate a power loss.
    SqliteStore::options(path).synchronous(Synchronous::Normal).open().await.expect("opens")
}

async fn integrity(path: &Path) -> String {
    let mut conn = SqliteConnectOptions::new().filename(path).connect().await.expect("connects");
    let row = sqlx::query("PRAGMA integrity_check").fetch_one(&mut conn).await.expect("checks");
    row.get(0)
}

async fn ids(store: &SqliteStore) -> HashSet<JobId> {
    let page = PageRequest { before: None, limit: u32::MAX };
    let page = store.list(&Filter::any(), page).await.expect("lists");
    page.jobs.iter().map(|job| job.id).collect()
}

/// Checks a backup: it contains all acknowledged jobs, is intact, and its jobs can run.
async fn check(copy: &Path, acknowledged: &[JobId]) {
    assert_eq!(integrity(copy).await, "ok");
    let restored = open(copy).await;
    let there = ids(&restored).await;
    for id in acknowledged {
        assert!(there.contains(id), "{id} was acknowledged and is not in the backup");
    }
    let counts = restored.counts().await.expect("counts");
    let worker = Node::join(&restored, &["mail"]).await;
    let ran = worker.drain(&restored).await.len() as u64;
    assert_eq!(ran, counts.state(JobState::Pending));
}

// spec: A-04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_04_backups_under_load_hold_every_acknowledged_job() {
    const FILES: usize = 10;
    const BACKUPS: usize = 10;
    let folder = tempfile::tempdir().expect("a folder");
    for file in 0..FILES {
        let store = open(&folder.path().join(format!("{file}.db"))).await;
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let load = tokio::spawn({
            let (store, stop) = (store.clone(), Arc::clone(&stop));
            async move {
                let worker = Node::join(&store, &["mail"]).await;
                while !stop.load(Ordering::Relaxed) {
                    let new = job("mail");
                    store.insert(vec![new.clone()]).await.expect("inserts");
                    sender.send(new.id).expect("the test listens");
                    // Some of the jobs run in the meantime.
                    let claimed = worker.claim(&store, 1).await.expect("claims").jobs;
                    let outcomes = claimed.iter().take(fastrand::usize(..2));
                    store.settle(outcomes.map(node::succeeded).collect()).await.expect("settles");
                }
            }
        });
        let mut acknowledged = vec![receiver.recv().await.expect("a job")];
        for backup in 0..BACKUPS {
            acknowledged.extend(receiver.recv().await);
            while let Ok(id) = receiver.try_recv() {
                acknowledged.push(id);
            }
            let copy = folder.path().join(format!("{file}-{backup}.db"));
            store.backup_to(&copy).await.expect("a backup is taken");
            check(&copy, &acknowledged).await;
        }
        stop.store(true, Ordering::Relaxed);
        load.await.expect("the load ends");
    }
    let left = std::fs::read_dir(folder.path()).expect("reads").filter(|file| {
        file.as_ref().is_ok_and(|file| file.file_name().to_string_lossy().contains("partial"))
    });
    assert_eq!(left.count(), 0, "nothing is left behind");
}

// spec: A-04
#[tokio::test]
async fn a_04_backup_refuses_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(&folder.path().join("jobs.db")).await;
    let target = folder.path().join("backup.db");
    // SQLite itself would write into an empty file.
    for content in ["", "something of somebody's"] {
        std::fs::write(&target, content).expect("writes");
        let error = store.backup_to(&target).await.expect_err("refused");
        assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
        assert!(error.to_string().contains("already"), "{error}");
        assert_eq!(std::fs::read_to_string(&target).expect("reads"), content);
    }
    let error = store.backup_to(store.path()).await.expect_err("refused");
    assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
    let nowhere = folder.path().join("nowhere").join("backup.db");
    let error = store.backup_to(&nowhere).await.expect_err("refused");
    assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
    assert!(error.to_string().contains("folder does not exist"), "{error}");
}
