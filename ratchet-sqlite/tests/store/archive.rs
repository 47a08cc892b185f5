//! The archive file.

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::VirtualClock;
use ratchet_sqlite::SqliteStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    ArchivedJobs, CancelCause, Command, Filter, JobId, JobSpec, JobState, NewJob, PageRequest,
};
use sqlx::{Connection as _, SqliteConnection};
use uuid::Uuid;

fn job(payload: Vec<u8>) -> NewJob {
    NewJob::new(JobId::from_uuid(Uuid::now_v7()), JobSpec::new("mail", payload))
}

const HOUR: Duration = Duration::from_hours(1);

/// A store with canceled jobs that are old enough to be archived.
struct Scene {
    folder: tempfile::TempDir,
    clock: VirtualClock,
    store: SqliteStore,
    jobs: Vec<JobId>,
}

impl Scene {
    async fn with(jobs: u8) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = VirtualClock::new();
        let options = SqliteStore::options(folder.path().join("jobs.db"));
        let store = options.clock(Arc::new(clock.clone())).open().await.expect("opens");
        let new: Vec<_> = (0..jobs).map(|number| job(vec![number])).collect();
        let jobs: Vec<_> = new.iter().map(|job| job.id).collect();
        store.insert(new).await.expect("inserts");
        for id in &jobs {
            let cancel = Command::Cancel(*id, CancelCause::Requested);
            store.command(cancel).await.expect("cancels");
        }
        clock.advance(HOUR);
        Self { folder, clock, store, jobs }
    }

    async fn archive(&self) -> u64 {
        self.store.archive(JobState::Canceled, HOUR, 100).await.expect("archives")
    }

    async fn list(&self, archived: ArchivedJobs) -> Vec<JobId> {
        let filter = Filter::any().archived(archived).oldest_first();
        let page = self.store.list(&filter, PageRequest::default()).await.expect("a page");
        page.jobs.iter().map(|job| job.id).collect()
    }

    async fn connect(&self, file: &str) -> SqliteConnection {
        let path = self.folder.path().join(file);
        SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.expect("connects")
    }
}

#[tokio::test]
async fn a_01_archived_jobs_are_in_a_file_beside() {
    let scene = Scene::with(3).await;
    let archive = scene.folder.path().join("jobs-archive.db");
    assert!(scene.list(ArchivedJobs::Only).await.is_empty());
    assert!(!archive.exists(), "reading creates no file");
    assert_eq!(scene.archive().await, 3);
    assert!(archive.exists());
    let mut live = scene.connect("jobs.db").await;
    let (left,): (i64,) = sqlx::query_as("SELECT count(*) FROM ratchet_job")
        .fetch_one(&mut live)
        .await
        .expect("counts");
    assert_eq!(left, 0);
    let status = scene.store.archive_status().await.expect("reads");
    assert_eq!(status.place.as_deref(), Some(archive.to_string_lossy().as_ref()));
    assert!(status.bytes.is_some_and(|bytes| bytes > 4096));
}

/// Rows of new jobs get the numbers of jobs that were deleted.
#[tokio::test]
async fn a_01_a_later_move_replaces_no_other_job() {
    let scene = Scene::with(2).await;
    assert_eq!(scene.archive().await, 2);
    let later = job(vec![9]);
    let id = later.id;
    scene.store.insert(vec![later]).await.expect("inserts");
    scene.store.command(Command::Cancel(id, CancelCause::Requested)).await.expect("cancels");
    scene.clock.advance(HOUR);
    assert_eq!(scene.archive().await, 1);
    assert_eq!(scene.list(ArchivedJobs::Only).await, [&scene.jobs[..], &[id]].concat());
}

