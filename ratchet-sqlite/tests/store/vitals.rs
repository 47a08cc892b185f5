//! The measurements by which the doctor judges a file.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.expect("connects")
}

// spec: O-11
#[tokio::test]
async fn o_11_a_file_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::open(&path).await.expect("opens");
    let healthy = store.vitals(true).await.expect("measures");
    assert_eq!((healthy.missing, healthy.unsafe_commits, healthy.damage), (vec![], None, vec![]));
    let file = healthy.file.expect("a file");
    assert!(file.total > 0 && file.log > 0, "{file:?}");
    let mut conn = connect(&path).await;
    let objects: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_schema WHERE name LIKE 'ratchet%' ORDER BY name",
    )
    .fetch_all(&mut conn)
    .await
    .expect("reads");
    let expected: Vec<_> = include_str!("../../migrations/objects.txt").lines().collect();
    assert_eq!(objects, expected, "write the objects of the newest schema to `objects.txt`");
    sqlx::query("DROP INDEX ratchet_job_running").execute(&mut conn).await.expect("drops");
    let large = "CREATE TABLE large AS SELECT randomblob(1000000) AS bytes";
    sqlx::query(large).execute(&mut conn).await.expect("writes");
    sqlx::query("DROP TABLE large").execute(&mut conn).await.expect("drops");
    let ill = store.vitals(false).await.expect("measures");
    assert_eq!(ill.missing, ["ratchet_job_running"]);
    assert!(ill.file.expect("a file").free > 900_000, "{:?}", ill.file);
}

// spec: O-11
#[tokio::test]
async fn o_11_commits_that_can_be_lost_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let options = SqliteStore::options(&path).synchronous(Synchronous::Normal);
    let store = options.open().await.expect("opens");
    let vitals = store.vitals(false).await.expect("measures");
    assert_eq!(vitals.unsafe_commits.as_deref(), Some("synchronous = NORMAL"));
}

// spec: O-11
#[tokio::test]
async fn o_11_a_damaged_page_is_found_by_a_thorough_look() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    drop(SqliteStore::open(&path).await.expect("opens"));
    let mut conn = connect(&path).await;
    let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await;
    checkpoint.expect("moves the log to the file");
    let page: i64 = sqlx::query_scalar(
        "SELECT (rootpage - 1) * page_size FROM sqlite_schema, pragma_page_size WHERE name = 'ratchet_job_failed'",
    )
    .fetch_one(&mut conn)
    .await
    .expect("reads");
    drop(conn);
    // The first byte is the kind of a page, and there is no such kind.
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).expect("opens");
    file.seek(SeekFrom::Start(page.unsigned_abs())).expect("seeks");
    file.write_all(&[0xff]).expect("writes");
    let store = SqliteStore::open(&path).await.expect("opens");
    assert_eq!(store.vitals(false).await.expect("measures").damage, [""; 0]);
    let found = store.vitals(true).await.expect("measures").damage;
    assert!(!found.is_empty());
}
