//! [`VerdictCounters`]: how the runs of a worker have ended.

use std::sync::atomic::{AtomicU64, Ordering};

use ratchet_store::model::Verdict;

/// The number of settled runs by verdict.
#[derive(Debug, Default)]
pub(super) struct VerdictCounters {
    pub(super) succeeded: AtomicU64,
    pub(super) retried: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) deferred: AtomicU64,
    pub(super) released: AtomicU64,
}

impl VerdictCounters {
    /// Counts a settlement that the store has applied.
    pub(super) fn count(&self, verdict: &Verdict) {
        let counter = match verdict {
            Verdict::Succeed { .. } => &self.succeeded,
            Verdict::Retry { .. } => &self.retried,
            Verdict::Fail { .. } => &self.failed,
            Verdict::Defer { .. } => &self.deferred,
            Verdict::Release => &self.released,
            // Counted as rescued by the sweep.
            Verdict::Rescue { .. } => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
