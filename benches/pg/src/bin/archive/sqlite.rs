//! SQLite: jobs are copied to a second file and deleted, in batches.

use std::sync::Arc;
use std::time::Duration;

use ratchet::model::{JobSpec, JobState, NewJob};
use ratchet::{Ratchet, SqliteStore, Store};
use ratchet_bench_pg::{fill, ids, join, request, success};
use ratchet_core::VirtualClock;

use crate::DAY;
use crate::paced::Paced;
use crate::sample::{Sampled, find};
use crate::turns::Turns;

/// What one turn without pauses archives.
const SWEEP: usize = 20_000;
const BATCH: usize = 1000;

/// The stretches in which maintenance archives, and the length of each.
const STRETCHES: usize = 3;
const LENGTH: Duration = Duration::from_secs(10);

pub async fn measure(jobs: usize) -> f64 {
    let folder = std::env::temp_dir().join(format!("ratchet-archive-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let clock = VirtualClock::new();
    let options = SqliteStore::options(folder.join("jobs.db")).clock(Arc::new(clock.clone()));
    let store = options.open().await.expect("opens");
    let sampled = finish(&store, jobs).await;
    clock.advance(30 * DAY);
    let mut paced = Paced::new(LENGTH);
    for _ in 0..=2 * STRETCHES {
        wait_for(&store, paced.jobs()).await;
        paced.run(crate::builder(store.clone())).await;
    }
    println!("\nSQLite, {jobs} jobs, archived by the maintenance of the worker:\n");
    let ratio = paced.report();
    let done = usize::try_from(store.archive_status().await.expect("reads").jobs()).expect("fits");
    let turns = (jobs - done) / SWEEP;
    wait_for(&store, 400_000).await;
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
    println!(
        "\nThe next {} jobs were archived without pauses, in turns of {SWEEP}:\n",
        turns * SWEEP
    );
    watched.report();
    watched.stop().await;
    let status = ratchet.archive().status().await.expect("reads");
    assert_eq!(status.jobs(), (done + turns * SWEEP) as u64);
    let sampled = archived_of(&ratchet, sampled).await;
    println!("| size of the archive | {:.0} MB |", status.bytes.unwrap_or_default() as f64 / 1e6);
    find(&ratchet, &sampled).await;
    let _ = std::fs::remove_dir_all(folder);
    ratio
}

/// Adds jobs until this many wait.
async fn wait_for(store: &SqliteStore, jobs: u64) {
    let waiting = store.counts().await.expect("counts").state(JobState::Pending);
    fill(store, "bench.noop", usize::try_from(jobs.saturating_sub(waiting)).expect("fits")).await;
}

/// Returns those of some jobs that are archived.
async fn archived_of(ratchet: &Ratchet, sampled: Vec<Sampled>) -> Vec<Sampled> {
    let mut archived = Vec::new();
    for job in sampled {
        let found = ratchet.jobs().get(job.id).await.expect("reads").expect("is there");
        if found.archived_at.is_some() {
            archived.push(job);
        }
    }
    assert!(archived.len() >= 100, "{} of the sampled jobs are archived", archived.len());
    archived
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