/// A crash between the two commits leaves a job in both files.
#[tokio::test]
async fn a_01_a_job_in_both_files_is_read_once_and_moved_again() {
    let scene = Scene::with(3).await;
    let mut live = scene.connect("jobs.db").await;
    sqlx::raw_sql("CREATE TABLE kept AS SELECT * FROM ratchet_job")
        .execute(&mut live)
        .await
        .expect("copies");
    assert_eq!(scene.archive().await, 3);
    // What a crash leaves: the rows are still in the file of the jobs, and the mark is in the archive.
    sqlx::raw_sql("INSERT INTO ratchet_job SELECT * FROM kept")
        .execute(&mut live)
        .await
        .expect("restores");
    let mut archive = scene.connect("jobs-archive.db").await;
    sqlx::raw_sql("INSERT INTO ratchet_archiving SELECT id FROM ratchet_job")
        .execute(&mut archive)
        .await
        .expect("marks");
    assert_eq!(scene.list(ArchivedJobs::Exclude).await, scene.jobs);
    assert!(scene.list(ArchivedJobs::Only).await.is_empty());
    assert_eq!(scene.list(ArchivedJobs::Include).await, scene.jobs);
    let found = scene.store.get(scene.jobs[0]).await.expect("reads").expect("is there");
    assert_eq!(found.archived_at, None, "the live row is preferred");
    let purged = scene.store.purge_archive(JobState::Canceled, Duration::ZERO, 100).await;
    assert_eq!(purged.expect("purges"), 0, "a copy is kept until its move has ended");
    assert_eq!(scene.archive().await, 3);
    assert!(scene.list(ArchivedJobs::Exclude).await.is_empty());
    assert_eq!(scene.list(ArchivedJobs::Only).await, scene.jobs);
    assert_eq!(scene.store.archive_status().await.expect("reads").jobs(), 3, "counted once");
}

#[tokio::test]
async fn a_01_nothing_is_moved_to_a_file_that_was_deleted() {
    let scene = Scene::with(2).await;
    assert_eq!(scene.store.archive(JobState::Canceled, HOUR, 1).await.expect("archives"), 1);
    std::fs::rename(
        scene.folder.path().join("jobs-archive.db"),
        scene.folder.path().join("elsewhere.db"),
    )
    .expect("moves");
    let refused = scene.store.archive(JobState::Canceled, HOUR, 1).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(scene.list(ArchivedJobs::Exclude).await, scene.jobs[1..]);
}

#[tokio::test]
async fn a_01_another_process_reads_the_archive() {
    let scene = Scene::with(3).await;
    assert_eq!(scene.archive().await, 3);
    let other = SqliteStore::open(scene.folder.path().join("jobs.db")).await.expect("opens");
    let found = other.get(scene.jobs[2]).await.expect("reads").expect("is there");
    assert!(found.archived_at.is_some());
    assert_eq!(other.archive_status().await.expect("reads").jobs(), 3);
}

/// Returns the columns of every table of a file.
async fn columns(conn: &mut SqliteConnection) -> Vec<(String, String)> {
    let sql = "SELECT m.name, (
            SELECT group_concat(c.name || ' ' || c.type || ' ' || c.\"notnull\", ', ')
            FROM (SELECT * FROM pragma_table_info(m.name) ORDER BY cid) c
        )
        FROM sqlite_schema m WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name";
    sqlx::query_as(sql).fetch_all(conn).await.expect("reads")
}

/// Returns the columns that a statement of the form `INSERT … INTO main.table (a, b) SELECT a, b FROM …` writes, after its
/// comment, and its table.
fn written(statement: &str) -> (&str, Vec<&str>) {
    let target = statement.split_once(" INTO main.").expect("an insert").1;
    let (table, rest) = target.split_once(" (").expect("columns");
    let (columns, rest) = rest.split_once(')').expect("columns");
    let select = rest.trim_start().strip_prefix("SELECT ").expect("a select");
    let selected = select.split_once(" FROM").expect("a table").0;
    assert_eq!(columns, selected, "a column is copied to another one");
    (table, columns.split(", ").collect())
}

