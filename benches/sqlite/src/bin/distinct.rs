//! Measures backlogs in which every job is different: jobs of names that no worker knows, in front of a known job, and
//! jobs with options of their own, beside jobs with equal options.
//!
//! `distinct [jobs of unknown names] [jobs with options of their own]`

use std::path::Path;
use std::time::{Duration, Instant};

use ratchet_bench_sqlite::{argument, quantile};
use ratchet_sqlite::{SqliteStore, Synchronous};
use ratchet_store::Store;
use ratchet_store::model::{
    ClaimReply, ClaimRequest, Due, JobId, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo,
    QueueDemand, Suspects,
};
use uuid::Uuid;

const CLAIMS: usize = 200;
const BATCH: usize = 1_000;

#[tokio::main]
async fn main() {
    let (unknown, different): (usize, usize) = (argument(1, 100_000), argument(2, 50_000));
    let folder = tempfile::tempdir().expect("a folder");
    let plain = Side::new(folder.path(), "plain").await;
    let behind = Side::new(folder.path(), "behind").await;
    behind.fill(unknown, |n, spec| spec.name = format!("unknown-{n}")).await;
    for side in [&plain, &behind] {
        side.fill(1, |_, _| ()).await;
        let (claims, time) = side.until_claimed().await;
        println!(
            "{}: the known job was returned by claim {claims}, after {} ms",
            side.name,
            time.as_millis()
        );
    }
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..CLAIMS {
        for (side, samples) in [&plain, &behind].iter().zip(&mut samples) {
            side.fill(1, |_, _| ()).await;
            let began = Instant::now();
            assert_eq!(side.claim(1).await.jobs.len(), 1, "the job can be claimed");
            samples.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    for (side, samples) in [&plain, &behind].iter().zip(&mut samples) {
        println!(
            "{}: the next claims took {:.0} µs (p50), {:.0} µs (p95)",
            side.name,
            quantile(samples, 0.5),
            quantile(samples, 0.95)
        );
    }
    let rounds = (different / BATCH).clamp(1, 20);
    for (name, future) in [("due", Due::Now), ("delayed", Due::In(Duration::from_secs(3_600)))] {
        let equal = Side::new(folder.path(), &format!("{name}-equal")).await;
        let own = Side::new(folder.path(), &format!("{name}-own")).await;
        for side in [&equal, &own] {
            side.fill_due(different, future, |n, spec| {
                if side.name.ends_with("own") {
                    spec.options.timeout = Duration::from_millis(60_000 + n as u64);
                }
            })
            .await;
            if name == "delayed" {
                side.fill(rounds * BATCH, |_, _| ()).await;
            }
        }
        let mut ratios = Vec::new();
        for _ in 0..rounds {
            let mut times = Vec::new();
            for side in [&equal, &own] {
                let began = Instant::now();
                assert_eq!(side.claim(BATCH as u32).await.jobs.len(), BATCH, "they are due");
                times.push(began.elapsed().as_secs_f64() * 1e6 / BATCH as f64);
            }
            ratios.push(times[1] / times[0]);
        }
        println!(
            "{different} {name} jobs with options of their own: a claim of {BATCH} takes {:.1} times as long as with equal ones",
            quantile(&mut ratios, 0.5)
        );
    }
}

struct Side {
    name: String,
    store: SqliteStore,
    node: NodeId,
}

impl Side {
    async fn new(folder: &Path, name: &str) -> Self {
        let options = SqliteStore::options(folder.join(format!("{name}.db")));
        let store = options.synchronous(Synchronous::Normal).open().await.expect("opens");
        let node = NodeId::from_uuid(Uuid::now_v7());
        store.join(NodeInfo::new(node), Duration::from_secs(86_400)).await.expect("joins");
        Self { name: name.to_owned(), store, node }
    }

    async fn fill(&self, jobs: usize, change: impl Fn(usize, &mut JobSpec)) {
        self.fill_due(jobs, Due::Now, change).await;
    }

    async fn fill_due(&self, jobs: usize, due: Due, change: impl Fn(usize, &mut JobSpec)) {
        let all: Vec<usize> = (0..jobs).collect();
        for part in all.chunks(BATCH) {
            let jobs = part.iter().map(|&n| {
                let mut spec = JobSpec::new("mail", b"[]".to_vec());
                change(n, &mut spec);
                NewJob { due, ..NewJob::new(JobId::from_uuid(Uuid::now_v7()), spec) }
            });
            self.store.insert(jobs.collect()).await.expect("inserts");
        }
    }

    /// Claims until the known job is returned. Returns the number of claims.
    async fn until_claimed(&self) -> (usize, Duration) {
        let began = Instant::now();
        let mut claims = 1;
        while self.claim(1).await.jobs.is_empty() {
            claims += 1;
        }
        (claims, began.elapsed())
    }

    async fn claim(&self, limit: u32) -> ClaimReply {
        let request = ClaimRequest {
            node: self.node,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
            known: std::sync::Arc::new(KnownJobs([("mail".to_owned(), 1)].into())),
            suspects: Suspects::beside_others(5),
            starting: true,
        };
        self.store.claim(request).await.expect("claims")
    }
}
