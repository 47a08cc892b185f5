//! Two stores on one database, with helpers for the operations that the tests use.

use std::sync::Arc;
use std::time::Duration;

use ratchet_conformance::Harness as _;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::{PgOptions, PgStore};
use ratchet_store::Store as _;
use ratchet_store::model::{
    ClaimReply, ClaimRequest, Claimed, Command, CommandError, CommandReply, ConcurrencyKey,
    InsertError, Inserted, JobId, JobSpec, JobState, KnownJobs, NewJob, NodeId, NodeInfo,
    QueueDemand, Settled, Settlement, Suspects, Token,
};
use sqlx::PgPool;

use crate::support::PgHarness;
pub(crate) use crate::support::{fail, lingering, release, retry, succeed};

pub(crate) struct World {
    pub(crate) pg: PgHarness,
    /// The store whose operations are held.
    pub(crate) a: PgStore,
    /// The store whose operations run in the meantime.
    pub(crate) b: PgStore,
    pub(crate) node: NodeId,
    ids: IdSource,
}

impl World {
    pub(crate) async fn fresh() -> Self {
        Self::with(|options| options).await
    }

    pub(crate) async fn with(set: impl Fn(PgOptions) -> PgOptions) -> Self {
        let pg = PgHarness::fresh().await;
        let a = PgStore::open(set(pg.database.options())).await.expect("opens");
        let b = PgStore::open(set(pg.database.options())).await.expect("opens");
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        let mut info = NodeInfo::new(ids.node());
        (info.known, info.queues) = (known(), ["default".to_owned()].into());
        let node = info.id;
        b.join(info, Duration::from_hours(10_000)).await.expect("joins");
        Self { pg, a, b, node, ids }
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pg.database.pool
    }

    pub(crate) fn job(&self) -> NewJob {
        let spec = JobSpec::new("mail", b"{}".to_vec());
        NewJob::new(self.ids.job(), spec)
    }

    /// Returns a job with a business key.
    pub(crate) fn keyed(&self, key: &str) -> NewJob {
        let mut job = self.job();
        job.spec.business_key = Some(key.to_owned());
        job
    }

    /// Returns a job with a concurrency key of limit 1.
    pub(crate) fn limited(&self, key: &str) -> NewJob {
        let mut job = self.job();
        job.spec.concurrency = Some(ConcurrencyKey { key: key.to_owned(), limit: 1 });
        job
    }

    pub(crate) async fn submit(&self, job: NewJob) -> JobId {
        let id = job.id;
        let inserted = self.b.insert(vec![job]).await;
        assert_eq!(inserted.expect("inserted"), [Inserted::Created(id)]);
        id
    }

    /// Returns whether a job holds this business key, so that another one is refused.
    pub(crate) async fn is_taken(&self, key: &str) -> bool {
        match self.b.insert(vec![self.keyed(key)]).await {
            Ok(_) => false,
            Err(InsertError::BusinessKeysTaken(_)) => true,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn request(&self, queue: &str, limit: u32) -> ClaimRequest {
        ClaimRequest {
            node: self.node,
            queues: vec![QueueDemand { queue: queue.to_owned(), limit }],
            known: known(),
            suspects: Suspects::beside_others(100),
            starting: true,
        }
    }

    pub(crate) async fn claim_by(&self, store: &PgStore, limit: u32) -> ClaimReply {
        store.claim(self.request("default", limit)).await.expect("claims")
    }

    /// Claims the only due job.
    pub(crate) async fn claim(&self) -> Claimed {
        let mut jobs = self.claim_by(&self.b, 10).await.jobs;
        assert_eq!(jobs.len(), 1, "one job is due");
        jobs.remove(0)
    }

    /// Submits a job and claims it.
    pub(crate) async fn run(&self, job: NewJob) -> Claimed {
        let id = self.submit(job).await;
        let run = self.claim().await;
        assert_eq!(run.id(), id);
        run
    }

    pub(crate) async fn settle(&self, settlement: Settlement) -> Settled {
        self.b.settle(vec![settlement]).await.expect("settles").remove(0)
    }

    /// Submits a job, runs it and lets it fail permanently.
    pub(crate) async fn failed(&self, job: NewJob) -> JobId {
        let run = self.run(job).await;
        assert!(matches!(self.settle(fail(&run)).await, Settled::Applied(_)));
        run.id()
    }

    pub(crate) async fn state(&self, id: JobId) -> JobState {
        self.b.get(id).await.expect("reads").expect("is there").state
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(self.pool()).await.expect("counts")
    }
}

pub(crate) fn known() -> Arc<KnownJobs> {
    Arc::new(KnownJobs([("mail".to_owned(), 1)].into()))
}

pub(crate) async fn command(
    store: PgStore,
    command: Command,
) -> Result<CommandReply, CommandError> {
    store.command(command).await
}

pub(crate) async fn settle(store: PgStore, settlement: Settlement) -> Settled {
    store.settle(vec![settlement]).await.expect("settles").remove(0)
}

pub(crate) async fn release_holds(store: PgStore, token: Token) {
    store.release_holds(vec![token]).await.expect("lets go");
}
