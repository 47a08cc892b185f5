//! Partitions: jobs are stored by their id, and old partitions are dropped as a whole.

use std::sync::Arc;
use std::time::Duration;

use crate::support::PgHarness;
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::Store;
use ratchet_store::model::{
    ArchivedJobs, AttemptOutcome, ClaimRequest, Claimed, Envelope, FailureKind, FailureRecord,
    Filter, GroupId, GroupKind, GroupRecord, JobId, JobSpec, JobState, KnownJobs, NewGraph, NewJob,
    NodeInfo, PageRequest, QueueDemand, Settlement, Step, Suspects, TerminalReason, Verdict,
};

const HOUR: Duration = Duration::from_hours(1);

struct Parts {
    pg: PgHarness,
    store: PgStore,
    ids: IdSource,
}

impl Parts {
    /// Opens a store in its own schema, with one partition per hour and an adjustable clock.
    async fn fresh() -> Self {
        let pg = PgHarness::fresh().await;
        pg.database.execute("DROP SCHEMA IF EXISTS parts, parts_archive CASCADE").await;
        let options = pg.database.options().schema("parts").partition(HOUR);
        let store = PgStore::open(options).await.expect("opens");
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        let parts = Self { pg, store, ids };
        parts.pass(0).await;
        parts
    }

    /// Sets the clock to this many hours from now.
    async fn pass(&self, hours: u32) {
        let sql = format!(
            "CREATE OR REPLACE FUNCTION parts.now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
             $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + {hours} * 3600000000 $$"
        );
        self.pg.database.execute(&sql).await;
    }

    async fn submit(&self, name: &str) -> JobId {
        let job = NewJob::new(self.ids.job(), JobSpec::new(name, b"{}".to_vec()));
        let id = job.id;
        self.store.insert(vec![job]).await.expect("inserted");
        id
    }

    async fn run(&self, name: &str) -> Claimed {
        let id = self.submit(name).await;
        let run = self.claim(name).await;
        assert_eq!(run.id(), id);
        run
    }

    async fn claim(&self, name: &str) -> Claimed {
        let node = self.ids.node();
        self.store.join(NodeInfo::new(node), 100 * HOUR).await.expect("joins");
        let request = ClaimRequest {
            node,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit: 1 }],
            known: Arc::new(KnownJobs([(name.to_owned(), 1)].into())),
            suspects: Suspects::beside_others(5),
            starting: true,
        };
        self.store.claim(request).await.expect("claims").jobs.remove(0)
    }

    /// Inserts a batch of two jobs.
    async fn batch(&self, name: &str) -> GroupId {
        let batch = GroupId::from_uuid(self.ids.job().uuid());
        let mut step = Step::default();
        step.group = Some(batch);
        let job = || {
            let mut spec = JobSpec::new(name, b"{}".to_vec());
            spec.step = Some(Box::new(step.clone()));
            NewJob::new(self.ids.job(), spec)
        };
        let groups = vec![GroupRecord::new(batch, GroupKind::Batch, name)];
        let mut graph = NewGraph { groups, jobs: vec![job(), job()], ..NewGraph::default() };
        ratchet_store::rules::graph::link(&mut graph);
        self.store.insert_graph(graph).await.expect("inserted");
        batch
    }

    async fn succeed(&self, run: &Claimed) {
        let verdict = Verdict::Succeed { output: None };
        let settlement = Settlement::new(run.token, verdict, AttemptOutcome::Success);
        self.store.settle(vec![settlement]).await.expect("settles");
    }

    async fn fail(&self, run: &Claimed) {
        let failure = FailureRecord {
            kind: FailureKind::Error,
            error_type: "Odd".to_owned(),
            message: "boom".to_owned(),
            code: "error".to_owned(),
            fingerprint: "boom".to_owned(),
            retryable: false,
        };
        let reason = TerminalReason::NonRetryable;
        let envelope = Envelope::new(run.id(), &run.spec.name, reason, failure, run.node);
        let verdict = Verdict::Fail { attempts: 1, crashes: 0, envelope: Box::new(envelope) };
        let settlement = Settlement::new(run.token, verdict, AttemptOutcome::Failure);
        self.store.settle(vec![settlement]).await.expect("settles");
    }

    async fn state(&self, id: JobId) -> Option<JobState> {
        self.store.get(id).await.expect("reads").map(|job| job.state)
    }

    async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pg.database.pool).await.expect("counts")
    }

    async fn purge(&self) -> u64 {
        self.store.purge(JobState::Succeeded, HOUR, 1000).await.expect("purges")
    }
}

