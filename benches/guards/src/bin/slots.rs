//! A concurrency key with three slots over four processes, one of which is killed every second. There must never be
//! more than three holders, and no slot may be lost.
//!
//! `slots [pg|sqlite]`.

use std::process::Child;
use std::time::{Duration, Instant};

use ratchet::{JobState, Ratchet, job};
use ratchet::manage::Explanation;
use ratchet_bench_guards::{Scratch, all_ended, end, every_run, everything, open, worker_arguments};

const LIMIT: usize = 3;
const JOBS: u64 = 1_500;

#[job(name = "bench.hold", concurrency_key = "gateway", concurrency_limit = 3)]
async fn hold(id: i64) {
    tokio::time::sleep(Duration::from_millis(5 + id.unsigned_abs() % 20)).await;
}

#[tokio::main]
async fn main() {
    if let Some((address, _)) = worker_arguments() {
        return work(&address).await;
    }
    let scratch = Scratch::new();
    let ratchet = Ratchet::builder_shared(open(&scratch.address()).await).build().await.expect("builds");
    ratchet.enqueue_many((0..JOBS as i64).map(|id| Hold { id })).await.expect("enqueues");
    let mut workers: Vec<Child> = (0..4).map(|_| scratch.worker(&[])).collect();
    let (started, mut kills) = (Instant::now(), 0);
    while kills < 12 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let victim = fastrand::usize(..workers.len());
        end(&mut workers[victim..=victim]);
        workers[victim] = scratch.worker(&[]);
        kills += 1;
    }
    let ended = all_ended(&ratchet, JOBS, Duration::from_secs(90)).await;
    let took = started.elapsed();
    // All slots must be free again: more jobs run, and a job in the paused queue must wait for no other reason.
    let late: Vec<_> = ratchet.enqueue_many((0..3).map(|_| Hold { id: 0 })).await.expect("enqueues");
    let late_ended = all_ended(&ratchet, JOBS + 3, Duration::from_secs(20)).await;
    ratchet.queues().pause("default").await.expect("pauses");
    let last = ratchet.enqueue(Hold { id: 0 }).await.expect("enqueues");
    let why = ratchet.jobs().explain(last.id()).await.expect("reads").expect("exists");
    end(&mut workers);
    let jobs = everything(&ratchet).await;
    let runs = every_run(&ratchet, &jobs).await;
    // +1 when a run starts, -1 when it ends. At the same instant, ends are sorted first.
    let mut steps: Vec<(i64, i32)> = runs
        .iter()
        .flat_map(|run| [(run.started_at.as_microsecond(), 1), (run.finished_at.as_microsecond(), -1)])
        .collect();
    steps.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, step) in steps {
        now += step;
        most = most.max(now);
    }
    let succeeded = jobs.iter().filter(|job| job.state == JobState::Succeeded).count();
    let crashed = runs.iter().filter(|run| run.outcome == ratchet::model::AttemptOutcome::Crashed);
    println!("{succeeded} of {} jobs succeeded in {took:?} with {kills} kills; at most {most} held the key at once (limit {LIMIT}); \
        runs that died with their process: {}; at the end: {why}", JOBS + 3, crashed.count());
    let free = matches!(&why, Explanation::Waits(why) if why.len() == 1);
    assert!(ended && late_ended && late.len() == 3 && most as usize <= LIMIT && most > 1);
    assert!(succeeded as u64 == JOBS + 3 && free, "the key is free, only the queue is paused: {why}");
}

async fn work(address: &str) {
    let builder = Ratchet::builder_shared(open(address).await).concurrency(20).config(|config| {
        config.lease = Duration::from_secs(3);
        config.heartbeat = Duration::from_millis(500);
        config.maintenance_interval = Duration::from_millis(250);
    });
    let worker = builder.build().await.expect("builds").start().await.expect("starts");
    worker.stopped().await;
}
