//! Helpers to submit, claim, settle and sweep the jobs of one queue.

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_store::Store;
use ratchet_store::model::{
    AttemptOutcome, ClaimRequest, Claimed, ConcurrencyKey, Due, JobId, JobSpec, JobState,
    KnownJobs, NewJob, NodeId, NodeInfo, OnConflict, QueueDemand, Settlement, Suspects, Verdict,
};

use super::PgHarness;

pub(crate) struct QueueDriver {
    pub(crate) pg: PgHarness,
    ids: IdSource,
}

impl QueueDriver {
    pub(crate) async fn fresh() -> Self {
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        Self { pg: PgHarness::fresh().await, ids }
    }

    pub(crate) async fn submit(&self, name: &str, key: Option<&str>, count: usize) -> Vec<JobId> {
        let key = key.map(|key| ConcurrencyKey { key: key.to_owned(), limit: 1 });
        self.submit_with(name, key.as_ref(), count).await
    }

    /// Submits jobs of a key of which several can run at once.
    pub(crate) async fn submit_keyed(
        &self,
        name: &str,
        key: &str,
        limit: u32,
        count: usize,
    ) -> Vec<JobId> {
        let key = ConcurrencyKey { key: key.to_owned(), limit };
        self.submit_with(name, Some(&key), count).await
    }

    async fn submit_with(
        &self,
        name: &str,
        key: Option<&ConcurrencyKey>,
        count: usize,
    ) -> Vec<JobId> {
        let job = |_| {
            let mut spec = JobSpec::new(name, b"{}".to_vec());
            spec.concurrency = key.cloned();
            NewJob::new(self.ids.job(), spec)
        };
        let jobs: Vec<_> = (0..count).map(job).collect();
        let ids = jobs.iter().map(|job| job.id).collect();
        for batch in jobs.chunks(1000) {
            self.pg.store.insert(batch.to_vec()).await.expect("inserted");
        }
        ids
    }

    pub(crate) async fn node(&self, names: &[&str]) -> NodeId {
        self.mortal(names, Duration::from_hours(1)).await
    }

    pub(crate) async fn mortal(&self, names: &[&str], lease: Duration) -> NodeId {
        let mut info = NodeInfo::new(self.ids.node());
        (info.known, info.queues) = (known(names), ["default".to_owned()].into());
        self.pg.store.join(info.clone(), lease).await.expect("joins");
        info.id
    }

    pub(crate) async fn claim(&self, node: NodeId, names: &[&str], limit: u32) -> Vec<Claimed> {
        self.pg.store.claim(Self::request(node, names, limit)).await.expect("claims").jobs
    }

    pub(crate) fn request(node: NodeId, names: &[&str], limit: u32) -> ClaimRequest {
        ClaimRequest {
            node,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
            known: known(names),
            suspects: Suspects::beside_others(5),
            starting: true,
        }
    }

    pub(crate) async fn succeed(&self, run: &Claimed) {
        let verdict = Verdict::Succeed { output: None };
        let settlement = Settlement::new(run.token, verdict, AttemptOutcome::Success);
        self.pg.store.settle(vec![settlement]).await.expect("settles");
    }

    pub(crate) async fn sweep(&self) {
        self.pg.store.orphans(100).await.expect("sweeps");
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pg.database.pool).await.expect("counts")
    }

    pub(crate) async fn ready(&self) -> i64 {
        self.count("SELECT count(*) FROM ratchet.ready").await
    }

    pub(crate) async fn pending(&self) -> u64 {
        self.pg.store.counts().await.expect("counts").state(JobState::Pending)
    }
}

fn known(names: &[&str]) -> Arc<KnownJobs> {
    Arc::new(KnownJobs(names.iter().map(|name| ((*name).to_owned(), 1)).collect()))
}
