//! A reader that holds an old snapshot keeps dead rows from being removed. Claiming must not walk over them again and again.

mod support;

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::Harness;
use ratchet_core::model::{
    Alone, AttemptOutcome, ClaimRequest, Due, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo,
    OnTaken, QueueRoom, Settlement, Verdict,
};
use ratchet_core::store::Store;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use sqlx::{Connection as _, PgConnection};
use support::PgHarness;
use tokio::time::Instant;

/// How many jobs a round claims and settles, and how many at a time.
const ROUND: usize = 1000;
const BATCH: u32 = 10;

/// Who keeps the queue moving.
struct Mover {
    store: PgStore,
    ids: IdSource,
    node: NodeId,
}

impl Mover {
    async fn insert(&self, count: usize) {
        let job = |_| NewJob {
            id: self.ids.job(),
            spec: JobSpec::new("test.snapshot", b"{}".to_vec()),
            due: Due::Now,
            on_taken: OnTaken::Refuse,
        };
        self.store.insert((0..count).map(job).collect()).await.expect("inserts");
    }

    /// Claims and settles everything that is due. Answers with how long the claims took.
    async fn work_off(&self, count: usize, room: u32) -> Duration {
        let request = ClaimRequest {
            node: self.node,
            queues: vec![QueueRoom { queue: "default".to_owned(), room }],
            known: Arc::new(KnownJobs([("test.snapshot".to_owned(), 1)].into())),
            alone: Alone::No { crashes: 2 },
            starting: true,
        };
        let (mut done, mut claiming) = (0, Duration::ZERO);
        while done < count {
            let began = Instant::now();
            let jobs = self.store.claim(request.clone()).await.expect("claims").jobs;
            claiming += began.elapsed();
            let verdict = || Verdict::Succeed { output: None };
            let end = |token| Settlement::new(token, verdict(), AttemptOutcome::Success);
            let ends: Vec<_> = jobs.iter().map(|job| end(job.token)).collect();
            done += ends.len();
            self.store.settle(ends).await.expect("settles");
        }
        claiming
    }

    /// The best of some rounds: a busy machine makes some of them slow, and none of them fast.
    async fn best_round(&self) -> Duration {
        let mut best = Duration::MAX;
        for _ in 0..5 {
            self.insert(ROUND).await;
            best = best.min(self.work_off(ROUND, BATCH).await);
        }
        best
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_02_an_old_snapshot_does_not_make_claiming_slower() {
    let pg = PgHarness::fresh().await;
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let node = ids.node();
    pg.store.join(NodeInfo::new(node), Duration::from_hours(1)).await.expect("joins");
    let mover = Mover { store: pg.store.clone(), ids, node };
    let before = mover.best_round().await;

    let mut reader = PgConnection::connect(&pg.database.url()).await.expect("connects");
    sqlx::raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ratchet.node")
        .execute(&mut reader)
        .await
        .expect("a snapshot");
    // What minutes of work leave behind.
    for _ in 0..15 {
        mover.insert(2000).await;
        mover.work_off(2000, 200).await;
    }
    let after = mover.best_round().await;
    assert!(
        after.as_secs_f64() <= 1.5 * before.as_secs_f64(),
        "claiming {ROUND} jobs took {before:?}, behind an old snapshot {after:?}"
    );

    // What has ended is in no table that claims look at.
    let active = "SELECT (SELECT count(*) FROM ratchet.ready) + (SELECT count(*) FROM ratchet.scheduled)
        + (SELECT count(*) FROM ratchet.blocked) + (SELECT count(*) FROM ratchet.lease WHERE remaining > 0)
        + (SELECT count(*) FROM ratchet.slot) + (SELECT count(*) FROM ratchet.business)";
    let rows: i64 = sqlx::query_scalar(active).fetch_one(&pg.database.pool).await.expect("counts");
    assert_eq!(rows, 0, "everything has ended");
}
