//! Liveness, readiness and counters of a worker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::shared::Shared;
use super::unreadable_jobs;

/// The result of a liveness or readiness check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// Whether the check passed.
    pub ok: bool,
    /// Why it did not pass; empty if it did.
    pub problems: Vec<String>,
    /// Conditions that an operator should know and that do not fail the check, such as waiting jobs that no live worker
    /// knows, or jobs whose rows cannot be read.
    pub details: Vec<String>,
}

/// Counters of a worker since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Claimed jobs.
    pub claimed: u64,
    /// Outcomes that were settled.
    pub settled: u64,
    /// Runs that succeeded.
    pub succeeded: u64,
    /// Failed attempts that will be retried.
    pub retried: u64,
    /// Jobs that failed permanently.
    pub failed: u64,
    /// Runs that were snoozed, rejected, or refused by a breaker.
    pub deferred: u64,
    /// Jobs that were returned to their queue without a result, for example at shutdown.
    pub released: u64,
    /// Outcomes discarded because the run was no longer current.
    pub stale: u64,
    /// Outcomes that the store permanently refuses.
    pub stuck: u64,
    /// Orphans that this worker rescued.
    pub rescued: u64,
    /// Runs whose task was dropped by its runtime before it ended.
    pub vanished: u64,
    /// Jobs that are currently running.
    pub running: u64,
    /// Handlers that do not stop and hold their thread.
    pub runaways: u64,
    /// Running jobs that have crashed their workers so often that their number is limited.
    pub suspects: u64,
}

/// How long the claim loop may make no progress. It normally iterates at least once a second.
const STUCK_AFTER: Duration = Duration::from_secs(10);

pub(super) fn liveness(shared: &Shared) -> Health {
    let mut problems: Vec<_> = shared.died.get().map(ToString::to_string).into_iter().collect();
    let still = shared.since_last_tick();
    if still > STUCK_AFTER && !shared.over.is_cancelled() {
        problems.push(format!("the claim loop has been stuck for {still:?}"));
    }
    if shared.stalled.load(Ordering::Relaxed) {
        problems.push("every handler thread is stuck".to_owned());
    }
    Health { ok: problems.is_empty(), problems, details: Vec::new() }
}

pub(super) fn readiness(shared: &Shared) -> Health {
    let Health { mut problems, .. } = liveness(shared);
    let now = shared.core.clock.monotonic();
    problems.extend(shared.trouble.problems(now));
    problems.extend(shared.deliveries.problem(now, shared.delivery_stall()));
    if shared.fenced.load(Ordering::Relaxed) {
        problems.push("the node cannot renew its lease".to_owned());
    }
    problems.extend(shared.unhealthy());
    if shared.stopping.is_cancelled() {
        problems.push("the worker is stopping".to_owned());
    }
    let mut details = shared.resting();
    details.extend(shared.unknown_jobs());
    details.extend(unreadable_jobs::detail(shared));
    Health { ok: problems.is_empty(), problems, details }
}

pub(super) fn stats(shared: &Shared) -> WorkerStats {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let counters = &shared.counters;
    WorkerStats {
        claimed: read(&counters.claimed),
        settled: read(&counters.settled),
        succeeded: read(&counters.verdicts.succeeded),
        retried: read(&counters.verdicts.retried),
        failed: read(&counters.verdicts.failed),
        deferred: read(&counters.verdicts.deferred),
        released: read(&counters.verdicts.released),
        stale: read(&counters.stale),
        stuck: read(&counters.stuck),
        rescued: read(&counters.rescued),
        vanished: read(&counters.vanished),
        running: read(&counters.running),
        runaways: read(&counters.runaways),
        suspects: read(&counters.suspects),
    }
}
