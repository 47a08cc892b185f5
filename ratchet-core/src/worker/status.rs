//! Liveness, readiness, gauges and counters of a worker.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use super::app_check::AppCheck;
use super::shared::Shared;
use super::trouble::{Trouble, Verb};
use super::unreadable_jobs;
use crate::runtime::{CheckResult, Health, WorkerGauges, WorkerStatus};

/// Counters of a worker since its start.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// # async fn demo(worker: ratchet_core::Worker) {
/// use ratchet::runtime::WorkerStats;
///
/// worker.stop().await;
/// let WorkerStats { succeeded, failed, released, .. } = worker.stats();
/// println!("{succeeded} runs succeeded, {failed} jobs failed");
/// println!("{released} jobs were returned to their queues");
/// # }
/// ```
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
    Health::of(live_checks(shared), Vec::new())
}

/// The checks of liveness. They must not depend on the store.
fn live_checks(shared: &Shared) -> Vec<CheckResult> {
    let still = shared.since_last_tick();
    let is_stuck = still > STUCK_AFTER && !shared.over.is_cancelled();
    let stuck = is_stuck.then(|| format!("the claim loop has been stuck for {still:?}"));
    let is_stalled = shared.stalled.load(Ordering::Relaxed);
    let stalled = is_stalled.then(|| "every handler thread is stuck".to_owned());
    vec![
        CheckResult::new("engine", shared.died.get().map(ToString::to_string), None),
        CheckResult::new("claim_loop", stuck, Some(still)),
        CheckResult::new("handler_threads", stalled, None),
    ]
}

pub(super) fn readiness(shared: &Shared) -> Health {
    let now = shared.core.clock.monotonic();
    let mut checks = live_checks(shared);
    let mut verb = |name: &str, trouble: &Trouble, verb: Verb| {
        let (problem, age) = (trouble.problem(verb, now), trouble.since_passed(verb, now));
        checks.push(CheckResult::new(name, problem, age));
    };
    verb("claims", &shared.trouble, Verb::Claim);
    verb("settlements", &shared.trouble, Verb::Settle);
    verb("sweep", &shared.sweep_trouble, Verb::Sweep);
    let deliveries = shared.deliveries.problem(now, shared.delivery_stall());
    checks.push(CheckResult::new("deliveries", deliveries, None));
    let is_fenced = shared.fenced.load(Ordering::Relaxed);
    let fenced = is_fenced.then(|| "the node cannot renew its lease".to_owned());
    checks.push(CheckResult::new("lease", fenced, Some(shared.since_renewal())));
    let (at, results) = shared.checked();
    for AppCheck { name, problem } in results {
        let age = now.saturating_sub(at);
        checks.push(CheckResult::new(format!("app:{name}"), problem, Some(age)));
    }
    let is_stopping = shared.stopping.is_cancelled();
    let stopping = is_stopping.then(|| "the worker is stopping".to_owned());
    checks.push(CheckResult::new("stopping", stopping, None));
    let mut details = shared.resting();
    details.extend(shared.request().map(|request| {
        let (state, at) = (request.action.state(), request.at);
        format!("this node is {state} since {at}, at the request of {request}; it claims no jobs")
    }));
    details.extend(shared.unknown_jobs());
    details.extend(unreadable_jobs::detail(shared));
    Health::of(checks, details)
}

impl WorkerStatus for Shared {
    fn is_over(&self) -> bool {
        self.over.is_cancelled() && self.died.get().is_none()
    }

    fn liveness(&self) -> Health {
        liveness(self)
    }

    fn readiness(&self) -> Health {
        readiness(self)
    }

    fn gauges(&self) -> WorkerGauges {
        let (counters, config) = (&self.counters, &self.core.config);
        let now = self.core.clock.monotonic();
        WorkerGauges {
            capacity: config.concurrency,
            runaways: counters.runaways.load(Ordering::Relaxed),
            suspects: counters.suspects.load(Ordering::Relaxed),
            unreadable: self.unreadable_jobs.load(Ordering::Relaxed),
            held: counters.held.load(Ordering::Relaxed),
            lease_left: config.lease.saturating_sub(self.since_renewal()),
            sweep_age: self.sweep_trouble.since_passed(Verb::Sweep, now).unwrap_or(self.age(now)),
        }
    }
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
