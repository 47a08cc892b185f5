//! Queues the settlements of finished runs, keeps them through an outage of the store, and isolates those that the
//! store refuses.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::publish::publish;
use super::shared::Shared;
use ratchet_store::StoreError;
use ratchet_store::model::{Claimed, NOT_KEPT, Notice, RunNotes, Settled, Settlement, Verdict};

/// A settlement and the claimed job it belongs to.
#[derive(Debug, Clone)]
pub(super) struct PendingSettlement {
    pub(super) job: Arc<Claimed>,
    pub(super) settlement: Settlement,
}

/// The queue of settlements that are not stored yet.
#[derive(Debug, Default)]
pub(super) struct Settler {
    held: VecDeque<PendingSettlement>,
    /// When the oldest settlement was pushed.
    since: Option<Duration>,
    /// Settlements that another transaction blocks, and when to retry them.
    blocked: VecDeque<(Duration, PendingSettlement)>,
    /// Set after a failure: no exchange before this time.
    not_before: Option<Duration>,
    failures: u32,
}

/// How long a blocked settlement waits before it is retried.
const BLOCKED_PAUSE: Duration = Duration::from_millis(500);

impl Settler {
    pub(super) fn push(&mut self, pending: PendingSettlement, now: Duration) {
        self.since.get_or_insert(now);
        self.held.push_back(pending);
    }

    /// Returns whether everything is settled.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.blocked.is_empty()
    }

    /// Returns whether nothing can be settled now: the queue is empty, or all settlements are blocked.
    pub(super) fn is_idle(&self, now: Duration) -> bool {
        self.held.is_empty() && self.blocked.front().is_none_or(|(at, _)| now < *at)
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Returns when the next batch is due. A settlement waits for `delay` to form a larger batch, and longer after a
    /// failure.
    pub(super) fn due_at(&self, delay: Duration) -> Option<Duration> {
        let held = self.since.map(|since| since.saturating_add(delay));
        let blocked = self.blocked.front().map(|(at, _)| *at);
        let first = held.into_iter().chain(blocked).min()?;
        Some(self.not_before().max(first))
    }

    /// Returns the time before which no exchange may be sent.
    pub(super) fn not_before(&self) -> Duration {
        self.not_before.unwrap_or(Duration::ZERO)
    }

    /// Returns whether the settler is backing off after a failure.
    pub(super) fn is_waiting(&self, now: Duration) -> bool {
        self.not_before.is_some_and(|at| now < at)
    }

    /// Takes the next batch. The caller must report its result with [`Self::done`] or [`Self::failed`].
    pub(super) fn take(&mut self, most: usize, now: Duration) -> Vec<PendingSettlement> {
        while self.blocked.front().is_some_and(|(at, _)| *at <= now) {
            self.held.extend(self.blocked.pop_front().map(|(_, pending)| pending));
            self.since.get_or_insert(now);
        }
        let batch: Vec<_> = self.held.drain(..most.min(self.held.len())).collect();
        if self.held.is_empty() {
            self.since = None;
        }
        batch
    }

    /// Reports that the batch was settled.
    pub(super) fn done(&mut self) {
        self.not_before = None;
        self.failures = 0;
    }

    /// Schedules settlements blocked by other transactions for a retry, without delaying the rest.
    pub(super) fn blocked(&mut self, batch: Vec<PendingSettlement>, now: Duration) {
        let at = now.saturating_add(BLOCKED_PAUSE);
        self.blocked.extend(batch.into_iter().map(|pending| (at, pending)));
    }

    /// Puts a failed batch back at the front of the queue and backs off.
    pub(super) fn failed(&mut self, batch: Vec<PendingSettlement>, now: Duration, jitter: u64) {
        const LONGEST: Duration = Duration::from_secs(5);
        self.failures = self.failures.saturating_add(1);
        let backoff =
            ratchet_store::model::Backoff::exponential(Duration::from_millis(50), LONGEST);
        self.not_before = Some(now.saturating_add(backoff.delay(self.failures, jitter)));
        if !batch.is_empty() {
            self.since.get_or_insert(now);
        }
        for pending in batch.into_iter().rev() {
            self.held.push_front(pending);
        }
    }
}