/// The tables of the archive are those of the same migrations, and a row moves with all of its columns.
#[tokio::test]
async fn a_01_the_archive_has_the_columns_of_the_tables_of_jobs_and_all_are_copied() {
    let scene = Scene::with(1).await;
    assert_eq!(scene.archive().await, 1);
    let mut live = scene.connect("jobs.db").await;
    let mut archive = scene.connect("jobs-archive.db").await;
    assert_eq!(columns(&mut live).await, columns(&mut archive).await);
    // The columns of a job are read from the schema.
    for statement in [
        include_str!("../../sql/archive/insert_templates.sql"),
        include_str!("../../sql/archive/insert_attempts.sql"),
        include_str!("../../sql/archive/insert_log_lines.sql"),
    ] {
        let (table, written) = written(statement);
        let all: Vec<String> = sqlx::query_scalar("SELECT name FROM pragma_table_info(?1)")
            .bind(table)
            .fetch_all(&mut live)
            .await
            .expect("reads");
        assert_eq!(written, all, "a move to the archive leaves columns of {table} behind");
    }
}

/// A later version opens the archive of an earlier one.
#[tokio::test]
async fn a_01_an_archive_of_an_earlier_version_is_migrated() {
    let scene = Scene::with(1).await;
    let mut earlier = scene.connect("jobs-archive.db?mode=rwc").await;
    sqlx::raw_sql(include_str!("../../../tests/older/sqlite-everything.sql"))
        .execute(&mut earlier)
        .await
        .expect("restores");
    sqlx::raw_sql("DELETE FROM ratchet_job").execute(&mut earlier).await.expect("empties");
    assert_eq!(scene.archive().await, 1);
    let mut live = scene.connect("jobs.db").await;
    assert_eq!(columns(&mut live).await, columns(&mut earlier).await);
    assert_eq!(scene.list(ArchivedJobs::Only).await, scene.jobs);
}

/// Version 24 of the schema added the business keys.
#[tokio::test]
async fn a_01_jobs_that_were_archived_without_their_keys_are_found_by_them() {
    let scene = Scene::with(1).await;
    let mut keyed = job(vec![7]);
    keyed.spec.business_key = Some("order-7".to_owned());
    let id = keyed.id;
    scene.store.insert(vec![keyed]).await.expect("inserts");
    scene.store.command(Command::Cancel(id, CancelCause::Requested)).await.expect("cancels");
    scene.clock.advance(HOUR);
    assert_eq!(scene.archive().await, 2);
    let mut archive = scene.connect("jobs-archive.db").await;
    sqlx::raw_sql(
        "DROP INDEX ratchet_archived_business_key;
         ALTER TABLE ratchet_archived DROP COLUMN business_key;
         DROP TABLE ratchet_key_rate;
         DROP INDEX ratchet_aside_back;
         DROP INDEX ratchet_aside_brought;
         ALTER TABLE ratchet_aside DROP COLUMN back;
         ALTER TABLE ratchet_aside DROP COLUMN brought;
         DROP INDEX ratchet_job_paused;
         DROP INDEX ratchet_job_canceled;
         DROP TABLE ratchet_erased_key;
         DROP INDEX ratchet_alert_job;
         DROP INDEX ratchet_delivery_alert;
         DROP INDEX ratchet_hand_off_job;
         DROP INDEX ratchet_hand_off_tenant;
         DROP INDEX ratchet_hand_off_correlation;
         DROP INDEX ratchet_admission_handed_by;
         ALTER TABLE ratchet_schema DROP COLUMN oldest;
         DELETE FROM ratchet_schema WHERE version >= 24",
    )
    .execute(&mut archive)
    .await
    .expect("is the earlier version");
    let store = SqliteStore::open(scene.folder.path().join("jobs.db")).await.expect("opens");
    let filter = Filter::any().archived(ArchivedJobs::Only).business_key("order-7");
    let page = store.list(&filter, PageRequest::default()).await.expect("a page");
    assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [id]);
}
