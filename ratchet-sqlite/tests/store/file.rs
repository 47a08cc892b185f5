//! Changes to the file under a running process: it is moved, replaced, deleted or damaged, its log grows, or its disk
//! is full.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::node::{LEASE, Node, job};
use ratchet_core::{JobState, StoreError, StoreErrorKind};
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store as _;
use ratchet_store::model::{Due, InsertError, JobId, NewJob};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _, SqliteConnection};
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    (folder, path)
}

async fn open(path: &Path) -> SqliteStore {
    SqliteStore::options(path).synchronous(Synchronous::Normal).open().await.expect("opens")
}

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.expect("connects")
}

async fn submit(store: &SqliteStore) -> Result<JobId, StoreError> {
    let new = job("mail");
    let id = new.id;
    match store.insert(vec![new]).await {
        Ok(_) => Ok(id),
        Err(InsertError::Store(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn large() -> NewJob {
    let mut new = job("mail");
    new.spec.payload = vec![7; 40_000];
    new.due = Due::In(Duration::from_hours(1));
    new
}

/// Checks that every kind of write is refused because the file was moved, starting with the first heartbeat.
async fn assert_refused(store: &SqliteStore, worker: &Node) {
    let path = store.path().display().to_string();
    let beat = store.heartbeat(worker.id, LEASE).await.expect_err("a heartbeat is refused");
    let claim = worker.claim(store, 1).await.expect_err("a claim is refused");
    let new = submit(store).await.expect_err("a submit is refused");
    for error in [beat, claim, new] {
        assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
        assert!(error.to_string().contains("the file was moved or deleted"), "{error}");
        assert!(error.to_string().contains(&path), "{error}");
        assert!(error.is_transient(), "outcomes are held until the file is back");
    }
}

// spec: A-04
#[tokio::test]
async fn a_04_moved_file_refuses_writes_until_it_is_back() {
    let (folder, path) = folder();
    let store = open(&path).await;
    let worker = Node::join(&store, &["mail"]).await;
    let first = submit(&store).await.expect("works");
    let elsewhere = folder.path().join("elsewhere.db");
    std::fs::rename(&path, &elsewhere).expect("moves");
    assert_refused(&store, &worker).await;
    // Another file with the same name is not the file that was opened.
    std::fs::copy(&elsewhere, &path).expect("copies");
    assert_refused(&store, &worker).await;
    let error = store.backup_to(folder.path().join("backup.db")).await.expect_err("refused");
    assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
    std::fs::rename(&elsewhere, &path).expect("moves back");
    let second = submit(&store).await.expect("works again");
    store.heartbeat(worker.id, LEASE).await.expect("works again");
    assert_eq!(worker.drain(&store).await, [first, second]);
}

// spec: A-04
#[tokio::test]
async fn a_04_deleted_file_refuses_writes() {
    for ending in ["", "-wal"] {
        let (_folder, path) = folder();
        let store = open(&path).await;
        let worker = Node::join(&store, &["mail"]).await;
        submit(&store).await.expect("works");
        let mut gone = path.clone().into_os_string();
        gone.push(ending);
        std::fs::remove_file(gone).expect("deletes");
        assert_refused(&store, &worker).await;
    }
}

// spec: A-04
#[tokio::test]
async fn a_04_deleted_file_is_noticed_without_a_heartbeat() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    submit(&store).await.expect("works");
    std::fs::remove_file(&path).expect("deletes");
    let until = tokio::time::Instant::now() + Duration::from_mins(1);
    let error = loop {
        match submit(&store).await {
            Ok(_) => assert!(tokio::time::Instant::now() < until, "it goes unnoticed"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), StoreErrorKind::Config, "{error}");
}

/// Overwrites the root page of an index, so that only writes to that index can detect the damage.
async fn damage(path: &Path, index: &str) {
    let mut conn = connect(path).await;
    let query = sqlx::query("SELECT rootpage FROM sqlite_master WHERE name = ?1").bind(index);
    let page: i64 = query.fetch_one(&mut conn).await.expect("reads").get(0);
    let size: i64 =
        sqlx::query("PRAGMA page_size").fetch_one(&mut conn).await.expect("reads").get(0);
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut conn).await.expect("moves the log");
    drop(conn);
    let (page, size) =
        (usize::try_from(page).expect("a page"), usize::try_from(size).expect("a size"));
    let mut bytes = std::fs::read(path).expect("reads");
    bytes[(page - 1) * size..page * size].fill(0x55);
    std::fs::write(path, bytes).expect("writes");
}

// spec: A-04, H-06
#[tokio::test]
async fn a_04_damaged_file_stops_claims_and_submits() {
    let (_folder, path) = folder();
    {
        let store = open(&path).await;
        store.insert((0..20).map(|_| job("mail")).collect()).await.expect("inserts");
    }
    damage(&path, "ratchet_job_finished").await;
    let store = open(&path).await;
    let worker = Node::join(&store, &["mail"]).await;
    let claimed = worker.claim(&store, 5).await.expect("claims do not touch the damaged page").jobs;
    assert_eq!(claimed.len(), 5);
    let outcomes = claimed.iter().map(crate::node::succeeded).collect();
    let error = store.settle(outcomes).await.expect_err("the outcome cannot be stored");
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    // From now on, no new work starts, because its outcome could not be stored.
    let claim = worker.claim(&store, 5).await.expect_err("claims are refused");
    let new = submit(&store).await.expect_err("submits are refused");
    for error in [claim, new] {
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains("restore a backup"), "{error}");
    }
    let counts = store.counts().await.expect("reads go on");
    assert_eq!(counts.state(JobState::Running), 5);
    // Operations that do not need the damaged page still work, but claim nothing.
    let (settled, reply) = store
        .settle_and_claim(Vec::new(), worker.request(5))
        .await
        .expect("nothing to settle, nothing to refuse");
    assert!(settled.is_empty() && reply.jobs.is_empty());
}

// spec: C-07
#[tokio::test]
async fn c_07_value_that_does_not_read_back_is_no_damage() {
    let (_folder, path) = folder();
    let store = open(&path).await;
    let id = submit(&store).await.expect("works");
    let mut conn = connect(&path).await;
    sqlx::query("UPDATE ratchet_job SET own = '{'").execute(&mut conn).await.expect("writes");
    let error = store.get(id).await.expect_err("it cannot be read");
    assert_eq!(error.kind(), StoreErrorKind::Data, "{error}");
    assert!(!error.to_string().contains("restore"), "{error}");
    submit(&store).await.expect("others are not concerned");
}

// spec: A-04
#[tokio::test]
async fn a_04_log_that_was_long_is_shortened() {
    let (_folder, path) = folder();
    let log = path.with_extension("db-wal");
    let size = || std::fs::metadata(&log).expect("a log").len();
    let store = SqliteStore::options(&path)
        .synchronous(Synchronous::Normal)
        .log_kept(1 << 20)
        .open()
        .await
        .expect("opens");
    store.insert(vec![large()]).await.expect("inserts");
    let mut reader = connect(&path).await;
    sqlx::query("BEGIN").execute(&mut reader).await.expect("begins");
    sqlx::query("SELECT * FROM ratchet_job").fetch_all(&mut reader).await.expect("a snapshot");
    while size() < 20 << 20 {
        store.insert((0..50).map(|_| large()).collect()).await.expect("inserts");
    }
    sqlx::query("COMMIT").execute(&mut reader).await.expect("ends");
    // The first commit copies the log into the file, the next one restarts the log.
    for _ in 0..3 {
        submit(&store).await.expect("inserts");
    }
    assert!(size() <= 1 << 20, "{}", size());
}

/// Collects log events of level warn and above.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("writes");
    }
}

