//! Measures the claim latency with 1 k and 1 M pending jobs, interleaved, and with jobs in front that cannot run. Also
//! reports file size and memory.
//!
//! `backlog [pending jobs]`

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratchet_bench_sqlite::{argument, quantile, rss_mib};
use ratchet_store::model::{
    Suspects, ClaimRequest, Due, JobId, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo, OnConflict,
    QueueDemand,
};
use ratchet_store::Store;
use ratchet_sqlite::{SqliteStore, Synchronous};
use uuid::Uuid;

const CLAIMS: usize = 400;

#[tokio::main]
async fn main() {
    let many: usize = argument(1, 1_000_000);
    println!(
        "| synchronous | limit | pending | claim p50 µs | p95 µs | ratio of p50 | file MiB | RSS MiB |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for synchronous in [Synchronous::Normal, Synchronous::Full] {
        let folder = tempfile::tempdir().expect("a folder");
        let small = Side::new(folder.path(), "small", synchronous).await;
        let large = Side::new(folder.path(), "large", synchronous).await;
        small.fill("mail", 1_000 + CLAIMS * 2, Due::Now).await;
        large.fill("mail", many, Due::Now).await;
        compare(synchronous, 1, [(&small, 1_000), (&large, many)]).await;
        small.fill("mail", CLAIMS * 100, Due::Now).await;
        compare(synchronous, 100, [(&small, CLAIMS * 100), (&large, many)]).await;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let small = Side::new(folder.path(), "small", Synchronous::Normal).await;
    let behind = Side::new(folder.path(), "behind", Synchronous::Normal).await;
    behind.fill("unknown.job", 100_000, Due::Now).await;
    behind.fill("mail", 100_000, Due::In(Duration::from_secs(86_400))).await;
    for side in [&small, &behind] {
        side.fill("mail", 1_000 + CLAIMS * 2, Due::Now).await;
    }
    println!(
        "\nThe last row: behind 100 k due jobs that no worker knows, with 100 k future jobs beside them.\n"
    );
    compare(Synchronous::Normal, 1, [(&small, 1_000), (&behind, 201_000)]).await;
}

async fn compare(synchronous: Synchronous, limit: u32, sides: [(&Side, usize); 2]) {
    let mut samples = [Vec::new(), Vec::new()];
    // The first claims warm the caches and set aside the jobs that cannot run.
    for _ in 0..20 {
        for (side, _) in sides {
            side.claim(limit).await;
        }
    }
    for _ in 0..CLAIMS - 20 {
        for ((side, _), samples) in sides.iter().zip(&mut samples) {
            let began = Instant::now();
            assert_eq!(side.claim(limit).await, limit as usize, "there was enough to claim");
            samples.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    let base = quantile(&mut samples[0], 0.5);
    for ((side, pending), samples) in sides.iter().zip(&mut samples) {
        let p50 = quantile(samples, 0.5);
        let p95 = quantile(samples, 0.95);
        let size = side.size_mib();
        println!(
            "| {synchronous:?} | {limit} | {pending} | {p50:.0} | {p95:.0} | {:.2} | {size:.0} | {:.0} |",
            p50 / base,
            rss_mib()
        );
    }
}

struct Side {
    store: SqliteStore,
    node: NodeId,
    known: Arc<KnownJobs>,
}

impl Side {
    async fn new(folder: &Path, name: &str, synchronous: Synchronous) -> Self {
        let store = SqliteStore::options(folder.join(name))
            .synchronous(synchronous)
            .open()
            .await
            .expect("opens");
        let node = NodeId::from_uuid(Uuid::now_v7());
        store.join(NodeInfo::new(node), Duration::from_secs(3600)).await.expect("joins");
        let known = Arc::new(KnownJobs([("mail".to_owned(), 1)].into()));
        Self { store, node, known }
    }

    async fn fill(&self, name: &str, jobs: usize, due: Due) {
        let mut left = jobs;
        while left > 0 {
            let chunk = left.min(1000);
            left -= chunk;
            let job = |_| NewJob {
                id: JobId::from_uuid(Uuid::now_v7()),
                spec: JobSpec::new(name, br#"{"id":1,"kind":"x"}"#.to_vec()),
                due,
                on_conflict: OnConflict::Refuse,
            };
            self.store.insert((0..chunk).map(job).collect()).await.expect("inserts");
        }
    }

    async fn claim(&self, limit: u32) -> usize {
        let request = ClaimRequest {
            node: self.node,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
            known: Arc::clone(&self.known),
            suspects: Suspects::beside_others(5),
            starting: true,
        };
        self.store.claim(request).await.expect("claims").jobs.len()
    }

    fn size_mib(&self) -> f64 {
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        size(self.store.path()) as f64 / 1024.0 / 1024.0
    }
}
