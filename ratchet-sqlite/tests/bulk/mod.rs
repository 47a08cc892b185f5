//! A bulk operation whose leaders are killed. `scripts/proof bulk` runs it with 100,000 jobs.

// The test uses real processes and real time. `scripts/proof bulk` shows what it prints.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::path::Path;
use std::time::{Duration, Instant};

use ratchet_core::{
    Bulk, BulkVerb, Filter, Job as _, JobId, JobState, OperationId, OperationRecord,
    OperationState, PageRequest, Ratchet,
};
use ratchet_macros::job;
use ratchet_sqlite::SqliteStore;

use super::{DEADLINE, start};

#[allow(clippy::unused_async)] // a job is an async fn
#[job(name = "bulk.breaks", queue = "bulk", max_retries = 0, crate = ::ratchet_core)]
async fn breaks(number: u32) -> Result<(), std::fmt::Error> {
    let _ = number;
    Err(std::fmt::Error)
}

fn size() -> u32 {
    std::env::var("RATCHET_BULK_JOBS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000)
}

/// Waits for a condition. The time grows with the number of jobs.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE + Duration::from_millis(20) * size();
    while !holds().await {
        assert!(Instant::now() < deadline, "waited too long for: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn failed(ratchet: &Ratchet) -> u64 {
    ratchet.store().counts().await.expect("counts").state(JobState::Failed)
}

/// Runs the jobs until all of them have failed permanently.
async fn break_all(path: &Path, submit: bool) -> Ratchet {
    let store = SqliteStore::open(path).await.expect("opens");
    let builder = Ratchet::builder(store).jobs([Breaks::JOB]).concurrency(64);
    let ratchet = builder.build().await.expect("builds");
    if submit {
        let numbers: Vec<_> = (0..size()).collect();
        for chunk in numbers.chunks(1000) {
            let jobs = chunk.iter().map(|number| Breaks { number: *number });
            ratchet.enqueue_many(jobs.collect::<Vec<_>>()).await.expect("enqueues");
        }
    }
    ratchet.queues().resume("bulk").await.expect("resumes");
    let worker = ratchet.start().await.expect("starts");
    until("dead letters", async || failed(&ratchet).await == u64::from(size())).await;
    worker.stop().await;
    ratchet.queues().pause("bulk").await.expect("pauses");
    ratchet
}

/// Starts a bulk retry that takes about five seconds.
async fn begin(ratchet: &Ratchet) -> OperationRecord {
    let operations = ratchet.operations();
    let preview = operations.preview(BulkVerb::Retry, &Filter::any().queue("bulk")).await;
    let bulk = Bulk::of(preview.expect("previews")).pace(size() / 5);
    operations.start(bulk).await.expect("starts")
}

async fn get(ratchet: &Ratchet, id: OperationId) -> OperationRecord {
    ratchet.operations().get(id).await.expect("reads").expect("exists")
}

/// Starts a worker in another process, kills it after it has changed jobs, and waits until its lease has expired.
async fn lead_and_die(ratchet: &Ratchet, path: &Path, id: OperationId) -> u64 {
    let before = get(ratchet, id).await.changed;
    let mut leader = start("work", path);
    until("progress", async || get(ratchet, id).await.changed > before).await;
    leader.kill().expect("kills");
    leader.wait().expect("waits");
    until("the end of its lease", async || {
        ratchet.nodes().list().await.expect("lists").iter().all(|node| !node.alive)
    })
    .await;
    get(ratchet, id).await.changed
}

async fn generations(ratchet: &Ratchet) -> Vec<(JobId, u32)> {
    let filter = Filter::any().queue("bulk").oldest_first();
    let (mut found, mut before) = (Vec::new(), None);
    loop {
        let page = ratchet.jobs().list(&filter, PageRequest { before, limit: 1000 }).await;
        let page = page.expect("lists");
        found.extend(page.jobs.iter().map(|job| (job.id, job.generation)));
        match page.next {
            Some(next) => before = Some(next),
            None => return found,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o_04_a_bulk_retry_survives_five_killed_processes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let all = u64::from(size());
    let ratchet = break_all(&path, true).await;
    let began = Instant::now();
    let started = begin(&ratchet).await;
    for kill in 1..=5 {
        let changed = lead_and_die(&ratchet, &path, started.id).await;
        println!("kill {kill}: {changed} of {all} jobs were retried");
        assert!(changed < all, "the operation was over before the last kill");
    }
    let mut leader = start("work", &path);
    until("the end of the operation", async || {
        get(&ratchet, started.id).await.state == OperationState::Finished
    })
    .await;
    let done = get(&ratchet, started.id).await;
    println!(
        "finished after {:.1?}: {} changed, {} refused",
        began.elapsed(),
        done.changed,
        done.refused
    );
    assert_eq!((done.matched, done.changed, done.refused), (all, all, 0));
    let jobs = generations(&ratchet).await;
    assert_eq!(jobs.len() as u64, all);
    assert!(jobs.iter().all(|(_, generation)| *generation == 2), "each was retried once");
    leader.kill().expect("kills");
    leader.wait().expect("waits");

    // The second run is aborted half-way.
    let ratchet = break_all(&path, false).await;
    let started = begin(&ratchet).await;
    lead_and_die(&ratchet, &path, started.id).await;
    let mut leader = start("work", &path);
    until("half of the jobs", async || get(&ratchet, started.id).await.changed >= all / 3).await;
    let aborted = ratchet.operations().abort(started.id).await.expect("aborts");
    let cursor = aborted.cursor.expect("jobs were visited");
    println!("aborted: {} of {all} jobs were retried", aborted.changed);
    let jobs = generations(&ratchet).await;
    assert!(jobs.iter().all(|(id, generation)| *generation == if *id <= cursor { 3 } else { 2 }));
    let retried = jobs.iter().filter(|(_, generation)| *generation == 3).count() as u64;
    assert_eq!(retried, aborted.changed);
    assert!(retried < all, "it was aborted before its end");
    leader.kill().expect("kills");
    leader.wait().expect("waits");
}

/// An erasure in its own process dies in the middle of a page or between two, and another process continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn z_12_an_erasure_survives_three_killed_processes() {
    const JOBS: u32 = 500;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let store = SqliteStore::open(&path).await.expect("opens");
    let builder = Ratchet::builder(store.clone()).jobs([Breaks::JOB]);
    let ratchet = builder.build().await.expect("builds");
    ratchet.queues().pause("bulk").await.expect("pauses");
    for number in 0..JOBS {
        let job = ratchet.enqueue(Breaks { number }).tenant("acme");
        job.idempotency_key(format!("planted-key-{number}")).await.expect("enqueues");
    }
    let kept = ratchet.enqueue(Breaks { number: 0 }).tenant("other").await.expect("enqueues");
    let own = Filter::any().tenant("acme");
    for number in 0..100 {
        let page = ratchet.jobs().list(&own, PageRequest { before: None, limit: 1 }).await;
        let id = page.expect("lists").jobs[0].id;
        ratchet.jobs().cancel(id).await.expect("cancels");
        let archived = ratchet.store().archive(JobState::Canceled, Duration::ZERO, 1).await;
        assert_eq!(archived.expect("archives"), 1, "{number}");
    }
    let subject = ratchet_core::ErasureSubject::Tenant("acme".to_owned());
    let erasures = ratchet.erasures().pace(JOBS / 5);
    let preview = erasures.preview(&subject).await.expect("counts");
    assert_eq!((preview.jobs, preview.archived), (400, 100));
    let started = erasures.start(preview).await.expect("starts");
    for kill in 1..=3 {
        let changed = lead_and_die(&ratchet, &path, started.id).await;
        println!("kill {kill}: {changed} of {JOBS} jobs were deleted");
    }
    let mut leader = start("work", &path);
    until("the end of the erasure", async || {
        get(&ratchet, started.id).await.state == OperationState::Finished
    })
    .await;
    leader.kill().expect("kills");
    leader.wait().expect("waits");
    let all = Filter::any().archived(ratchet_core::ArchivedJobs::Include);
    let left = ratchet.jobs().list(&all, PageRequest { before: None, limit: 1000 }).await;
    let left: Vec<_> = left.expect("lists").jobs.iter().map(|job| job.id).collect();
    assert_eq!(left, [kept.id()]);
    for entry in std::fs::read_dir(folder.path()).expect("reads") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("reads");
        let found = bytes.windows(12).any(|window| window == b"planted-key-");
        assert!(!found, "an erased key is in {}", path.display());
    }
}