/// Counts and publishes the results of a batch. Returns the blocked settlements.
pub(super) fn record_results(
    shared: &Shared,
    batch: Vec<PendingSettlement>,
    settled: &[Settled],
) -> Vec<PendingSettlement> {
    let mut blocked = Vec::new();
    for (pending, settled) in batch.into_iter().zip(settled) {
        let counter = match settled {
            Settled::Applied(_) => &shared.counters.settled,
            Settled::Stale { .. } => &shared.counters.stale,
            Settled::Blocked { why } => {
                let job = &pending.job;
                tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, %why, "an outcome cannot be settled yet; it is tried again");
                blocked.push(pending);
                continue;
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        if let Settled::Applied(_) = settled {
            shared.counters.verdicts.count(&pending.settlement.verdict);
            if !pending.settlement.notices.is_empty() {
                shared.delivery_stored.notify_one();
            }
            if !pending.settlement.hand_offs.is_empty() {
                shared.handed_off.notify_one();
            }
        }
        publish(&shared.core, &pending.job, &pending.settlement, settled);
    }
    blocked
}

/// Settles a batch that the store refused with a data error, by bisection. A single settlement that is still refused is
/// retried without its output and notes.
///
/// If that is refused too, the job stays claimed, is counted as stuck, and is rescued when this node is gone. Returns
/// the settlements that are blocked or could not be tried because the store became unavailable.
pub(super) async fn settle_bisecting(
    shared: &Shared,
    batch: Vec<PendingSettlement>,
) -> Vec<PendingSettlement> {
    let (mut left, mut refused) = (Vec::new(), vec![batch]);
    while let Some(mut batch) = refused.pop() {
        if batch.len() > 1 {
            let second = batch.split_off(batch.len() / 2);
            for half in [second, batch] {
                match settle_half(shared, &half).await {
                    Ok(blocked) => left.extend(blocked),
                    Err(error) if !error.is_about_data() => {
                        tracing::warn!(%error, "the store went away while outcomes were settled; they are held");
                        left.extend(half);
                    }
                    Err(_) => refused.push(half),
                }
            }
            continue;
        }
        for pending in batch {
            match settle_one(shared, &pending).await {
                Ok(SingleResult::Settled) => {}
                Ok(SingleResult::Blocked) => left.push(pending),
                Ok(SingleResult::Refused) => {
                    shared.counters.stuck.fetch_add(1, Ordering::Relaxed);
                    shared.core.meter.stuck();
                    let job = &pending.job;
                    tracing::error!(
                        job.id = %job.id(), job.name = %job.spec.name,
                        "the store refuses the outcome of a run; the job stays claimed until this node is gone"
                    );
                }
                Err(error) => {
                    tracing::warn!(%error, "the store went away while outcomes were settled; they are held");
                    left.push(pending);
                }
            }
        }
    }
    left
}

async fn settle_half(
    shared: &Shared,
    half: &[PendingSettlement],
) -> Result<Vec<PendingSettlement>, StoreError> {
    let settlements = half.iter().map(|pending| pending.settlement.clone()).collect();
    let settled = shared.core.store.settle(settlements).await?;
    Ok(record_results(shared, half.to_vec(), &settled))
}

/// The result of a settlement that was sent alone.
enum SingleResult {
    Settled,
    Blocked,
    Refused,
}

/// Settles one outcome, completely or else in its minimal form. An error means that it can be retried.
async fn settle_one(
    shared: &Shared,
    pending: &PendingSettlement,
) -> Result<SingleResult, StoreError> {
    let store = &shared.core.store;
    for settlement in [pending.settlement.clone(), minimal(pending.settlement.clone())] {
        match store.settle(vec![settlement.clone()]).await {
            Ok(settled) => {
                let sent = vec![PendingSettlement { job: Arc::clone(&pending.job), settlement }];
                let blocked = record_results(shared, sent, &settled);
                return Ok(if blocked.is_empty() {
                    SingleResult::Settled
                } else {
                    SingleResult::Blocked
                });
            }
            Err(error) if !error.is_about_data() => return Err(error),
            Err(error) => {
                tracing::warn!(job.id = %pending.job.id(), %error, "the store refuses an outcome");
            }
        }
    }
    Ok(SingleResult::Refused)
}

/// Removes the output, log lines and notes from a settlement. Spawned jobs stay, because they belong to the outcome.
fn minimal(mut settlement: Settlement) -> Settlement {
    let confidential = settlement.notes.confidential.take();
    settlement.notes = RunNotes::default();
    settlement.notes.confidential = confidential;
    let mut warning = "the log of this run could not be stored".to_owned();
    if let Verdict::Succeed { output } = &mut settlement.verdict
        && output.take().is_some()
    {
        warning = format!("{NOT_KEPT}: the result and the log of this run could not be stored");
    }
    settlement.notes.warnings.push(warning);
    for notice in &mut settlement.notices {
        if let Notice::Outcome(outcome) = notice {
            outcome.output = None;
        }
    }
    settlement
}
