//! What an erasure leaves in the bytes of the files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::planted_secrets;
use ratchet_sqlite::SqliteStore;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

/// Returns the bytes of all files of a folder, each with its name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).expect("reads");
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.expect("an entry").path();
        (path.display().to_string(), std::fs::read(path).expect("reads"))
    };
    files.map(read).collect()
}

fn holders<'a>(files: &'a [(String, Vec<u8>)], text: &str) -> Vec<&'a str> {
    let contains = |bytes: &[u8]| bytes.windows(text.len()).any(|it| it == text.as_bytes());
    files.iter().filter(|(_, bytes)| contains(bytes)).map(|(name, _)| name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_12_no_erased_text_is_in_the_bytes_of_the_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::open(&path).await.expect("opens");
    let ratchet = planted_secrets::runtime(Arc::new(store.clone()), None).await;
    let secrets = planted_secrets::play_for(&ratchet, Some("acme")).await;
    let before = files(folder.path());
    let unstored: Vec<_> =
        secrets.iter().filter(|secret| holders(&before, secret).is_empty()).collect();
    assert!(unstored.is_empty(), "the search finds what is stored: {unstored:?}");
    let done = planted_secrets::erase(&ratchet, "acme").await;
    let erased = done.erasure.expect("an erasure").erased;
    assert!(erased.jobs > 0 && erased.archived > 0 && erased.keys >= 30, "{erased:?}");
    let after = files(folder.path());
    assert!(after.iter().any(|(name, _)| name.ends_with("jobs-archive.db")), "{after:?}");
    for secret in secrets.iter().map(String::as_str).chain(["key-1", "logs in with", "got "]) {
        let found = holders(&after, secret);
        assert!(found.is_empty(), "{secret} is in {found:?}");
    }
    store.doctor_is_content(&path).await;
}

trait Content {
    async fn doctor_is_content(&self, path: &Path);
}

impl Content for SqliteStore {
    /// Checks that the file is intact, and that every table that can belong to a job is empty.
    async fn doctor_is_content(&self, path: &Path) {
        let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(path)).await;
        let pool = pool.expect("connects");
        let check: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&pool).await.expect("checks");
        assert_eq!(check, "ok");
        for table in
            ["job", "attempt", "log", "reject", "hand_off", "ledger", "delivery", "group", "edge"]
        {
            let sql = format!("SELECT count(*) FROM ratchet_{table}");
            let rows: i64 =
                sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&pool).await.expect(table);
            assert_eq!(rows, 0, "{table}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn z_12_an_erasure_waits_until_the_log_can_be_emptied() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::options(&path).busy_timeout(Duration::from_millis(50));
    let store = store.open().await.expect("opens");
    let ratchet = planted_secrets::runtime(Arc::new(store.clone()), None).await;
    let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(&path)).await;
    let mut reader = pool.expect("connects").begin().await.expect("begins");
    let _: i64 = sqlx::query_scalar("SELECT count(*) FROM ratchet_job")
        .fetch_one(&mut *reader)
        .await
        .expect("reads");
    let subject = ratchet_core::ErasureSubject::Tenant("acme".to_owned());
    let preview = ratchet.erasures().preview(&subject).await.expect("counts");
    let started = ratchet.erasures().start(preview).await.expect("starts");
    let worker = ratchet.start().await.expect("starts");
    let read = async || ratchet.operations().get(started.id).await.expect("reads").expect("exists");
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    while read().await.erasure.expect("an erasure").phase != ratchet_core::ErasurePhase::Scrub {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!read().await.state.is_ended(), "the log is being read");
    reader.rollback().await.expect("ends");
    while !read().await.state.is_ended() {
        assert!(tokio::time::Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    worker.stop().await;
}
