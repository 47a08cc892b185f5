//! SQLite: jobs are copied to a second file and deleted, in batches.

use std::sync::Arc;

use ratchet::model::{JobSpec, JobState, NewJob};
use ratchet::{SqliteStore, Store};
use ratchet_bench_pg::{fill, ids, join, request, success};
use ratchet_core::VirtualClock;

use crate::DAY;
use crate::sample::{Sampled, find};
use crate::turns::Turns;

/// What one sweep of a worker archives at most: 20 batches of 1000 jobs.
const SWEEP: usize = 20_000;
const BATCH: usize = 1000;

pub async fn measure(jobs: usize) -> f64 {
    let folder = std::env::temp_dir().join(format!("ratchet-archive-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let clock = VirtualClock::new();
    let options = SqliteStore::options(folder.join("jobs.db")).clock(Arc::new(clock.clone()));
    let store = options.open().await.expect("opens");
    let sampled = finish(&store, jobs).await;
    clock.advance(30 * DAY);
    let turns = jobs / SWEEP;
    fill(&store, "bench.noop", 400_000).await;
    let ratchet = crate::builder(store.clone()).build().await.expect("builds");
    let mut watched = Turns::new(ratchet.start().await.expect("starts"));
    watched.until(20_000).await;
    let mut added = 400_000;
    for _ in 0..turns {
        if added - watched.settled() < 200_000 {
            fill(&store, "bench.noop", 200_000).await;
            added += 200_000;
        }
        let sweep = async {
            let mut moved = 0;
            for _ in 0..SWEEP / BATCH {
                let limit = u32::try_from(BATCH).expect("fits");
                moved += store.archive(JobState::Succeeded, DAY, limit).await.expect("archives");
            }
            moved
        };
        watched.turn(sweep).await;
    }
    println!("\nSQLite, {jobs} jobs, each turn one sweep of {SWEEP} jobs:\n");
    let ratio = watched.report();
    watched.stop().await;
    let status = ratchet.archive().status().await.expect("reads");
    assert_eq!(status.jobs(), (turns * SWEEP) as u64);
    println!("| size of the archive | {:.0} MB |", status.bytes.unwrap_or_default() as f64 / 1e6);
    find(&ratchet, &sampled).await;
    let _ = std::fs::remove_dir_all(folder);
    ratio
}

/// Submits and runs jobs that are to be archived. Returns one of 1000.
async fn finish(store: &SqliteStore, jobs: usize) -> Vec<Sampled> {
    let (ids, node) = (ids(), join(store).await);
    let mut sampled = Vec::new();
    for start in (0..jobs).step_by(BATCH) {
        let new: Vec<_> = (start..start + BATCH)
            .map(|number| {
                let mut spec = JobSpec::new("bench.old", b"{\"id\":1}".to_vec());
                spec.business_key = Some(format!("order-{number}"));
                spec.tenant = Some(format!("tenant-{}", number % 50));
                NewJob::new(ids.job(), spec)
            })
            .collect();
        let some = new.iter().step_by(BATCH / 5).map(|job| Sampled {
            id: job.id,
            business_key: job.spec.business_key.clone().unwrap_or_default(),
            tenant: job.spec.tenant.clone().unwrap_or_default(),
        });
        sampled.extend(some);
        store.insert(new).await.expect("inserts");
        let mut left = BATCH;
        while left > 0 {
            let runs = store.claim(request(node, "bench.old", 500)).await.expect("claims").jobs;
            left -= runs.len();
            store.settle(runs.iter().map(success).collect()).await.expect("settles");
        }
    }
    store.leave(node).await.expect("leaves");
    sampled
}
