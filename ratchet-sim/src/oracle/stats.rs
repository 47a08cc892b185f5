//! The history of metrics at the end of a schedule: every tier must contain what processes have written, and no process
//! may count more than the store has applied.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{Clock as _, IdSource, SeededEntropy};
use ratchet_store::Store as _;
use ratchet_store::model::{NodeId, NodeInfo, StatCounts, StatRow, StatsQuery, StatsTier, Verdict};

use super::Oracle;
use crate::wire::at_once;
use crate::world::World;

/// What was written and applied.
#[derive(Debug, Default)]
pub(super) struct StatsBook {
    /// The last row of every slot, queue, name and process.
    written: BTreeMap<(i64, String, String, NodeId), StatCounts>,
    /// The ends of runs that the store has applied.
    applied: StatCounts,
}

impl Oracle {
    /// Records rows that the store has accepted.
    pub(crate) fn stats_written(&mut self, source: NodeId, rows: &[StatRow]) {
        for row in rows {
            let key = (row.slot, row.queue.clone(), row.name.clone(), source);
            self.stats.written.insert(key, row.counts);
        }
    }

    pub(super) fn count_applied(&mut self, verdict: &Verdict) {
        let counts = &mut self.stats.applied;
        let count = match verdict {
            Verdict::Succeed { .. } => &mut counts.succeeded,
            Verdict::Retry { .. } => &mut counts.retried,
            Verdict::Defer { .. } => &mut counts.deferred,
            Verdict::Release => &mut counts.released,
            Verdict::Rescue { .. } => &mut counts.rescued,
            Verdict::Fail { .. } => &mut counts.failed,
        };
        *count += 1;
    }

    /// Compares every tier with what was written, and that with what was applied. Returns how many runs were counted, and
    /// how many have ended.
    pub(crate) fn judge_stats(&mut self, world: &World) -> (u64, u64) {
        let mut sum = StatCounts::default();
        self.stats.written.values().for_each(|counts| sum.add(counts));
        let tiers = fold_all(world);
        for (tier, counts) in StatsTier::ALL.into_iter().zip(tiers) {
            if counts != sum {
                self.accuse(|| format!("{tier:?} contains {counts:?}, written was {sum:?}"));
            }
        }
        let applied = self.stats.applied;
        for ((name, counted), applied) in
            StatCounts::NAMES.iter().zip(sum.values()).zip(applied.values())
        {
            // A process that dies loses its last seconds, so it may count less.
            let is_end = !matches!(*name, "submitted" | "started" | "canceled" | "timed_out");
            if is_end && counted > applied {
                self.accuse(|| format!("{counted} runs were counted as {name}, {applied} have"));
            }
        }
        (sum.ended() - sum.canceled, applied.ended())
    }
}

/// Folds everything as a leader of its own, and returns what each tier contains.
fn fold_all(world: &World) -> [StatCounts; 4] {
    let (store, clock) = (&world.store, &world.clock);
    // Until then, the last leader of the cluster leads.
    clock.advance(Duration::from_mins(5));
    let entropy = Arc::new(SeededEntropy::new(0));
    let leader = IdSource::new(Arc::new(clock.clone()), entropy).node();
    let lease = Duration::from_mins(10);
    at_once(store.join(NodeInfo::new(leader), lease)).expect("it has a new id");
    assert!(at_once(store.try_lead(leader, lease)).expect("the memory store does not fail"));
    while at_once(store.fold_stats(leader, 3)).expect("the memory store does not fail") > 0 {}
    StatsTier::ALL.map(|tier| {
        let mut query = StatsQuery::new(tier, clock.now(), clock.now());
        (query.from, query.until) = (i64::MIN, i64::MAX);
        let history = at_once(store.stats(&query)).expect("the memory store does not fail");
        let mut sum = StatCounts::default();
        history.rows.iter().for_each(|row| sum.add(&row.counts));
        sum
    })
}