#[tokio::test]
async fn a_01_jobs_are_kept_in_ranges_of_their_ids() {
    let parts = Parts::fresh().await;
    assert_eq!(parts.count("SELECT count(*) FROM parts.part").await, 3, "this hour and two more");
    let run = parts.run("mail").await;
    parts.succeed(&run).await;
    assert_eq!(parts.count("SELECT count(*) FROM parts.job_rest").await, 0);
    assert_eq!(parts.count("SELECT count(*) FROM parts.outcome_rest").await, 0);
    let mut skewed = NewJob::new(
        JobId::from_uuid(uuid::Uuid::from_u128(1)),
        JobSpec::new("mail", b"{}".to_vec()),
    );
    parts.store.insert(vec![skewed.clone()]).await.expect("inserted");
    // Also an id before the first partition. An id after the last one is refused.
    skewed.id = JobId::from_uuid(uuid::Uuid::from_u128(2));
    parts.store.insert(vec![skewed]).await.expect("inserted");
    assert_eq!(parts.count("SELECT count(*) FROM parts.job_rest").await, 2);
}

#[tokio::test]
async fn a_01_old_successes_go_with_their_range() {
    let parts = Parts::fresh().await;
    let mut done = Vec::new();
    for _ in 0..5 {
        let run = parts.run("mail").await;
        parts.succeed(&run).await;
        done.push(run.id());
    }
    let before = parts.count("SELECT count(*) FROM parts.part").await;
    assert_eq!(parts.purge().await, 0, "all of them are young");
    assert_eq!(parts.count("SELECT count(*) FROM parts.part").await, before);
    parts.pass(3).await;
    assert_eq!(parts.purge().await, 5);
    assert!(parts.count("SELECT count(*) FROM parts.part").await < before);
    for id in done {
        assert_eq!(parts.state(id).await, None);
    }
    assert_eq!(parts.store.counts().await.expect("counts").state(JobState::Succeeded), 0);
    assert_eq!(parts.purge().await, 0);
}

#[tokio::test]
async fn d_05_what_lives_and_what_failed_outlives_its_range() {
    let parts = Parts::fresh().await;
    let gone = parts.run("mail").await;
    parts.succeed(&gone).await;
    let failed = parts.run("mail").await;
    parts.fail(&failed).await;
    let running = parts.run("mail").await;
    let waiting = parts.submit("bill").await;
    parts.pass(5).await;
    let late = parts.run("mail").await;
    parts.succeed(&late).await;
    assert_eq!(parts.purge().await, 1);
    assert_eq!(
        parts
            .count(
                "SELECT count(*) FROM parts.part WHERE starts < 1000000 * extract(epoch FROM now())"
            )
            .await,
        0
    );
    assert_eq!(parts.state(gone.id()).await, None);
    assert_eq!(parts.state(failed.id()).await, Some(JobState::Failed));
    assert_eq!(parts.state(running.id()).await, Some(JobState::Running));
    assert_eq!(parts.state(waiting).await, Some(JobState::Pending));
    assert_eq!(parts.state(late.id()).await, Some(JobState::Succeeded), "it ended late");
    let counts = parts.store.counts().await.expect("counts");
    assert_eq!((counts.state(JobState::Failed), counts.state(JobState::Succeeded)), (1, 1));
    assert_eq!(parts.store.attempts(failed.id()).await.expect("reads").len(), 1);
    parts.succeed(&running).await;
    assert_eq!(parts.state(running.id()).await, Some(JobState::Succeeded), "its token still holds");
    parts.store.command(ratchet_store::model::Command::Retry(failed.id())).await.expect("retries");
    assert_eq!(parts.state(failed.id()).await, Some(JobState::Pending));
}

