//! A reader with an old snapshot prevents the removal of dead rows. Claims must not scan them again and again.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{Database, PgHarness};
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::Store;
use ratchet_store::model::{
    AttemptOutcome, ClaimRequest, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo, QueueDemand,
    Settlement, Suspects, Verdict,
};
use sqlx::{Connection as _, PgConnection};
use tokio::time::Instant;

/// The number of jobs claimed under the snapshot before the measurement, the number claimed during it, and the batch
/// size.
const DEAD: usize = 30_000;
const COUNTED: usize = 2000;
const BATCH: u32 = 10;

/// The minimum time between two scans of a queue from its start.
const RESCAN: Duration = Duration::from_millis(100);

/// Inserts, claims and settles jobs.
struct Mover {
    store: PgStore,
    ids: IdSource,
    node: NodeId,
}

impl Mover {
    async fn insert(&self, count: usize) {
        let job = |_| NewJob::new(self.ids.job(), JobSpec::new("test.snapshot", b"{}".to_vec()));
        self.store.insert((0..count).map(job).collect()).await.expect("inserts");
    }

    /// Claims and settles all due jobs. Returns the time it took.
    async fn work_off(&self, count: usize, limit: u32) -> Duration {
        let request = ClaimRequest {
            node: self.node,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
            known: Arc::new(KnownJobs([("test.snapshot".to_owned(), 1)].into())),
            suspects: Suspects::beside_others(5),
            starting: true,
        };
        let (mut done, began) = (0, Instant::now());
        while done < count {
            let jobs = self.store.claim(request.clone()).await.expect("claims").jobs;
            let verdict = || Verdict::Succeed { output: None };
            let end = |token| Settlement::new(token, verdict(), AttemptOutcome::Success);
            let ends: Vec<_> = jobs.iter().map(|job| end(job.token)).collect();
            done += ends.len();
            self.store.settle(ends).await.expect("settles");
        }
        began.elapsed()
    }

    async fn open(url: &str) -> Self {
        let store = PgStore::connect(url).await.expect("opens");
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        let node = ids.node();
        store.join(NodeInfo::new(node), Duration::from_hours(1)).await.expect("joins");
        Self { store, ids, node }
    }
}

/// Returns the number of index entries that claims have read so far, including dead ones. A connection reports its
/// count at its end at the latest.
async fn entries_read(db: &mut PgConnection) -> i64 {
    let others = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'ratchet'";
    while sqlx::query_scalar::<_, i64>(others).fetch_one(&mut *db).await.expect("counts") > 0 {
        tokio::task::yield_now().await;
    }
    let read = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'ready_order'";
    sqlx::query_scalar(read).fetch_one(db).await.expect("counts")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_02_an_old_snapshot_does_not_make_claims_walk_over_what_is_dead() {
    let pg = PgHarness::fresh().await;
    let url = pg.database.url();
    pg.store.close().await;
    let mut watcher = PgConnection::connect(&url).await.expect("connects");
    let mut reader = PgConnection::connect(&url).await.expect("connects");
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ratchet.node")
        .execute(&mut reader)
        .await
        .expect("a snapshot");
    // Create the dead rows of minutes of work.
    let mover = Mover::open(&url).await;
    for _ in 0..DEAD / 2000 {
        mover.insert(2000).await;
        mover.work_off(2000, 200).await;
    }
    mover.store.close().await;
    let before = entries_read(&mut watcher).await;

    let mover = Mover::open(&url).await;
    // From one insert, so that they differ only in their ids.
    mover.insert(COUNTED).await;
    let took = mover.work_off(COUNTED, BATCH).await;
    mover.store.close().await;
    let read = entries_read(&mut watcher).await - before;
    // All dead entries for each allowed scan from the start, and for each claim the entries that it claims.
    let looks = i64::try_from(took.as_millis() / RESCAN.as_millis()).expect("fits") + 3;
    let all = i64::try_from(DEAD + COUNTED).expect("fits");
    let claims = i64::try_from(COUNTED).expect("fits") / i64::from(BATCH);
    let most = looks * all + claims * 2 * i64::from(BATCH);
    assert!(read <= most, "{claims} claims in {took:?} read {read} entries, at most {most}");

    // Ended jobs are in no table that claims read.
    let active = "SELECT (SELECT count(*) FROM ratchet.ready) + (SELECT count(*) FROM ratchet.scheduled)
        + (SELECT count(*) FROM ratchet.blocked) + (SELECT count(*) FROM ratchet.lease WHERE remaining > 0)
        + (SELECT count(*) FROM ratchet.slot) + (SELECT count(*) FROM ratchet.business)";
    let rows: i64 = sqlx::query_scalar(active).fetch_one(&pg.database.pool).await.expect("counts");
    assert_eq!(rows, 0, "everything has ended");
}

// spec: O-03
#[tokio::test(flavor = "multi_thread")]
async fn o_03_the_leader_removes_the_dead_rows_that_counts_would_read() {
    // Before PostgreSQL 17, only the owner of a table may vacuum it.
    let database = Database::take().await;
    let store = PgStore::open(database.options()).await.expect("the store opens");
    let pg = PgHarness::of(store, database);
    let vacuums = async || -> i64 {
        let sql = "SELECT sum(vacuum_count)::bigint FROM pg_stat_all_tables
                   WHERE schemaname = 'ratchet' AND relname IN ('ready', 'scheduled', 'lease', 'tally')";
        sqlx::query_scalar(sql).fetch_one(&pg.database.pool).await.expect("an answer")
    };
    let before = vacuums().await;
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let (node, lease) = (ids.node(), Duration::from_mins(10));
    pg.store.join(NodeInfo::new(node), lease).await.expect("joins");
    // A table that the server vacuums at this moment is skipped, so it may take more than one turn. Older servers
    // report their statistics later.
    let reported = async {
        while vacuums().await < before + 4 {
            assert!(pg.store.try_lead(node, lease).await.expect("leads"));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), reported).await.expect("vacuums");
}
