//! The history of metrics. The rules are in [`ratchet_store::rules::stats`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use jiff::Timestamp;
use ratchet_store::model::{
    BlockedBy, DeployMark, GaugeRow, Histogram, NodeId, NodeInfo, StatCounts, StatRow, StatsBy,
    StatsHistory, StatsQuery, StatsTier,
};
use ratchet_store::rules::stats::{self, Slot, Sums};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::{or_report, readable};
use crate::value::{bytes, number, time};

/// The source of rows in the tiers above the minute tier.
const ALL_SOURCES: &[u8] = &[];

impl Session<'_> {
    pub(crate) async fn write_stats(
        &mut self,
        source: NodeId,
        rows: &[StatRow],
    ) -> Result<(), sqlx::Error> {
        let source = bytes(source.uuid());
        let now = self.now;
        let rows = rows.iter().filter(|row| stats::accepts(row.slot, now));
        self.save_rows(StatsTier::Minute, &source, rows).await
    }

    /// Writes rows of a tier, and marks the slots above.
    async fn save_rows(
        &mut self,
        tier: StatsTier,
        source: &[u8],
        rows: impl Iterator<Item = &StatRow>,
    ) -> Result<(), sqlx::Error> {
        let mut marks = BTreeSet::new();
        for row in rows {
            marks.extend(stats::mark_above((tier, row.slot)));
            let mut query = sqlx::query(sql::stats::SAVE_ROW)
                .bind(tier.code())
                .bind(row.slot)
                .bind(row.queue.as_str())
                .bind(row.name.as_str())
                .bind(source);
            for count in row.counts.values() {
                query = query.bind(i64::try_from(count).unwrap_or(i64::MAX));
            }
            query = query.bind(row.wait.to_bytes()).bind(row.run.to_bytes());
            query.execute(&mut *self.conn).await?;
        }
        for (tier, slot) in marks {
            let mark = sqlx::query(sql::stats::MARK).bind(tier.code()).bind(slot);
            mark.execute(&mut *self.conn).await?;
        }
        Ok(())
    }

    async fn leads(&mut self, node: NodeId) -> Result<bool, sqlx::Error> {
        let leads = sqlx::query(sql::stats::LEADS).bind(bytes(node.uuid())).bind(self.micros());
        Ok(leads.fetch_optional(&mut *self.conn).await?.is_some())
    }

    pub(crate) async fn fold_stats(
        &mut self,
        node: NodeId,
        limit: u32,
    ) -> Result<u32, sqlx::Error> {
        if !self.leads(node).await? {
            return Ok(0);
        }
        let marks = sqlx::query(sql::stats::LIST_MARKS).bind(i64::from(limit));
        let marks = marks.fetch_all(&mut *self.conn).await?;
        let marks: Vec<Slot> =
            readable("mark", &marks, |row| Ok((tier(row.try_get(0)?)?, row.try_get(1)?)))?;
        let next = stats::next_folds(marks, limit);
        for (tier, slot) in &next {
            let unmark = sqlx::query(sql::stats::UNMARK).bind(tier.code()).bind(*slot);
            unmark.execute(&mut *self.conn).await?;
            let Some((below, slots)) = stats::sources((*tier, *slot)) else { continue };
            let mut query = StatsQuery::new(below, self.now, self.now);
            (query.from, query.until) = (slots.start, slots.end);
            query.by = StatsBy::QueueAndName;
            let rows = stats::fold(*slot, rows(self.conn, &query).await?);
            self.save_rows(*tier, ALL_SOURCES, rows.iter()).await?;
        }
        Ok(u32::try_from(next.len()).unwrap_or(u32::MAX))
    }

    pub(crate) async fn write_gauges(
        &mut self,
        node: NodeId,
        samples: &[GaugeRow],
    ) -> Result<bool, sqlx::Error> {
        if !self.leads(node).await? {
            return Ok(false);
        }
        for sample in samples {
            for tier in StatsTier::ALL {
                let slot = tier.slot_of(sample.at);
                let kept = sqlx::query(sql::stats::GET_GAUGE)
                    .bind(tier.code())
                    .bind(slot)
                    .bind(sample.queue.as_str());
                let kept = kept.fetch_optional(&mut *self.conn).await?;
                let kept = match kept {
                    Some(row) => or_report("gauge", gauge(&row))?,
                    None => None,
                };
                let mut sample = sample.clone();
                sample.slot = slot;
                self.save_gauge(tier, &stats::merge_gauge(kept, sample)).await?;
            }
        }
        Ok(true)
    }

    async fn save_gauge(&mut self, tier: StatsTier, row: &GaugeRow) -> Result<(), sqlx::Error> {
        let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        sqlx::query(sql::stats::SAVE_GAUGE)
            .bind(tier.code())
            .bind(row.slot)
            .bind(row.queue.as_str())
            .bind(row.at.as_microsecond())
            .bind(count(row.depth))
            .bind(count(row.running))
            .bind(count(row.paused))
            .bind(count(row.failed))
            .bind(row.blocked_by.map(BlockedBy::code))
            .bind(i64::try_from(row.oldest_age.as_micros()).unwrap_or(i64::MAX))
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    pub(crate) async fn purge_stats(&mut self, limit: u32) -> Result<u64, sqlx::Error> {
        let limit = i64::from(limit);
        let mut deleted = 0;
        for tier in StatsTier::ALL {
            let first = stats::first_kept(tier, self.now);
            // Nothing is above the last tier, so nothing there is marked.
            let above = tier.above().unwrap_or(tier);
            let rows = sqlx::query(sql::stats::PURGE_ROWS)
                .bind(tier.code())
                .bind(first)
                .bind(limit)
                .bind(tier.above().map(StatsTier::code))
                .bind(above.slot_in(1, tier));
            deleted += rows.execute(&mut *self.conn).await?.rows_affected();
            let gauges =
                sqlx::query(sql::stats::PURGE_GAUGES).bind(tier.code()).bind(first).bind(limit);
            deleted += gauges.execute(&mut *self.conn).await?.rows_affected();
        }
        let horizon = self.now.checked_sub(DeployMark::KEPT).unwrap_or(Timestamp::MIN);
        let deploys =
            sqlx::query(sql::stats::PURGE_DEPLOYS).bind(horizon.as_microsecond()).bind(limit);
        deleted += deploys.execute(&mut *self.conn).await?.rows_affected();
        Ok(deleted)
    }

    /// Records the deploy if a node of a new version joins.
    pub(crate) async fn mark_deploy(&mut self, node: &NodeInfo) -> Result<(), sqlx::Error> {
        let program = node.declarations.program.as_str();
        let last = sqlx::query_scalar::<_, String>(sql::stats::LAST_DEPLOY).bind(program);
        let last = last.fetch_optional(&mut *self.conn).await?;
        if last.as_ref() == Some(&node.binary_version) {
            return Ok(());
        }
        let others = sqlx::query_scalar::<_, String>(sql::stats::LIST_VERSIONS)
            .bind(program)
            .bind(bytes(node.id.uuid()))
            .bind(self.micros());
        let others = others.fetch_all(&mut *self.conn).await?;
        let others = others.iter().map(String::as_str);
        if stats::is_deploy(&node.binary_version, last.as_deref(), others) {
            sqlx::query(sql::stats::INSERT_DEPLOY)
                .bind(self.micros())
                .bind(program)
                .bind(node.binary_version.as_str())
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(())
    }
}

impl Look<'_> {
    pub(crate) async fn stats(&mut self, query: &StatsQuery) -> Result<StatsHistory, sqlx::Error> {
        let rows = rows(self.conn, query).await?;
        let gauges = sqlx::query(sql::stats::LIST_GAUGES)
            .bind(query.tier.code())
            .bind(query.from)
            .bind(query.until)
            .bind(query.queue.as_deref())
            .fetch_all(&mut *self.conn)
            .await?;
        let deploys = sqlx::query(sql::stats::LIST_DEPLOYS)
            .bind(query.tier.start_of(query.from).as_microsecond())
            .bind(query.tier.start_of(query.until).as_microsecond())
            .fetch_all(&mut *self.conn)
            .await?;
        let deploy = |row: &SqliteRow| {
            let (program, version): (String, String) = (row.try_get(1)?, row.try_get(2)?);
            Ok(DeployMark::new(time(row.try_get(0)?)?, program, version))
        };
        Ok(StatsHistory::new(
            rows,
            readable("gauge", &gauges, gauge)?,
            readable("deploy", &deploys, deploy)?,
        ))
    }

    pub(crate) async fn oldest_due(&mut self) -> Result<BTreeMap<String, Timestamp>, sqlx::Error> {
        let rows = sqlx::query(sql::stats::OLDEST_DUE).bind(self.now);
        let rows = rows.fetch_all(&mut *self.conn).await?;
        let read = |row: &SqliteRow| Ok((row.try_get(0)?, time(row.try_get(1)?)?));
        Ok(readable("queue", &rows, read)?.into_iter().collect())
    }
}

