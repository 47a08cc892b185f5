//! The history of metrics.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::model::{
    DeployMark, GaugeRow, NodeId, NodeInfo, StatRow, StatsHistory, StatsQuery, StatsTier,
};
use ratchet_store::rules::stats::{self, Slot, Sums};

/// The node of rows in the tiers above the minute tier.
const ALL_NODES: NodeId = NodeId::from_uuid(uuid::Uuid::nil());

/// The key of a row: tier, slot, queue, job name and node.
type Key = (StatsTier, i64, String, String, NodeId);

/// The rows of all tiers.
#[derive(Debug, Default)]
pub(super) struct Stats {
    rows: BTreeMap<Key, StatRow>,
    /// Slots that must be folded.
    marks: BTreeSet<Slot>,
    gauges: BTreeMap<(StatsTier, i64, String), GaugeRow>,
    /// In the order in which they were left.
    deploys: Vec<DeployMark>,
}

impl Stats {
    pub(super) fn write(&mut self, source: NodeId, rows: Vec<StatRow>, now: Timestamp) {
        for row in rows.into_iter().filter(|row| stats::accepts(row.slot, now)) {
            self.put(StatsTier::Minute, source, row);
        }
    }

    fn put(&mut self, tier: StatsTier, node: NodeId, row: StatRow) {
        self.marks.extend(stats::mark_above((tier, row.slot)));
        let key = (tier, row.slot, row.queue.clone(), row.name.clone(), node);
        self.rows.insert(key, row);
    }

    /// Returns the rows of a tier in a range of slots.
    fn range(
        &self,
        tier: StatsTier,
        slots: std::ops::Range<i64>,
    ) -> impl Iterator<Item = (&Key, &StatRow)> {
        let start = (tier, slots.start, String::new(), String::new(), ALL_NODES);
        let rows = self.rows.range(start..);
        rows.take_while(move |((of, slot, ..), _)| *of == tier && *slot < slots.end)
    }

    fn fold(&mut self, limit: u32) -> u32 {
        let next = stats::next_folds(self.marks.iter().copied(), limit);
        for (tier, slot) in &next {
            self.marks.remove(&(*tier, *slot));
            let Some((below, slots)) = stats::sources((*tier, *slot)) else { continue };
            let rows: Vec<_> = self.range(below, slots).map(|(_, row)| row.clone()).collect();
            for row in stats::fold(*slot, rows) {
                self.put(*tier, ALL_NODES, row);
            }
        }
        u32::try_from(next.len()).unwrap_or(u32::MAX)
    }

    fn write_gauges(&mut self, samples: Vec<GaugeRow>) {
        for mut sample in samples {
            for tier in StatsTier::ALL {
                sample.slot = tier.slot_of(sample.at);
                let key = (tier, sample.slot, sample.queue.clone());
                let kept = self.gauges.remove(&key);
                self.gauges.insert(key, stats::merge_gauge(kept, sample.clone()));
            }
        }
    }

    pub(super) fn purge(&mut self, limit: u32, now: Timestamp) -> u64 {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut deleted = 0;
        let is_old = |tier: StatsTier, slot: i64| slot < stats::first_kept(tier, now);
        let is_marked =
            |slot| stats::mark_above(slot).is_some_and(|mark| self.marks.contains(&mark));
        let rows = self.rows.keys().filter(|(tier, slot, ..)| is_old(*tier, *slot));
        let rows = rows.filter(|(tier, slot, ..)| !is_marked((*tier, *slot)));
        let rows: Vec<_> = rows.take(limit).cloned().collect();
        for key in &rows {
            self.rows.remove(key);
        }
        deleted += rows.len();
        let gauges = self.gauges.keys().filter(|(tier, slot, _)| is_old(*tier, *slot));
        let gauges: Vec<_> = gauges.take(limit).cloned().collect();
        for key in &gauges {
            self.gauges.remove(key);
        }
        deleted += gauges.len();
        let horizon = now.checked_sub(DeployMark::KEPT).unwrap_or(Timestamp::MIN);
        let mut left = limit;
        self.deploys.retain(|mark| {
            let delete = mark.at < horizon && left > 0;
            if delete {
                (left, deleted) = (left - 1, deleted + 1);
            }
            !delete
        });
        deleted as u64
    }

    pub(super) fn query(&self, query: &StatsQuery) -> StatsHistory {
        let mut sums = Sums::new(query.by);
        let rows = self.range(query.tier, query.from..query.until).map(|(_, row)| row);
        for row in rows.filter(|row| stats::wants(query, row)) {
            sums.add(row.clone());
        }
        let wanted = |(tier, slot, queue): &(StatsTier, i64, String)| {
            *tier == query.tier
                && (query.from..query.until).contains(slot)
                && query.queue.as_ref().is_none_or(|wanted| wanted == queue)
        };
        let gauges = self.gauges.iter().filter(|(key, _)| wanted(key));
        let span = query.tier.start_of(query.from)..query.tier.start_of(query.until);
        let deploys = self.deploys.iter().filter(|mark| span.contains(&mark.at));
        StatsHistory::new(
            sums.into_rows(),
            gauges.map(|(_, row)| row.clone()).collect(),
            deploys.cloned().collect(),
        )
    }
}

impl Tables {
    pub(super) fn fold_stats(&mut self, node: NodeId, limit: u32, now: Timestamp) -> u32 {
        if self.nodes.leads(node, now) { self.stats.fold(limit) } else { 0 }
    }

    pub(super) fn write_gauges(
        &mut self,
        node: NodeId,
        rows: Vec<GaugeRow>,
        now: Timestamp,
    ) -> bool {
        let leads = self.nodes.leads(node, now);
        if leads {
            self.stats.write_gauges(rows);
        }
        leads
    }

    /// Records the deploy if a node of a new version joins.
    pub(super) fn mark_deploy(&mut self, info: &NodeInfo, now: Timestamp) {
        let program = &info.declarations.program;
        let others = self.nodes.alive(now).filter(|other| other.id != info.id);
        let others = others.filter(|other| other.declarations.program == *program);
        let last = self.stats.deploys.iter().rev().find(|mark| mark.program == *program);
        let last = last.map(|mark| mark.binary_version.as_str());
        let others = others.map(|other| other.binary_version.as_str());
        if stats::is_deploy(&info.binary_version, last, others) {
            let mark = DeployMark::new(now, program.clone(), info.binary_version.clone());
            self.stats.deploys.push(mark);
        }
    }

    pub(super) fn oldest_due(&self, now: Timestamp) -> BTreeMap<String, Timestamp> {
        let mut oldest = BTreeMap::new();
        let jobs = self.jobs.values().map(|row| &row.job);
        for job in jobs.filter(|job| job.is_claimable() && job.due <= now) {
            let due = oldest.entry(job.spec.queue.clone()).or_insert(job.due);
            *due = job.due.min(*due);
        }
        oldest
    }
}
