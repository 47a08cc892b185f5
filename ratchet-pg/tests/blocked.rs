//! Jobs that cannot run now are kept out of the way of claims, and come back when their cause has ended.

mod support;

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::Harness;
use ratchet_core::model::{
    Alone, AttemptOutcome, ClaimRequest, Claimed, Command, ConcurrencyKey, Due, JobId, JobSpec,
    JobState, KnownJobs, NewJob, NodeId, NodeInfo, OnTaken, QueueRoom, Settlement, Verdict,
};
use ratchet_core::store::Store;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use support::PgHarness;

struct Lane {
    pg: PgHarness,
    ids: IdSource,
}

impl Lane {
    async fn fresh() -> Self {
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        Self { pg: PgHarness::fresh().await, ids }
    }

    async fn submit(&self, name: &str, key: Option<&str>, count: usize) -> Vec<JobId> {
        let job = |_| {
            let mut spec = JobSpec::new(name, b"{}".to_vec());
            spec.concurrency = key.map(|key| ConcurrencyKey { key: key.to_owned(), limit: 1 });
            NewJob { id: self.ids.job(), spec, due: Due::Now, on_taken: OnTaken::Refuse }
        };
        let jobs: Vec<_> = (0..count).map(job).collect();
        let ids = jobs.iter().map(|job| job.id).collect();
        for batch in jobs.chunks(1000) {
            self.pg.store.insert(batch.to_vec()).await.expect("inserted");
        }
        ids
    }

    async fn node(&self, names: &[&str]) -> NodeId {
        let mut info = NodeInfo::new(self.ids.node());
        (info.known, info.queues) = (known(names), ["default".to_owned()].into());
        self.pg.store.join(info.clone(), Duration::from_hours(1)).await.expect("joins");
        info.id
    }

    async fn claim(&self, node: NodeId, names: &[&str], room: u32) -> Vec<Claimed> {
        let request = ClaimRequest {
            node,
            queues: vec![QueueRoom { queue: "default".to_owned(), room }],
            known: known(names),
            alone: Alone::No { crashes: 2 },
            starting: true,
        };
        self.pg.store.claim(request).await.expect("claims").jobs
    }

    async fn succeed(&self, run: &Claimed) {
        let verdict = Verdict::Succeed { output: None };
        let settlement = Settlement::new(run.token, verdict, AttemptOutcome::Success);
        self.pg.store.settle(vec![settlement]).await.expect("settles");
    }

    async fn sweep(&self) {
        self.pg.store.orphans(100).await.expect("sweeps");
    }

    async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pg.database.pool).await.expect("counts")
    }

    async fn ready(&self) -> i64 {
        self.count("SELECT count(*) FROM ratchet.ready").await
    }

    async fn pending(&self) -> u64 {
        self.pg.store.counts().await.expect("counts").state(JobState::Pending)
    }
}

fn known(names: &[&str]) -> Arc<KnownJobs> {
    Arc::new(KnownJobs(names.iter().map(|name| ((*name).to_owned(), 1)).collect()))
}

fn ids(runs: &[Claimed]) -> Vec<JobId> {
    runs.iter().map(Claimed::id).collect()
}

#[tokio::test]
async fn c_03_names_that_nobody_knows_leave_the_head_of_the_queue() {
    let lane = Lane::fresh().await;
    let strange = lane.submit("strange", None, 6000).await;
    let mail = lane.submit("mail", None, 3).await;
    let node = lane.node(&["mail"]).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 3);
    assert_eq!(lane.pending().await, 6003, "they wait all the same");
    assert_eq!(ids(&lane.claim(node, &["mail"], 2).await), mail[..2]);
    let unknown = lane.pg.store.unknown_jobs().await.expect("reads");
    assert_eq!(unknown, [("strange".to_owned(), 6000)]);
    let state = lane.pg.store.get(strange[0]).await.expect("reads").map(|job| job.state);
    assert_eq!(state, Some(JobState::Pending));
    // The arrival of a node that knows them, which takes them in their order, before what came after.
    let other = lane.node(&["mail", "strange"]).await;
    assert_eq!(ids(&lane.claim(other, &["mail", "strange"], 4).await), strange[..4]);
    lane.sweep().await;
    assert_eq!(lane.count("SELECT count(*) FROM ratchet.blocked").await, 0);
}

#[tokio::test]
async fn q_03_jobs_of_a_full_key_leave_the_head_of_the_queue() {
    let lane = Lane::fresh().await;
    let node = lane.node(&["mail"]).await;
    let first = lane.submit("mail", Some("k"), 1).await;
    let run = lane.claim(node, &["mail"], 1).await.remove(0);
    assert_eq!(run.id(), first[0]);
    let waiting = lane.submit("mail", Some("k"), 6000).await;
    let free = lane.submit("mail", None, 2).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 2);
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), free);
    // Whoever lets go of the slot puts the next one in line.
    lane.succeed(&run).await;
    let next = lane.claim(node, &["mail"], 10).await;
    assert_eq!(ids(&next), waiting[..1]);
    // One that is set aside can be called off like any other.
    lane.pg
        .store
        .command(Command::Cancel(waiting[1], ratchet_core::model::CancelCause::Requested))
        .await
        .expect("cancels");
    lane.succeed(&next[0]).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), waiting[2..3]);
    assert_eq!(lane.pending().await, 5997);
}

#[tokio::test]
async fn q_03_sweep_is_the_floor_when_nobody_has_put_the_next_in_line() {
    let lane = Lane::fresh().await;
    let node = lane.node(&["mail"]).await;
    lane.submit("mail", Some("k"), 1).await;
    let run = lane.claim(node, &["mail"], 1).await.remove(0);
    let waiting = lane.submit("mail", Some("k"), 200).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 0);
    lane.pg.database.execute("DELETE FROM ratchet.slot").await;
    assert!(lane.claim(node, &["mail"], 10).await.is_empty());
    lane.sweep().await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), waiting[..1]);
    lane.succeed(&run).await;
}

#[tokio::test]
async fn q_03_few_that_wait_are_left_where_they_are() {
    let lane = Lane::fresh().await;
    let node = lane.node(&["mail"]).await;
    lane.submit("mail", Some("k"), 50).await;
    lane.claim(node, &["mail"], 1).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 49);
}