#[tokio::test]
async fn d_05_members_of_a_group_that_goes_on_outlive_their_range() {
    let parts = Parts::fresh().await;
    let batch = parts.batch("mail").await;
    let (first, second) = (parts.claim("mail").await, parts.claim("mail").await);
    parts.succeed(&first).await;
    parts.pass(4).await;
    parts.purge().await;
    assert_eq!(parts.state(first.id()).await, Some(JobState::Succeeded), "its group goes on");
    assert_eq!(parts.count("SELECT count(*) FROM parts.member").await, 2);
    parts.succeed(&second).await;
    let group = parts.store.group(batch).await.expect("reads").expect("is there");
    assert_eq!((group.counts.succeeded, group.counts.total), (2, 2));
    parts.pass(8).await;
    parts.purge().await;
    assert_eq!(parts.state(first.id()).await, None);
    for table in ["member", "job_group", "graph", "edge"] {
        let left: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(format!("SELECT count(*) FROM parts.{table}")))
                .fetch_one(&parts.pg.database.pool)
                .await
                .expect("counts");
        assert_eq!(left, 0, "{table}");
    }
}

impl Parts {
    async fn archive(&self, state: JobState) -> u64 {
        self.store.archive(state, HOUR, 1000).await.expect("archives")
    }

    async fn is_archived(&self, id: JobId) -> bool {
        let job = self.store.get(id).await.expect("reads").expect("exists");
        job.archived_at.is_some()
    }

    async fn list(&self, archived: ArchivedJobs) -> Vec<JobId> {
        let filter = Filter::any().archived(archived).oldest_first();
        let page = self.store.list(&filter, PageRequest::default()).await.expect("a page");
        page.jobs.iter().map(|job| job.id).collect()
    }
}

#[tokio::test]
async fn a_01_a_range_is_archived_without_a_copy() {
    let parts = Parts::fresh().await;
    let mut done = Vec::new();
    for _ in 0..5 {
        let run = parts.run("mail").await;
        parts.succeed(&run).await;
        done.push(run.id());
    }
    let failed = parts.run("mail").await;
    parts.fail(&failed).await;
    let running = parts.run("mail").await;
    let file =
        "SELECT c.relfilenode::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind = 'r' AND c.relname LIKE 'outcome\\_2%' AND n.nspname LIKE 'parts%'
         ORDER BY c.relname LIMIT 1";
    let before = parts.count(file).await;
    parts.pass(5).await;
    assert_eq!(parts.archive(JobState::Succeeded).await, 5);
    assert_eq!(parts.count(file).await, before, "the table is the same file");
    assert_eq!(parts.count("SELECT count(*) FROM ONLY parts_archive.moved").await, 0);
    for id in &done {
        assert!(parts.is_archived(*id).await);
    }
    assert_eq!(parts.list(ArchivedJobs::Only).await, done);
    assert_eq!(parts.list(ArchivedJobs::Exclude).await, [failed.id(), running.id()]);
    let status = parts.store.archive_status().await.expect("reads");
    assert_eq!(status.counts.on("default", JobState::Succeeded), 5);
    assert_eq!(status.place.as_deref(), Some("parts_archive"));
    let counts = parts.store.counts().await.expect("counts");
    assert_eq!((counts.state(JobState::Succeeded), counts.state(JobState::Failed)), (0, 1));
    parts.succeed(&running).await;
    assert_eq!(parts.state(running.id()).await, Some(JobState::Succeeded), "its token still holds");
    assert_eq!(parts.archive(JobState::Succeeded).await, 0);
}

#[tokio::test]
async fn a_01_jobs_that_were_archived_one_by_one_join_their_range() {
    let parts = Parts::fresh().await;
    let done = parts.run("mail").await;
    parts.succeed(&done).await;
    let failed = parts.run("mail").await;
    parts.fail(&failed).await;
    parts.pass(5).await;
    assert_eq!(parts.archive(JobState::Failed).await, 1);
    assert_eq!(parts.archive(JobState::Succeeded).await, 1);
    assert_eq!(parts.list(ArchivedJobs::Only).await, [done.id(), failed.id()]);
    let status = parts.store.archive_status().await.expect("reads");
    assert_eq!(status.jobs(), 2);
    assert_eq!(status.counts.on("default", JobState::Failed), 1);
    // The range is dropped as a whole, and what was moved one by one has its own retention.
    let purge = |state| parts.store.purge_archive(state, HOUR, 1000);
    assert_eq!(purge(JobState::Succeeded).await.expect("purges"), 0);
    parts.pass(7).await;
    assert_eq!(purge(JobState::Succeeded).await.expect("purges"), 1);
    assert_eq!(parts.list(ArchivedJobs::Only).await, [failed.id()]);
    assert_eq!(parts.store.archive_status().await.expect("reads").jobs(), 1);
    assert_eq!(purge(JobState::Failed).await.expect("purges"), 1);
    assert_eq!(parts.store.archive_status().await.expect("reads").jobs(), 0);
}

