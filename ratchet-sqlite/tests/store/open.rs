//! Files that cannot be used, and the errors that the store reports for them.

use std::path::Path;
use std::time::Duration;

use ratchet_core::{JobState, StoreError, StoreErrorKind};
use ratchet_sqlite::SqliteStore;
use ratchet_store::Store;
use ratchet_store::model::{JobId, JobSpec, NewJob};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};
use uuid::Uuid;

fn job(payload: Vec<u8>) -> NewJob {
    let id = JobId::from_uuid(Uuid::now_v7());
    NewJob::new(id, JobSpec::new("mail", payload))
}

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.expect("connects")
}

async fn refused(path: &Path) -> StoreError {
    let options = SqliteStore::options(path).busy_timeout(Duration::from_millis(50));
    let error = options.open().await.expect_err("it is refused");
    assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
    error
}

#[tokio::test]
async fn u_04_opening_again_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::open(&path).await.expect("opens");
    store.insert(vec![job(vec![1])]).await.expect("inserts");
    let again = SqliteStore::open(&path).await.expect("opens again");
    assert_eq!(again.counts().await.expect("counts").state(JobState::Pending), 1);
}

/// Records a later version of the schema, and the oldest version whose programs can use it.
async fn record_later(path: &Path, oldest: Option<i64>) {
    let mut conn = connect(path).await;
    let later = sqlx::query("INSERT INTO ratchet_schema VALUES (29, 0, ?1)").bind(oldest);
    later.execute(&mut conn).await.expect("writes");
}

#[tokio::test]
async fn u_04_a_later_schema_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    for oldest in [None, Some(29)] {
        let path = folder.path().join(format!("{}.db", oldest.unwrap_or_default()));
        drop(SqliteStore::open(&path).await.expect("opens"));
        record_later(&path, oldest).await;
        let error = refused(&path).await;
        assert_eq!(error.kind(), StoreErrorKind::Schema);
        let message = error.to_string();
        assert!(message.contains("version 29") && message.contains("knows version 28"), "{error}");
        let read_only = SqliteStore::options(&path).without_migrations().open().await;
        assert_eq!(read_only.expect_err("it is refused").kind(), StoreErrorKind::Schema);
    }
}

#[tokio::test]
async fn u_04_a_later_schema_that_this_program_can_use_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    drop(SqliteStore::open(&path).await.expect("opens"));
    record_later(&path, Some(28)).await;
    let store = SqliteStore::open(&path).await.expect("it can use the schema");
    store.insert(vec![job(vec![1])]).await.expect("inserts");
    let other = SqliteStore::options(&path).without_migrations().open().await;
    assert_eq!(other.expect("opens").counts().await.expect("counts").state(JobState::Pending), 1);
    SqliteStore::options(&path).migrate().await.expect("changes nothing");
    let mut conn = connect(&path).await;
    let newest = sqlx::query_scalar("SELECT max(version) FROM ratchet_schema");
    let newest: i64 = newest.fetch_one(&mut conn).await.expect("reads");
    assert_eq!(newest, 29);
}

#[tokio::test]
async fn missing_folder_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = refused(&folder.path().join("nowhere").join("jobs.db")).await;
    assert_eq!(error.kind(), StoreErrorKind::Config);
    assert!(error.to_string().contains("folder does not exist"), "{error}");
}

#[tokio::test]
async fn folder_is_no_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = refused(folder.path()).await;
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("check that it is a file"), "{error}");
}

#[tokio::test]
async fn path_that_is_none_is_refused() {
    for path in ["", ":memory:", "file:x?mode=memory", "a\0b"] {
        let error = SqliteStore::open(path).await.expect_err("refused");
        assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
    }
}

#[tokio::test]
async fn other_file_is_no_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    std::fs::write(&path, "This is not a database. ".repeat(1000)).expect("writes");
    assert_eq!(refused(&path).await.kind(), StoreErrorKind::Corrupt);
}

