//! The history of metrics. The rules are in [`ratchet_store::rules::stats`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::TryStreamExt as _;
use jiff::Timestamp;
use ratchet_store::model::{
    BlockedBy, DeployMark, GaugeRow, Histogram, NodeId, NodeInfo, StatCounts, StatRow, StatsBy,
    StatsHistory, StatsQuery, StatsTier,
};
use ratchet_store::rules::stats::{self, Slot, Sums};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::spec::{clean, clean_option, duration, instant, micros, to_i64, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};

impl Inner {
    pub(crate) async fn write_stats(
        &self,
        source: NodeId,
        rows: Vec<StatRow>,
    ) -> Result<(), Fault> {
        transact!(repeatable self, |db| {
            let now = instant(self.now(&mut *db).await?);
            let rows = rows.iter().filter(|row| stats::accepts(row.slot, now));
            self.save_rows(db, StatsTier::Minute, source.uuid(), rows).await?;
        })
    }

    /// Writes rows of a tier, and marks the slots above.
    async fn save_rows(
        &self,
        db: &mut PgConnection,
        tier: StatsTier,
        source: Uuid,
        rows: impl Iterator<Item = &StatRow>,
    ) -> Result<(), Fault> {
        // One row per key: a statement cannot write a row twice. The last one counts.
        let mut by_key = BTreeMap::new();
        for row in rows {
            by_key.insert((row.slot, clean(&row.queue), clean(&row.name)), row);
        }
        if by_key.is_empty() {
            return Ok(());
        }
        let marks: BTreeSet<Slot> =
            by_key.keys().filter_map(|(slot, ..)| stats::mark_above((tier, *slot))).collect();
        let mut columns: [Vec<i64>; StatCounts::NAMES.len()] = Default::default();
        let (mut waits, mut runs) = (Vec::new(), Vec::new());
        for row in by_key.values() {
            for (column, count) in columns.iter_mut().zip(row.counts.values()) {
                column.push(to_i64(count));
            }
            waits.push(row.wait.to_bytes());
            runs.push(row.run.to_bytes());
        }
        let mut query = db::query(self.sql.upsert_stats())
            .bind(tier.code())
            .bind(source)
            .bind(by_key.keys().map(|(slot, ..)| *slot).collect::<Vec<_>>())
            .bind(by_key.keys().map(|(_, queue, _)| queue.clone()).collect::<Vec<_>>())
            .bind(by_key.keys().map(|(.., name)| name.clone()).collect::<Vec<_>>());
        for column in columns {
            query = query.bind(column);
        }
        query.bind(waits).bind(runs).execute(&mut *db).await?;
        if !marks.is_empty() {
            db::query(self.sql.upsert_stat_marks())
                .bind(marks.iter().map(|(tier, _)| tier.code()).collect::<Vec<_>>())
                .bind(marks.iter().map(|(_, slot)| *slot).collect::<Vec<_>>())
                .execute(&mut *db)
                .await?;
        }
        Ok(())
    }

    /// Returns whether the node leads maintenance. It remains the leader until the commit.
    async fn lock_leader(&self, db: &mut PgConnection, node: NodeId) -> Result<bool, Fault> {
        let leads = db::query(self.sql.lock_leader()).bind(node.uuid());
        Ok(leads.fetch_optional(&mut *db).await?.is_some())
    }

    pub(crate) async fn fold_stats(&self, node: NodeId, limit: u32) -> Result<u32, Fault> {
        transact!(repeatable self, |db| {
            if self.lock_leader(db, node).await? { self.fold_within(db, limit).await? } else { 0 }
        })
    }