/// Reads the rows of a tier and adds them up as they arrive, so that they are not all in memory at once.
async fn rows(
    conn: &mut SqliteConnection,
    query: &StatsQuery,
) -> Result<Vec<StatRow>, sqlx::Error> {
    let mut sums = Sums::new(query.by);
    let mut rows = sqlx::query(sql::stats::LIST_ROWS)
        .bind(query.tier.code())
        .bind(query.from)
        .bind(query.until)
        .bind(query.queue.as_deref())
        .bind(query.name.as_deref())
        .fetch(conn);
    while let Some(row) = rows.try_next().await? {
        if let Some(row) = or_report("statistics", stat(&row))? {
            sums.add(row);
        }
    }
    Ok(sums.into_rows())
}

fn tier(code: i64) -> Result<StatsTier, sqlx::Error> {
    StatsTier::from_code(code).ok_or_else(|| sqlx::Error::Decode("unknown tier".into()))
}

fn stat(row: &SqliteRow) -> Result<StatRow, sqlx::Error> {
    let (queue, name): (String, String) = (row.try_get(1)?, row.try_get(2)?);
    let mut stat = StatRow::new(row.try_get(0)?, queue, name);
    let mut counts = [0; StatCounts::NAMES.len()];
    for (column, count) in (3..).zip(&mut counts) {
        *count = number(row.try_get(column)?)?;
    }
    stat.counts = StatCounts::from_values(counts);
    let histogram = |column| {
        Histogram::from_bytes(row.try_get(column)?)
            .map_err(|error| sqlx::Error::Decode(error.into()))
    };
    (stat.wait, stat.run) = (histogram(13)?, histogram(14)?);
    Ok(stat)
}

fn gauge(row: &SqliteRow) -> Result<GaugeRow, sqlx::Error> {
    let queue: String = row.try_get(1)?;
    let mut gauge = GaugeRow::new(row.try_get(0)?, queue, time(row.try_get(2)?)?);
    gauge.depth = number(row.try_get(3)?)?;
    gauge.running = number(row.try_get(4)?)?;
    gauge.paused = number(row.try_get(5)?)?;
    gauge.failed = number(row.try_get(6)?)?;
    gauge.blocked_by = row.try_get::<Option<i64>, _>(7)?.and_then(BlockedBy::from_code);
    gauge.oldest_age = Duration::from_micros(number(row.try_get(8)?)?);
    Ok(gauge)
}
