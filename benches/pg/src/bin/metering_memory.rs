//! Measures the memory of the metrics of a process that runs 10,000 jobs with different names, and the allocations per
//! run that metering adds: `metering_memory [names]`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use ratchet::definition::Registration;
use ratchet::{Job as _, MemoryStore, Ratchet, job};

static LIVE: AtomicI64 = AtomicI64::new(0);
static ALLOCATIONS: AtomicI64 = AtomicI64::new(0);

struct Counting;

// SAFETY: forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Relaxed);
        ALLOCATIONS.fetch_add(1, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[job(name = "bench.noop")]
async fn noop() {}

/// Returns copies of a job with different names.
fn jobs(count: usize) -> Vec<Registration> {
    let named = |number| {
        let mut job = Noop::JOB;
        job.def.name = Box::leak(format!("bench.job_with_a_long_name.{number}").into_boxed_str());
        job
    };
    (0..count).map(named).collect()
}

/// Runs every job once, or all runs with the first name. Returns the live bytes and the allocations per run.
async fn run(names: usize, count: usize, metering: bool) -> (i64, f64, Ratchet) {
    let (jobs, no_arguments) = (jobs(names), serde_json::json!({}));
    let names: Vec<_> = jobs.iter().map(|job| job.def.name).collect();
    let ratchet = Ratchet::builder(MemoryStore::new()).jobs(jobs).metering(metering);
    let ratchet = ratchet.drain_and_exit().build().await.expect("builds");
    let before = LIVE.load(Relaxed);
    for number in 0..count {
        let name = names[number % names.len()];
        ratchet.enqueue_by_name(name, &no_arguments).await.expect("enqueues");
    }
    let allocations = ALLOCATIONS.load(Relaxed);
    let worker = ratchet.start().await.expect("starts");
    worker.stopped().await;
    assert_eq!(worker.stats().succeeded, count as u64);
    let allocations = ALLOCATIONS.load(Relaxed) - allocations;
    drop(worker);
    (LIVE.load(Relaxed) - before, allocations as f64 / count as f64, ratchet)
}

#[tokio::main]
async fn main() {
    let names = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let (off, _, without) = run(names, names, false).await;
    let (on, _, ratchet) = run(names, names, true).await;
    println!("{names} job names: {:.2} MB of metrics", (on - off) as f64 / 1e6);
    let metrics = ratchet.metrics();
    let most = metrics.families.iter().map(|family| family.series.len()).max().unwrap_or(0);
    let overflow = metrics.total("ratchet.meter.overflow", &["ratchet.job.started"]);
    let text = metrics.to_prometheus();
    println!(
        "at most {most} series per metric, {overflow} of {} starts under `overflow`, {:.1} MB as text",
        metrics.total("ratchet.job.started", &[]),
        text.len() as f64 / 1e6
    );
    drop((ratchet, without));
    let (_, off, _without) = run(1, 20_000, false).await;
    let (_, on, _with) = run(1, 20_000, true).await;
    println!(
        "20000 runs of one job: {off:.3} allocations per run without metering, {on:.3} with it"
    );
}