    async fn fold_within(&self, db: &mut PgConnection, limit: u32) -> Result<u32, Fault> {
        let marks = db::query(self.sql.select_stat_marks()).bind(i64::from(limit));
        let marks = marks.fetch_all(&mut *db).await?;
        let marks: Vec<Slot> = readable("mark", &marks, |row| {
            let tier = StatsTier::from_code(row.try_get::<i16, _>(0)?);
            let unknown = || sqlx::Error::Decode("unknown tier".into());
            Ok((tier.ok_or_else(unknown)?, row.try_get(1)?))
        })?;
        let next = stats::next_folds(marks, limit);
        for (tier, slot) in &next {
            // Locks the mark, so that the statements that follow see what its writers have written.
            let unmark = db::query(self.sql.delete_stat_mark()).bind(tier.code()).bind(*slot);
            unmark.execute(&mut *db).await?;
            let Some((below, slots)) = stats::sources((*tier, *slot)) else { continue };
            let mut query = StatsQuery::new(below, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
            (query.from, query.until, query.by) = (slots.start, slots.end, StatsBy::QueueAndName);
            let rows = stats::fold(*slot, self.stat_rows(db, &query).await?);
            self.save_rows(db, *tier, Uuid::nil(), rows.iter()).await?;
        }
        Ok(u32::try_from(next.len()).unwrap_or(u32::MAX))
    }

    /// Reads the rows of a tier and adds them up as they arrive, so that they are not all in memory at once.
    async fn stat_rows(
        &self,
        db: &mut PgConnection,
        query: &StatsQuery,
    ) -> Result<Vec<StatRow>, Fault> {
        let mut sums = Sums::new(query.by);
        let mut rows = db::query(self.sql.select_stats())
            .bind(query.tier.code())
            .bind(query.from)
            .bind(query.until)
            .bind(clean_option(query.queue.as_ref()))
            .bind(clean_option(query.name.as_ref()))
            .fetch(&mut *db);
        while let Some(row) = rows.try_next().await? {
            if let Some(row) = or_report("statistics", stat(&row))? {
                sums.add(row);
            }
        }
        Ok(sums.into_rows())
    }

    pub(crate) async fn write_gauges(
        &self,
        node: NodeId,
        samples: Vec<GaugeRow>,
    ) -> Result<bool, Fault> {
        transact!(repeatable self, |db| {
            let leads = self.lock_leader(db, node).await?;
            if leads {
                for tier in StatsTier::ALL {
                    self.save_gauges(db, tier, &samples).await?;
                }
            }
            leads
        })
    }

    /// Writes samples to the slots of a tier. All of them are usually in the same slot.
    async fn save_gauges(
        &self,
        db: &mut PgConnection,
        tier: StatsTier,
        samples: &[GaugeRow],
    ) -> Result<(), Fault> {
        let mut slots: BTreeMap<i64, BTreeMap<String, GaugeRow>> = BTreeMap::new();
        for sample in samples {
            let (slot, queue) = (tier.slot_of(sample.at), clean(&sample.queue));
            let rows = slots.entry(slot).or_default();
            let mut sample = sample.clone();
            (sample.slot, sample.queue) = (slot, queue.clone());
            let row = stats::merge_gauge(rows.remove(&queue), sample);
            rows.insert(queue, row);
        }
        for (slot, rows) in slots {
            let queues: Vec<_> = rows.keys().cloned().collect();
            let kept = db::query(self.sql.select_slot_gauges())
                .bind(tier.code())
                .bind(slot)
                .bind(&queues)
                .fetch_all(&mut *db)
                .await?;
            let kept = readable("gauge", &kept, gauge)?;
            let mut kept: HashMap<_, _> =
                kept.into_iter().map(|row| (row.queue.clone(), row)).collect();
            let rows: Vec<_> = rows
                .into_values()
                .map(|row| stats::merge_gauge(kept.remove(&row.queue), row))
                .collect();
            let numbers = |of: fn(&GaugeRow) -> i64| rows.iter().map(of).collect::<Vec<_>>();
            db::query(self.sql.upsert_gauges())
                .bind(tier.code())
                .bind(slot)
                .bind(queues)
                .bind(numbers(|row| row.at.as_microsecond()))
                .bind(numbers(|row| to_i64(row.depth)))
                .bind(numbers(|row| to_i64(row.running)))
                .bind(numbers(|row| to_i64(row.paused)))
                .bind(numbers(|row| to_i64(row.failed)))
                .bind(
                    rows.iter().map(|row| row.blocked_by.map(BlockedBy::code)).collect::<Vec<_>>(),
                )
                .bind(numbers(|row| micros(row.oldest_age)))
                .execute(&mut *db)
                .await?;
        }
        Ok(())
    }

    pub(crate) async fn purge_stats(&self, limit: u32) -> Result<u64, Fault> {
        let limit = i64::from(limit);
        transact!(repeatable self, |db| {
            let now = instant(self.now(&mut *db).await?);
            let mut deleted = 0;
            for tier in StatsTier::ALL {
                let first = stats::first_kept(tier, now);
                // Nothing is above the last tier, so nothing there is marked.
                let above = tier.above().unwrap_or(tier);
                let rows = db::query(self.sql.purge_stats())
                    .bind(tier.code())
                    .bind(first)
                    .bind(limit)
                    .bind(tier.above().map(StatsTier::code))
                    .bind(above.slot_in(1, tier));
                deleted += rows.execute(&mut *db).await?.rows_affected();
                let gauges = db::query(self.sql.purge_gauges()).bind(tier.code()).bind(first);
                deleted += gauges.bind(limit).execute(&mut *db).await?.rows_affected();
            }
            let horizon = now.checked_sub(DeployMark::KEPT).unwrap_or(Timestamp::MIN);
            let deploys = db::query(self.sql.purge_deploys()).bind(horizon.as_microsecond());
            deleted + deploys.bind(limit).execute(&mut *db).await?.rows_affected()
        })
    }

    pub(crate) async fn stats(&self, query: &StatsQuery) -> Result<StatsHistory, Fault> {
        let mut db = self.pool.acquire().await?;
        let rows = self.stat_rows(&mut db, query).await?;
        let gauges = db::query(self.sql.select_gauges())
            .bind(query.tier.code())
            .bind(query.from)
            .bind(query.until)
            .bind(clean_option(query.queue.as_ref()))
            .fetch_all(&mut *db)
            .await?;
        let deploys = db::query(self.sql.select_deploys())
            .bind(query.tier.start_of(query.from).as_microsecond())
            .bind(query.tier.start_of(query.until).as_microsecond())
            .fetch_all(&mut *db)
            .await?;
        db.done().await?;
        let deploy = |row: &PgRow| {
            let (program, version): (String, String) = (row.try_get(1)?, row.try_get(2)?);
            Ok(DeployMark::new(instant(row.try_get(0)?), program, version))
        };
        let gauges = readable("gauge", &gauges, gauge)?;
        Ok(StatsHistory::new(rows, gauges, readable("deploy", &deploys, deploy)?))
    }

    /// Records the deploy if a node of a new version joins.
    pub(crate) async fn mark_deploy(&self, node: &NodeInfo) -> Result<(), Fault> {
        let (program, version) = (clean(&node.declarations.program), clean(&node.binary_version));
        let last = db::query_scalar(self.sql.last_deploy()).bind(&program);
        let last: Option<String> = last.fetch_optional(&self.pool).await?;
        if version.is_empty() || last.as_ref() == Some(&version) {
            return Ok(());
        }
        transact!(repeatable self, |db| {
            db::query(self.sql.lock_deploys()).execute(&mut *db).await?;
            let last = db::query_scalar(self.sql.last_deploy()).bind(&program);
            let last: Option<String> = last.fetch_optional(&mut *db).await?;
            let others =
                db::query_scalar(self.sql.select_versions()).bind(&program).bind(node.id.uuid());
            let others: Vec<String> = others.fetch_all(&mut *db).await?;
            let others = others.iter().map(String::as_str);
            if stats::is_deploy(&version, last.as_deref(), others) {
                let insert = db::query(self.sql.insert_deploy()).bind(&program).bind(&version);
                insert.execute(&mut *db).await?;
            }
        })
    }

    pub(crate) async fn oldest_due(&self) -> Result<BTreeMap<String, Timestamp>, Fault> {
        let rows = db::query(self.sql.oldest_due()).fetch_all(&self.pool).await?;
        let read = |row: &PgRow| Ok((row.try_get(0)?, instant(row.try_get(1)?)));
        Ok(readable("queue", &rows, read)?.into_iter().collect())
    }
}

fn stat(row: &PgRow) -> Result<StatRow, sqlx::Error> {
    let (queue, name): (String, String) = (row.try_get(1)?, row.try_get(2)?);
    let mut stat = StatRow::new(row.try_get(0)?, queue, name);
    let mut counts = [0; StatCounts::NAMES.len()];
    for (column, count) in (3..).zip(&mut counts) {
        *count = to_u64(row.try_get(column)?);
    }
    stat.counts = StatCounts::from_values(counts);
    let histogram = |column| {
        Histogram::from_bytes(row.try_get(column)?)
            .map_err(|error| sqlx::Error::Decode(error.into()))
    };
    (stat.wait, stat.run) = (histogram(13)?, histogram(14)?);
    Ok(stat)
}

fn gauge(row: &PgRow) -> Result<GaugeRow, sqlx::Error> {
    let queue: String = row.try_get(1)?;
    let mut gauge = GaugeRow::new(row.try_get(0)?, queue, instant(row.try_get(2)?));
    gauge.depth = to_u64(row.try_get(3)?);
    gauge.running = to_u64(row.try_get(4)?);
    gauge.paused = to_u64(row.try_get(5)?);
    gauge.failed = to_u64(row.try_get(6)?);
    gauge.blocked_by = row.try_get::<Option<i16>, _>(7)?.and_then(BlockedBy::from_code);
    gauge.oldest_age = duration(row.try_get(8)?);
    Ok(gauge)
}
