//! Writes what this process has counted to the store, and samples the queues of the whole cluster.

use std::time::Duration;

use super::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{BlockedBy, GaugeRow, JobState, NodeId, StatsTier};

/// How often a process writes what it has counted.
const WRITE_EVERY: Duration = Duration::from_secs(10);

/// How many queues are sampled.
const MOST_QUEUES: usize = 1000;

impl Core {
    /// Writes what this process has counted, if that is due and no other task does it.
    pub(crate) async fn write_stats_if_due(&self) -> Result<(), StoreError> {
        let Ok(rollup) = self.rollup.try_lock() else { return Ok(()) };
        let is_due = rollup.is_due(self.clock.monotonic(), WRITE_EVERY);
        drop(rollup);
        if is_due { self.write_stats().await } else { Ok(()) }
    }

    /// Writes what this process has counted. If the result of an earlier write is unknown, it is repeated first.
    pub(crate) async fn write_stats(&self) -> Result<(), StoreError> {
        if !self.config.metering {
            return Ok(());
        }
        let mut rollup = self.rollup.lock().await;
        let source = *self.stats_source.get_or_init(|| self.ids.node());
        let rows = rollup.unconfirmed();
        if !rows.is_empty() {
            self.store.write_stats(source, rows).await?;
        }
        rollup.confirm();
        // The clock of the store, because the minutes of all processes are added up.
        let slot = StatsTier::Minute.slot_of(self.store.now().await?);
        let rows = rollup.tick(slot, self.meter.totals(), self.clock.monotonic());
        if !rows.is_empty() {
            self.store.write_stats(source, rows).await?;
        }
        rollup.confirm();
        Ok(())
    }

    /// Folds the statistics of the cluster, samples its queues, and deletes what is old. Does nothing unless this node
    /// leads.
    pub(crate) async fn keep_history(&self, node: NodeId) -> Result<(), StoreError> {
        let folded = self.fold_stats(node).await;
        let sampled = match self.sample_queues().await {
            Ok(rows) => self.store.write_gauges(node, rows).await.map(drop),
            Err(error) => Err(error),
        };
        folded.and(sampled)?;
        // Only if nothing failed: what is not folded must be kept.
        self.store.purge_stats(20_000).await.map(drop)
    }

    /// Folds all slots that have changed, if the node leads. After a long time without a leader, some are left for the next time.
    pub(crate) async fn fold_stats(&self, node: NodeId) -> Result<(), StoreError> {
        const BATCH: u32 = 10;
        const MOST_BATCHES: usize = 100;
        for _ in 0..MOST_BATCHES {
            if self.store.fold_stats(node, BATCH).await? == 0 {
                break;
            }
        }
        Ok(())
    }

    async fn sample_queues(&self) -> Result<Vec<GaugeRow>, StoreError> {
        let counts = self.store.counts().await?;
        let rules = self.store.queues().await?;
        let oldest = self.store.oldest_due().await?;
        let now = self.store.now().await?;
        let slot = StatsTier::Minute.slot_of(now);
        let sample = |(queue, counts): (String, ratchet_store::model::QueueCounts)| {
            let count = |state| counts.states.get(&state).copied().unwrap_or(0);
            let mut row = GaugeRow::new(slot, queue, now);
            row.depth = count(JobState::Pending);
            row.running = count(JobState::Running);
            row.paused = count(JobState::Paused);
            row.failed = count(JobState::Failed);
            let gate = rules.iter().find(|record| record.queue == row.queue);
            row.blocked_by = gate.and_then(|record| BlockedBy::of(record.gate));
            row.oldest_age = oldest.get(&row.queue).map_or(Duration::ZERO, |due| age(now, *due));
            row
        };
        Ok(counts.queues.into_iter().map(sample).take(MOST_QUEUES).collect())
    }
}

/// Returns how long ago a job became due, in whole microseconds, as stores keep it.
pub(crate) fn age(now: jiff::Timestamp, due: jiff::Timestamp) -> Duration {
    let micros = now.as_microsecond().saturating_sub(due.as_microsecond());
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}
