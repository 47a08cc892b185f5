//! [`Ratchet::stats`]: the history of metrics.

mod series;

use std::time::Duration;

use jiff::Timestamp;

use super::Ratchet;
use ratchet_store::StoreError;
use ratchet_store::model::{StatsBy, StatsQuery, StatsTier};
use ratchet_store::rules::stats::{first_kept, tier_for};

pub use series::{DurationStats, PointGauges, StatsPoint, StatsSeries, StatsSpan};

/// What [`Ratchet::stats`] covers unless set otherwise.
const DEFAULT_SPAN: Duration = Duration::from_hours(24);

impl Ratchet {
    /// Reads the history of metrics that the store keeps: how many runs were started and how they ended, how long jobs
    /// waited and ran, the depth of queues, the age of their oldest jobs, and deploys.
    ///
    /// Covers the whole cluster and the last 24 hours, unless set otherwise. The resolution follows from the span: minutes
    /// for a few hours, days for a year. The newest values are at most about a minute old.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let stats = ratchet.stats().last(Duration::from_hours(24)).queue("mail").points().await?;
    /// for point in &stats.points {
    ///     println!("{} {} runs, p95 {:?}", point.at, point.counts.started, point.run.p95);
    /// }
    /// # assert!(stats.points.len() >= 144);
    /// # Ok(())
    /// # }
    /// ```
    pub fn stats(&self) -> StatsRequest {
        StatsRequest {
            ratchet: self.clone(),
            span: Span::Last(DEFAULT_SPAN),
            queue: None,
            name: None,
            tier: None,
        }
    }

    /// Writes what this process has counted to the store. Workers do this every ten seconds and when they stop.
    ///
    /// Call it in a process without a worker, so that the jobs it submits are part of [`stats`](Self::stats).
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// ratchet.write_stats().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_stats(&self) -> Result<(), StoreError> {
        self.core.write_stats().await
    }
}

/// Which part of the history is read; see [`Ratchet::stats`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// let day = ratchet.stats().last(Duration::from_hours(24)).queue("mail").points().await?;
/// println!("{} runs were started", day.total().counts.started);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "call `points` or `series` to read the history"]
pub struct StatsRequest {
    ratchet: Ratchet,
    span: Span,
    queue: Option<String>,
    name: Option<String>,
    tier: Option<StatsTier>,
}

#[derive(Debug, Clone, Copy)]
enum Span {
    Last(Duration),
    Between(Timestamp, Timestamp),
}

impl StatsRequest {
    /// Covers this much time up to now.
    pub fn last(mut self, span: Duration) -> Self {
        self.span = Span::Last(span);
        self
    }

    /// Covers the time from `from` until `until`.
    pub fn between(mut self, from: Timestamp, until: Timestamp) -> Self {
        self.span = Span::Between(from, until);
        self
    }

    /// Covers only this queue.
    pub fn queue(mut self, queue: impl Into<String>) -> Self {
        self.queue = Some(queue.into());
        self
    }

    /// Covers only jobs with this name. Depth and age of queues are those of all of their jobs.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Reads this resolution, however many points that makes.
    pub fn tier(mut self, tier: StatsTier) -> Self {
        self.tier = Some(tier);
        self
    }

    /// Reads one point for every slot of the span. The points of different queues and jobs are added up.
    pub async fn points(self) -> Result<StatsSeries, StoreError> {
        let span = self.series(StatsBy::Slot).await?;
        let StatsSpan { tier, from, until, deploys, mut series } = span;
        let mut all = series.pop().unwrap_or_else(|| StatsSeries::empty(tier, from, until));
        all.deploys = deploys;
        Ok(all)
    }

    /// Reads one series per queue, per job name, or per both. Series without a point are absent.
    ///
    /// ```
    /// # use ratchet_core::{Ratchet, StatsBy};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let by_queue = ratchet.stats().series(StatsBy::Queue).await?;
    /// for series in &by_queue.series {
    ///     println!("{}: {} runs", series.queue, series.total().counts.started);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn series(self, by: StatsBy) -> Result<StatsSpan, StoreError> {
        let store = &self.ratchet.core.store;
        let now = store.now().await?;
        let (from, until) = match self.span {
            Span::Last(span) => (now.checked_sub(span).unwrap_or(Timestamp::MIN), now),
            Span::Between(from, until) => (from, until.max(from)),
        };
        let tier = self.tier.unwrap_or_else(|| tier_for(from, until, now));
        let mut query = StatsQuery::new(tier, from, until);
        // Nothing is kept outside of this range, so that the number of points is bounded.
        query.from = query.from.max(first_kept(tier, now));
        query.until = query.until.min(tier.slot_of(now).saturating_add(1)).max(query.from);
        (query.queue, query.name, query.by) = (self.queue, self.name, by);
        let history = store.stats(&query).await?;
        Ok(StatsSpan::new(&query, history))
    }
}
