//! A migration of a later version may add columns while a program of this version runs.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::JobState;
use ratchet_sqlite::SqliteStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    ClaimRequest, Filter, GroupId, JobId, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo,
    PageRequest, QueueDemand, Suspects,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _};
use uuid::Uuid;

const NODE: NodeId = NodeId::from_uuid(Uuid::from_u128(7));

/// Reads the jobs in every way in which whole rows are read, and returns what was read.
async fn look(store: &SqliteStore, job: JobId) -> Vec<String> {
    let group = GroupId::from_uuid(Uuid::from_u128(1));
    let mut seen = vec![format!("{:?}", store.get(job).await.expect("reads"))];
    seen.push(format!("{:?}", store.orphans(10).await.expect("reads")));
    seen.push(format!("{:?}", store.members(group, None, 10).await.expect("reads")));
    let context = store.claim_context(job).await.expect("reads").expect("it exists");
    seen.push(format!("{:?}", context.job));
    let any = Filter::any();
    for filter in [
        any.clone(),
        any.clone().state(JobState::Failed),
        any.clone().group(group),
        any.clone().expires_by(Timestamp::MAX),
        any.clone().id(job),
        any.clone().tenant("acme"),
    ] {
        for filter in [filter.clone(), filter.oldest_first()] {
            let page = store.list(&filter, PageRequest::default()).await.expect("reads");
            seen.push(format!("{filter}: {:?}", page.jobs));
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u_06_a_column_that_a_later_migration_adds_is_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    // One reader, so that the same connection executes each statement again.
    let store = SqliteStore::options(&path).readers(1).open().await.expect("opens");
    let job = || {
        let id = JobId::from_uuid(Uuid::now_v7());
        NewJob::new(id, JobSpec::new("mail", b"{}".to_vec()))
    };
    let jobs: Vec<_> = (0..3).map(|_| job()).collect();
    let first = jobs[0].id;
    store.insert(jobs).await.expect("inserts");
    store.join(NodeInfo::new(NODE), Duration::from_hours(1)).await.expect("joins");
    let request = ClaimRequest {
        node: NODE,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit: 1 }],
        known: Arc::new(KnownJobs([("mail".to_owned(), 1)].into())),
        suspects: Suspects::beside_others(100),
        starting: true,
    };
    assert_eq!(store.claim(request).await.expect("claims").jobs.len(), 1);
    store.leave(NODE).await.expect("leaves");
    let before = look(&store, first).await;
    assert!(before[1].contains(&first.to_string()), "{}", before[1]);

    let mut db = SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'ratchet%'";
    let tables: Vec<String> =
        sqlx::query_scalar(tables).fetch_all(&mut db).await.expect("the tables");
    assert!(tables.len() > 20, "{tables:?}");
    for table in tables {
        let add = format!("ALTER TABLE {table} ADD COLUMN of_a_later_version TEXT");
        sqlx::raw_sql(AssertSqlSafe(add)).execute(&mut db).await.expect("a column");
    }
    assert_eq!(look(&store, first).await, before);
    store.insert(vec![job()]).await.expect("inserts");
}