#[tokio::test]
async fn damaged_file_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::open(&path).await.expect("opens");
    for _ in 0..20 {
        store.insert((0..100).map(|_| job(vec![7; 200])).collect()).await.expect("inserts");
    }
    let mut conn = connect(&path).await;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await.expect("moves the log");
    // Overwrite everything after the schema.
    let mut bytes = std::fs::read(&path).expect("reads");
    let end = bytes.len();
    bytes[120_000..end].fill(0x55);
    std::fs::write(&path, bytes).expect("writes");
    // A new process would detect it at once, but this one has cached pages.
    let fresh = SqliteStore::options(&path).open().await;
    let error = match fresh {
        Err(error) => error,
        Ok(fresh) => loop {
            match fresh.insert((0..100).map(|_| job(vec![7; 200])).collect()).await {
                Ok(_) => {}
                Err(ratchet_store::model::InsertError::Store(error)) => break error,
                Err(other) => panic!("{other}"),
            }
            let all = ratchet_core::PageRequest { before: None, limit: 5000 };
            if let Err(error) = fresh.list(&ratchet_core::Filter::any(), all).await {
                break error;
            }
        },
    };
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
}

#[tokio::test]
async fn locked_by_another_program_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::options(&path)
        .busy_timeout(Duration::from_millis(50))
        .open()
        .await
        .expect("opens");
    let mut other = connect(&path).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.expect("locks");
    let error = store.insert(vec![job(vec![1])]).await.expect_err("locked");
    let ratchet_store::model::InsertError::Store(error) = error else { panic!("{error}") };
    assert_eq!(error.kind(), StoreErrorKind::Locked);
    assert!(error.to_string().contains(".in_tx") && error.is_transient(), "{error}");
    assert_eq!(refused(&path).await.kind(), StoreErrorKind::Locked);
    // Readers do not wait for any writer.
    assert_eq!(store.counts().await.expect("reads").state(JobState::Pending), 0);
    sqlx::query("ROLLBACK").execute(&mut other).await.expect("unlocks");
    store.insert(vec![job(vec![1])]).await.expect("works again");
}

#[tokio::test]
async fn full_disk_is_told_and_survived() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::options(&path).max_pages(120).open().await.expect("opens");
    let mut stored = 0;
    let error = loop {
        match store.insert((0..10).map(|_| job(vec![7; 1000])).collect()).await {
            Ok(_) => stored += 10,
            Err(ratchet_store::model::InsertError::Store(error)) => break error,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(error.kind(), StoreErrorKind::Full, "{error}");
    assert!(error.is_transient() && stored > 0);
    assert_eq!(
        store.counts().await.expect("reads").state(JobState::Pending),
        stored,
        "all or none"
    );
    drop(store);
    // The limit is raised.
    let store = SqliteStore::options(&path).max_pages(10_000).open().await.expect("opens");
    store.insert((0..100).map(|_| job(vec![7; 1000])).collect()).await.expect("work goes on");
    assert_eq!(store.counts().await.expect("reads").state(JobState::Pending), stored + 100);
}

/// Root may write any file, so the file is opened by another user in another process.
#[tokio::test]
async fn file_that_cannot_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    if let Ok(path) = std::env::var("RATCHET_READ_ONLY_FILE") {
        assert_eq!(refused(Path::new(&path)).await.kind(), StoreErrorKind::ReadOnly);
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    drop(SqliteStore::open(&path).await.expect("opens"));
    // A clean close moves the log into the file. Wait for it, otherwise the permissions of the log matter as well.
    while path.with_extension("db-wal").exists() {
        tokio::task::yield_now().await;
    }
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
            .expect("rights change");
    };
    mode(&path, 0o444);
    mode(folder.path(), 0o555);
    let is_root = std::fs::metadata("/proc/self")
        .is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    // Copy the program to a directory from which another user can start it.
    let program = std::env::current_exe().expect("this test");
    let elsewhere = tempfile::tempdir().expect("a folder");
    mode(elsewhere.path(), 0o755);
    let copy = elsewhere.path().join("test");
    std::fs::copy(program, &copy).expect("copies");
    let mut child = std::process::Command::new(copy);
    child
        .args(["--exact", "file_that_cannot_be_written_is_told"])
        .env("RATCHET_READ_ONLY_FILE", &path);
    if is_root {
        child.uid(65534).gid(65534);
    }
    let output = child.output().expect("runs");
    mode(folder.path(), 0o755);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[tokio::test]
async fn any_bytes_can_be_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("jobs.db")).await.expect("opens");
    let mut strange = job((0..=255).collect());
    strange.spec.queue = "a\0b".to_owned();
    strange.spec.tags = vec!["\0".to_owned(), "'\";--".to_owned()];
    strange.spec.tenant = Some("t\0".to_owned());
    strange.spec.business_key = Some("\0\u{ffff}".to_owned());
    strange.spec.concurrency =
        Some(ratchet_store::model::ConcurrencyKey { key: "k\0k".to_owned(), limit: 1 });
    let other = job(vec![1]);
    store.insert(vec![strange.clone(), other.clone()]).await.expect("inserts");
    let read = store.get(strange.id).await.expect("reads").expect("is there");
    assert_eq!(*read.spec, strange.spec);
    assert_eq!(store.counts().await.expect("counts").on("a\0b", JobState::Pending), 1);
}