/// The attached table brings its indexes: no index is built under the locks.
#[tokio::test]
async fn a_01_a_range_brings_the_index_of_its_business_keys() {
    let parts = Parts::fresh().await;
    let mut job = NewJob::new(parts.ids.job(), JobSpec::new("mail", b"{}".to_vec()));
    job.spec.business_key = Some("order-7".to_owned());
    let id = job.id;
    parts.store.insert(vec![job]).await.expect("inserted");
    let run = parts.claim("mail").await;
    parts.succeed(&run).await;
    parts.pass(5).await;
    assert_eq!(parts.archive(JobState::Succeeded).await, 1);
    // An index that was built by the attachment would have another name.
    let attached = "SELECT count(*) FROM pg_inherits i
        JOIN pg_class child ON child.oid = i.inhrelid
        WHERE i.inhparent = 'parts_archive.job_business_key'::regclass AND child.relname LIKE 'job\\_2%\\_business\\_key'";
    let ranges = "SELECT count(*) FROM parts_archive.part WHERE at IS NOT NULL";
    assert_eq!(parts.count(attached).await, parts.count(ranges).await);
    let filter = Filter::any().archived(ArchivedJobs::Only).business_key("order-7");
    let page = parts.store.list(&filter, PageRequest::default()).await.expect("a page");
    assert_eq!(page.jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [id]);
}

/// What belongs to a graph is deleted with its jobs, whether its graph has ended or not. Jobs that stay keep it.
#[tokio::test]
async fn a_01_graphs_lose_the_members_that_are_archived_and_keep_the_others() {
    let parts = Parts::fresh().await;
    // All jobs of this batch succeed.
    let done = parts.batch("done").await;
    for _ in 0..2 {
        let run = parts.claim("done").await;
        parts.succeed(&run).await;
    }
    // One job of this batch fails and stays.
    let mixed = parts.batch("mixed").await;
    let (first, second) = (parts.claim("mixed").await, parts.claim("mixed").await);
    parts.succeed(&first).await;
    parts.fail(&second).await;
    // This batch goes on.
    let open = parts.batch("open").await;
    let run = parts.claim("open").await;
    parts.succeed(&run).await;
    parts.pass(5).await;
    assert_eq!(parts.archive(JobState::Succeeded).await, 3);
    assert!(parts.is_archived(first.id()).await);
    let members = async |group| {
        let members = parts.store.members(group, None, 10).await.expect("reads");
        members.len()
    };
    assert_eq!((members(done).await, members(mixed).await, members(open).await), (0, 1, 2));
    let graphs = parts.count("SELECT count(*) FROM parts.graph").await;
    let groups = parts.count("SELECT count(*) FROM parts.job_group").await;
    assert_eq!((graphs, groups), (groups, groups), "a graph stays as long as its group");
    // The failed job can be retried, and its group ends again.
    let retry = ratchet_store::model::Command::Retry(second.id());
    parts.store.command(retry).await.expect("retries");
    let run = parts.claim("mixed").await;
    parts.succeed(&run).await;
    let group = parts.store.group(mixed).await.expect("reads").expect("is there");
    assert!(group.state.is_ended(), "{group:?}");
}

/// The tables of the range are locked for a moment only: if a reader is in the way, the range is archived later.
#[tokio::test]
async fn a_01_a_range_in_use_is_archived_later() {
    let parts = Parts::fresh().await;
    let done = parts.run("mail").await;
    parts.succeed(&done).await;
    let failed = parts.run("mail").await;
    parts.pass(5).await;
    let mut reader = parts.pg.database.pool.begin().await.expect("begins");
    sqlx::query("SELECT count(*) FROM parts.job").execute(&mut *reader).await.expect("reads");
    assert_eq!(parts.archive(JobState::Succeeded).await, 1, "one by one");
    assert_eq!(
        parts.count("SELECT count(*) FROM parts_archive.part WHERE at IS NOT NULL").await,
        0
    );
    parts.succeed(&failed).await;
    reader.commit().await.expect("ends");
    parts.archive(JobState::Succeeded).await;
    assert!(parts.count("SELECT count(*) FROM parts_archive.part WHERE at IS NOT NULL").await > 0);
    assert!(parts.is_archived(done.id()).await);
}
