//! Operations on the history of metrics.
//!
//! Slots are relative to the noon before the start, so that they divide into hours and days in the same way on a store
//! with a real clock and on one with a virtual clock.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{GaugeRow, Histogram, NodeId, StatRow, StatsBy, StatsQuery, StatsTier};

use super::driver::{Driver, TICK, ok};

/// Within how many minutes of the base everything is written. All of it is in the past at the start.
pub(super) const MINUTES: u32 = 12 * 60;

/// Writes are left out after this time, because a store may delete what is two days old.
const LAST: Duration = Duration::from_hours(10);

impl Driver<'_> {
    fn base(&self) -> Timestamp {
        let day = StatsTier::Day.start_of(StatsTier::Day.slot_of(self.normal.start));
        day - Duration::from_hours(12)
    }

    /// Returns whether statistics are still written.
    async fn is_early(&self) -> bool {
        let now = ok(self.store.now().await);
        self.normal.time(now) <= Timestamp::UNIX_EPOCH + LAST + TICK / 2
    }

    pub(super) async fn write_stats(&self, source: NodeId, rows: &[(u32, u8, u64)]) -> String {
        if !self.is_early().await {
            return String::new();
        }
        let first = StatsTier::Minute.slot_of(self.base());
        let row = |(minute, job, started): &(u32, u8, u64)| {
            let queue = if job % 2 == 0 { "default" } else { "other" };
            let name = if job / 2 == 0 { "mail" } else { "bill" };
            let mut row = StatRow::new(first + i64::from(*minute), queue, name);
            row.counts.started = *started;
            row.run = Histogram::from_parts(*started, Vec::new(), 1).expect("it is valid");
            row
        };
        ok(self.store.write_stats(source, rows.iter().map(row).collect()).await);
        String::new()
    }

    pub(super) async fn write_gauge(&self, node: NodeId, minutes: u32, depth: u32) -> String {
        let at = self.base() + Duration::from_mins(minutes.into());
        let mut sample = GaugeRow::new(0, "default", at);
        sample.depth = depth.into();
        sample.oldest_age = Duration::from_secs((depth * 7 % 5).into());
        format!("{:?}", ok(self.store.write_gauges(node, vec![sample]).await))
    }

    /// Returns the statistics of all tiers.
    pub(super) async fn stats(&self) -> String {
        let base = self.base();
        let mut reported = String::new();
        for tier in StatsTier::ALL {
            let first = tier.slot_of(base);
            let until = base + Duration::from_hours(24 * 60);
            let mut query = StatsQuery::new(tier, base, until);
            query.by = StatsBy::QueueAndName;
            let mut history = ok(self.store.stats(&query).await);
            for row in &mut history.rows {
                row.slot -= first;
            }
            for row in &mut history.gauges {
                row.slot -= first;
                row.at = Timestamp::UNIX_EPOCH + row.at.duration_since(base);
            }
            let _ = write!(reported, "\n{:?}\n{:?}", history.rows, history.gauges);
            let marks = history.deploys.iter().map(|mark| (&mark.program, &mark.binary_version));
            let _ = write!(reported, "\n{:?}", marks.collect::<Vec<_>>());
        }
        let oldest = ok(self.store.oldest_due().await);
        let oldest = oldest.into_iter().map(|(queue, due)| (queue, self.normal.time(due)));
        let _ = write!(reported, "\n{:?}", oldest.collect::<Vec<_>>());
        reported
    }
}
