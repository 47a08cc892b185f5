//! Counts the allocations per job from claim to settlement, by size: `allocations [jobs]`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ratchet::{Ratchet, job};
use ratchet_bench_pg::{Server, fill};
use ratchet_pg::PgStore;

/// The number of allocations of up to 16 bytes, 32, 64 and so on.
static BY_SIZE: [AtomicU64; 24] = [const { AtomicU64::new(0) }; 24];
static BYTES: AtomicU64 = AtomicU64::new(0);

struct Counting;

// SAFETY: forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let class = layout.size().max(16).next_power_of_two().trailing_zeros() as usize - 4;
        BY_SIZE[class.min(23)].fetch_add(1, Relaxed);
        BYTES.fetch_add(layout.size() as u64, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[job(name = "bench.noop")]
async fn noop(id: i64) {
    let _ = id;
}

#[tokio::main]
async fn main() {
    let jobs = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(50_000);
    let server = Server::start();
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let ratchet = Ratchet::builder(store.clone()).concurrency(500).build().await.expect("builds");
    fill(&store, "bench.noop", jobs).await;
    let before: Vec<_> = BY_SIZE.iter().map(|count| count.load(Relaxed)).collect();
    let bytes = BYTES.load(Relaxed);
    let worker = ratchet.start().await.expect("starts");
    while worker.stats().settled < jobs as u64 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let after: Vec<_> = BY_SIZE.iter().map(|count| count.load(Relaxed)).collect();
    let bytes = BYTES.load(Relaxed) - bytes;
    worker.stop().await;
    let per = |count: u64| count as f64 / jobs as f64;
    let mut total = 0;
    for (class, (after, before)) in after.iter().zip(&before).enumerate() {
        total += after - before;
        if per(after - before) >= 0.01 {
            println!("up to {:>8} bytes {:>8.2} per job", 16_u64 << class, per(after - before));
        }
    }
    println!("in all {:.2} allocations and {:.0} bytes per job", per(total), per(bytes));
    store.close().await;
}