impl tracing::Subscriber for Logged {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().expect("not poisoned").push(line.0);
    }
}

// spec: A-04
#[tokio::test]
async fn a_04_long_log_is_reported_once() {
    let logged = Logged::default();
    // The writer has its own thread, so the subscriber is global. No other test in this program sets one.
    tracing::subscriber::set_global_default(logged.clone()).expect("the first");
    let (_folder, path) = folder();
    let log = path.with_extension("db-wal");
    let store = SqliteStore::options(&path)
        .synchronous(Synchronous::Normal)
        .long_log(1 << 20)
        .open()
        .await
        .expect("opens");
    let worker = Node::join(&store, &["mail"]).await;
    let reports = || {
        let lines = logged.0.lock().expect("not poisoned");
        lines.iter().filter(|line| line.contains("a reader holds an old snapshot")).count()
    };
    store.heartbeat(worker.id, LEASE).await.expect("beats");
    assert_eq!(reports(), 0);
    while std::fs::metadata(&log).expect("a log").len() <= 1 << 20 {
        store.insert(vec![large()]).await.expect("inserts");
    }
    for _ in 0..3 {
        store.heartbeat(worker.id, LEASE).await.expect("beats");
    }
    assert_eq!(reports(), 1);
}

/// A mounted file system, unmounted when dropped.
struct SmallDisk(TempDir);

impl SmallDisk {
    /// Mounts a file system of this size. Returns `None` if this user may not mount.
    fn mount(megabytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={megabytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

// spec: A-04
#[tokio::test]
async fn a_04_disk_that_the_log_has_filled_recovers() {
    let Some(disk) = SmallDisk::mount(3) else {
        eprintln!("no file system can be mounted here: the test of a full disk is left out");
        return;
    };
    let path = disk.0.path().join("jobs.db");
    let store = open(&path).await;
    let worker = Node::join(&store, &["mail"]).await;
    let kept = submit(&store).await.expect("works");
    // The same few pages are written repeatedly, so the file stays small while the log grows.
    for round in 0..3_000 {
        let beat = store.heartbeat(worker.id, LEASE).await;
        let beat = beat.map_err(|error| format!("round {round}: {error}"));
        beat.expect("the log is emptied whenever it has filled the disk");
    }
    let file = std::fs::metadata(&path).expect("a file").len();
    assert!(file < 1 << 20, "the jobs take {file} bytes");
    assert_eq!(worker.drain(&store).await, [kept]);
    let check = AssertSqlSafe("PRAGMA integrity_check".to_owned());
    let row = sqlx::query(check).fetch_one(&mut connect(&path).await).await.expect("checks");
    assert_eq!(row.get::<String, _>(0), "ok");
}
