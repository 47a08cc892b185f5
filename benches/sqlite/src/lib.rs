//! Shared by the programs: a job that does nothing, and statistics over samples.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use ratchet::job;

static STARTS: OnceLock<Vec<AtomicU64>> = OnceLock::new();
static ZERO: OnceLock<Instant> = OnceLock::new();

/// The number of handlers that have run since the last [`reset`].
pub static DONE: AtomicUsize = AtomicUsize::new(0);

/// The job of all measurements. Its payload is `{"id":n,"kind":"x"}`.
#[job(queue = "bench")]
pub async fn noop(id: u64, kind: String) {
    let _ = kind;
    hit(id);
}

/// Resets the recorded runs.
pub fn reset() {
    ZERO.get_or_init(Instant::now);
    let starts = STARTS.get_or_init(|| (0..1_000_000).map(|_| AtomicU64::new(0)).collect());
    starts.iter().for_each(|start| start.store(0, Ordering::Relaxed));
    DONE.store(0, Ordering::SeqCst);
}

/// Returns the nanoseconds since the first call of [`reset`] or this function.
pub fn nanos() -> u64 {
    u64::try_from(ZERO.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Records the start of a handler.
pub fn hit(id: u64) {
    if let Some(start) = STARTS.get().and_then(|starts| starts.get(usize::try_from(id).ok()?)) {
        start.store(nanos(), Ordering::Relaxed);
    }
    DONE.fetch_add(1, Ordering::SeqCst);
}

/// Returns the start time of a job's handler; zero if it has not started.
pub fn started(id: usize) -> u64 {
    STARTS.get().map_or(0, |starts| starts[id].load(Ordering::Relaxed))
}

/// Returns a quantile of the samples.
pub fn quantile(samples: &mut [f64], q: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let last = samples.len().saturating_sub(1);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let at = (last as f64 * q).round() as usize;
    samples.get(at).copied().unwrap_or(f64::NAN)
}

pub fn median(samples: &mut [f64]) -> f64 {
    quantile(samples, 0.5)
}

/// Returns the resident memory of this process, in MiB.
pub fn rss_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kib: Option<f64> = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

/// Returns an argument by its position, or the default.
pub fn argument<T: std::str::FromStr>(place: usize, default: T) -> T {
    std::env::args().nth(place).and_then(|text| text.parse().ok()).unwrap_or(default)
}