// spec: U-04
#[tokio::test]
async fn u_04_migrating_is_a_step_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let open = async || SqliteStore::options(&path).without_migrations().open().await;
    open().await.expect_err("there is no file");
    assert!(!path.exists(), "opening without migrations creates no file");
    drop(SqliteConnectOptions::new().filename(&path).create_if_missing(true).connect().await);
    let refusal = async || {
        let error = open().await.expect_err("the schema is old");
        assert_eq!(error.kind(), StoreErrorKind::Schema);
        assert!(error.to_string().contains("migrate with `SqliteOptions::migrate`"), "{error}");
        error.to_string()
    };
    assert!(refusal().await.contains("has no tables of Ratchet"));
    SqliteStore::options(&path).migrate().await.expect("migrates");
    SqliteStore::options(&path).migrate().await.expect("changes nothing");
    open().await.expect("opens").insert(vec![job(vec![1])]).await.expect("inserts");
    let mut db = connect(&path).await;
    sqlx::query("DELETE FROM ratchet_schema WHERE version > 2")
        .execute(&mut db)
        .await
        .expect("old");
    assert!(refusal().await.contains("has schema version 2, this program needs version"));
}

/// Returns the names and the definitions of everything in a file.
async fn objects(db: &mut SqliteConnection) -> Vec<(String, Option<String>)> {
    let objects = sqlx::query_as("SELECT name, sql FROM sqlite_schema ORDER BY name");
    objects.fetch_all(db).await.expect("reads")
}

#[tokio::test]
async fn u_04_the_script_of_a_migration_creates_what_a_migration_creates() {
    let folder = tempfile::tempdir().expect("a folder");
    let (by_script, by_store) = (folder.path().join("script.db"), folder.path().join("store.db"));
    let script = SqliteStore::options(&by_script).migration_script().await.expect("answers");
    assert!(!by_script.exists(), "a script creates no file");
    let new = SqliteConnectOptions::new().filename(&by_script).create_if_missing(true);
    let mut db = new.connect().await.expect("connects");
    let script = sqlx::AssertSqlSafe(script.expect("everything is missing"));
    sqlx::raw_sql(script).execute(&mut db).await.expect("the script is valid");
    SqliteStore::options(&by_store).migrate().await.expect("migrates");
    let mut other = connect(&by_store).await;
    assert_eq!(objects(&mut db).await, objects(&mut other).await);
    let versions = sqlx::query_as::<_, (i64, Option<i64>)>(
        "SELECT version, oldest FROM ratchet_schema ORDER BY version",
    );
    let versions = versions.fetch_all(&mut db).await.expect("reads");
    assert_eq!(versions.last(), Some(&(28, Some(28))));
    assert!(versions.iter().rev().skip(1).all(|(_, oldest)| oldest.is_none()));
    let options = || SqliteStore::options(&by_script);
    assert_eq!(options().migration_script().await.expect("answers"), None);
    options().without_migrations().open().await.expect("opens");
}

#[tokio::test]
async fn a_pool_in_memory_is_refused() {
    let pool = sqlx::SqlitePool::connect("sqlite::memory:").await.expect("connects");
    let error = SqliteStore::from_pool(&pool).await.expect_err("jobs need a file");
    assert_eq!(error.kind(), StoreErrorKind::Config);
}
