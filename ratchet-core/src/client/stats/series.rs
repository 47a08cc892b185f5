//! The history of metrics as series of points.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

use ratchet_store::model::{
    DeployMark, GaugeRow, Histogram, StatCounts, StatRow, StatsBy, StatsHistory, StatsQuery,
    StatsTier,
};

/// A part of the history, as one series per queue, job name or both; see
/// [`StatsRequest::series`](super::StatsRequest::series).
///
/// ```
/// # mod ratchet { pub use ratchet_core as metrics; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::metrics::StatsBy;
///
/// let day = ratchet.stats().series(StatsBy::Name).await?;
/// for series in &day.series {
///     println!("{}: {} dead letters", series.name, series.total().counts.failed);
/// }
/// for deploy in &day.deploys {
///     println!("{} {} since {}", deploy.program, deploy.binary_version, deploy.at);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatsSpan {
    /// The resolution.
    pub tier: StatsTier,
    /// When the first point begins.
    pub from: Timestamp,
    /// When the last point ends.
    pub until: Timestamp,
    /// The series, ordered by queue and name.
    pub series: Vec<StatsSeries>,
    /// The deploys in this time, oldest first.
    pub deploys: Vec<DeployMark>,
}

/// The points of one queue, job name or both, or of everything; see [`StatsRequest::points`](super::StatsRequest::points).
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// let mail = ratchet.stats().queue("mail").points().await?;
/// let busiest = mail.points.iter().max_by_key(|point| point.counts.started);
/// if let Some(busiest) = busiest {
///     println!("{} runs were started at {}", busiest.counts.started, busiest.at);
/// }
/// println!("{} runs in all", mail.total().counts.started);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatsSeries {
    /// The resolution.
    pub tier: StatsTier,
    /// The queue. Empty if the values of all queues are added up.
    pub queue: String,
    /// The job name. Empty if the values of all jobs are added up.
    pub name: String,
    /// One point per slot, oldest first, without gaps.
    pub points: Vec<StatsPoint>,
    /// The deploys in this time, oldest first. Empty in a series of a [`StatsSpan`], which has its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deploys: Vec<DeployMark>,
}

/// The values of one slot of time.
///
/// ```
/// # mod ratchet { pub use ratchet_core as metrics; }
/// use ratchet::metrics::StatsPoint;
///
/// fn show(point: &StatsPoint) {
///     println!("{}: {} started, {} failed", point.at, point.counts.started, point.counts.failed);
///     println!("median wait {:?}, p95 of runs {:?}", point.wait.p50, point.run.p95);
///     if let Some(gauges) = &point.gauges {
///         println!("{} jobs waited", gauges.depth);
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatsPoint {
    /// When the slot begins.
    pub at: Timestamp,
    /// How many runs were started, and how they ended.
    pub counts: StatCounts,
    /// How long jobs had been due when they were claimed.
    pub wait: DurationStats,
    /// How long runs took.
    pub run: DurationStats,
    /// The state of the queue, or of all queues; `None` if it was not sampled, or in a series by job name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gauges: Option<PointGauges>,
}

/// The distribution of durations. The quantiles are exact to within 9 %.
///
/// ```
/// # mod ratchet { pub use ratchet_core as metrics; }
/// use ratchet::metrics::{DurationStats, Histogram};
/// use std::time::Duration;
///
/// // 99 runs of about 0.1 s, and one of about 30 s.
/// let runs = Histogram::from_parts(0, vec![(-14, 99), (19, 1)], 40_000_000_000).expect("it is valid");
/// let runs = DurationStats::new(runs);
/// assert_eq!((runs.count, runs.mean), (100, Some(Duration::from_millis(400))));
/// assert!(runs.p99 < Some(Duration::from_millis(110)));
/// assert!(runs.histogram.quantile(1.0) > Some(25.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DurationStats {
    /// How many durations were measured.
    pub count: u64,
    /// The mean; `None` if nothing was measured.
    #[serde(serialize_with = "seconds")]
    pub mean: Option<Duration>,
    /// The median.
    #[serde(serialize_with = "seconds")]
    pub p50: Option<Duration>,
    /// Which 95 % of the durations did not exceed.
    #[serde(serialize_with = "seconds")]
    pub p95: Option<Duration>,
    /// Which 99 % of the durations did not exceed.
    #[serde(serialize_with = "seconds")]
    pub p99: Option<Duration>,
    /// The whole distribution, for other quantiles.
    #[serde(skip)]
    pub histogram: Histogram,
}

/// In JSON, durations are seconds.
#[allow(clippy::ref_option)] // the signature that `serde` needs
fn seconds<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    duration.map(|duration| duration.as_secs_f64()).serialize(serializer)
}

fn age_seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

impl DurationStats {
    /// Creates the summary of a histogram of seconds.
    pub fn new(histogram: Histogram) -> Self {
        let duration = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let quantile = |quantile| histogram.quantile(quantile).map(duration);
        Self {
            count: histogram.count(),
            mean: histogram.mean().map(duration),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            histogram,
        }
    }
}

/// The state of queues in a slot of time.
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// let mail = ratchet.stats().queue("mail").points().await?;
/// let sampled = mail.points.iter().filter_map(|point| point.gauges.as_ref());
/// let deepest = sampled.map(|gauges| gauges.depth).max();
/// println!("at most {} jobs waited", deepest.unwrap_or_default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PointGauges {
    /// Pending jobs, including those that are due later.
    pub depth: u64,
    /// Running jobs.
    pub running: u64,
    /// Paused jobs.
    pub paused: u64,
    /// Dead letters.
    pub failed: u64,
    /// Pending jobs of queues from which nothing could be claimed, by cause: `paused`, `concurrency` or `rate`.
    pub blocked: BTreeMap<&'static str, u64>,
    /// How long the oldest job had been due without being claimed.
    #[serde(serialize_with = "age_seconds")]
    pub oldest_age: Duration,
}

impl PointGauges {
    fn add(&mut self, row: &GaugeRow) {
        self.depth += row.depth;
        self.running += row.running;
        self.paused += row.paused;
        self.failed += row.failed;
        if let Some(cause) = row.blocked_by {
            *self.blocked.entry(cause.name()).or_default() += row.depth;
        }
        self.oldest_age = self.oldest_age.max(row.oldest_age);
    }
}

impl StatsPoint {
    fn new(at: Timestamp, row: Option<StatRow>, gauges: Option<PointGauges>) -> Self {
        let StatRow { counts, wait, run, .. } = row.unwrap_or_default();
        let (wait, run) = (DurationStats::new(wait), DurationStats::new(run));
        Self { at, counts, wait, run, gauges }
    }
}

impl StatsSeries {
    pub(super) fn empty(tier: StatsTier, from: Timestamp, until: Timestamp) -> Self {
        let slots = tier.slot_of(from)..tier.slot_of(until);
        let point = |slot| StatsPoint::new(tier.start_of(slot), None, None);
        let points = slots.map(point).collect();
        Self { tier, queue: String::new(), name: String::new(), points, deploys: Vec::new() }
    }

    /// Returns the sum of all points. Its gauges are those of the last sample, with the longest age of all.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let today = ratchet.stats().points().await?.total();
    /// println!("{} runs, {} failed", today.counts.started, today.counts.failed);
    /// # Ok(())
    /// # }
    /// ```
    pub fn total(&self) -> StatsPoint {
        let mut sum = StatRow::default();
        let mut gauges: Option<PointGauges> = None;
        for point in &self.points {
            sum.counts.add(&point.counts);
            sum.wait.merge(&point.wait.histogram);
            sum.run.merge(&point.run.histogram);
            if let Some(sample) = &point.gauges {
                let longest = gauges.map_or(Duration::ZERO, |gauges| gauges.oldest_age);
                let oldest_age = sample.oldest_age.max(longest);
                gauges = Some(PointGauges { oldest_age, ..sample.clone() });
            }
        }
        let at = self.points.first().map_or(Timestamp::UNIX_EPOCH, |point| point.at);
        StatsPoint::new(at, Some(sum), gauges)
    }
}

impl StatsSpan {
    pub(super) fn new(query: &StatsQuery, history: StatsHistory) -> Self {
        let tier = query.tier;
        let mut rows: BTreeMap<(String, String), BTreeMap<i64, StatRow>> = BTreeMap::new();
        for row in history.rows {
            let key = (row.queue.clone(), row.name.clone());
            rows.entry(key).or_default().insert(row.slot, row);
        }
        let mut gauges: BTreeMap<String, BTreeMap<i64, PointGauges>> = BTreeMap::new();
        for row in &history.gauges {
            let queue = match query.by {
                StatsBy::Slot => String::new(),
                StatsBy::Queue => row.queue.clone(),
                // A queue is not part of a job.
                StatsBy::Name | StatsBy::QueueAndName => break,
            };
            rows.entry((queue.clone(), String::new())).or_default();
            gauges.entry(queue).or_default().entry(row.slot).or_default().add(row);
        }
        let series = rows.into_iter().map(|((queue, name), mut rows)| {
            let mut samples = gauges.remove(&queue).unwrap_or_default();
            let point = |slot| {
                StatsPoint::new(tier.start_of(slot), rows.remove(&slot), samples.remove(&slot))
            };
            let points = (query.from..query.until).map(point).collect();
            StatsSeries { tier, queue, name, points, deploys: Vec::new() }
        });
        Self {
            tier,
            from: tier.start_of(query.from),
            until: tier.start_of(query.until),
            series: series.collect(),
            deploys: history.deploys,
        }
    }
}

#[cfg(test)]
mod tests {
    use ratchet_store::model::BlockedBy;

    use super::*;

    fn query(by: StatsBy) -> StatsQuery {
        let mut query =
            StatsQuery::new(StatsTier::Minute, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        (query.from, query.until, query.by) = (10, 13, by);
        query
    }

    fn row(slot: i64, queue: &str, started: u64) -> StatRow {
        let mut row = StatRow::new(slot, queue, "");
        row.counts.started = started;
        row.run = Histogram::from_parts(0, vec![(-1, started)], 1_000_000_000).expect("valid");
        row
    }

    fn gauge(slot: i64, queue: &str, depth: u64, age: u64) -> GaugeRow {
        let mut row = GaugeRow::new(slot, queue, StatsTier::Minute.start_of(slot));
        (row.depth, row.oldest_age) = (depth, Duration::from_secs(age));
        row.blocked_by = (depth > 5).then_some(BlockedBy::Paused);
        row
    }

    #[test]
    fn m_02_a_series_has_a_point_for_every_slot() {
        let rows = vec![row(10, "", 2), row(12, "", 3)];
        let gauges = vec![gauge(10, "a", 9, 5), gauge(10, "b", 1, 7), gauge(12, "a", 2, 1)];
        let history = StatsHistory::new(rows, gauges, Vec::new());
        let span = StatsSpan::new(&query(StatsBy::Slot), history);
        assert_eq!((span.from.as_second(), span.until.as_second()), (600, 780));
        assert_eq!(span.series.len(), 1);
        let points = &span.series[0].points;
        let started: Vec<_> = points.iter().map(|point| point.counts.started).collect();
        assert_eq!(started, [2, 0, 3]);
        assert_eq!((points[1].run.p95, points[1].gauges.as_ref()), (None, None));
        let p50 = points[0].run.p50.expect("it was measured").as_secs_f64();
        assert!((p50 - 1.0).abs() < 0.09, "{p50}");
        let first = points[0].gauges.as_ref().expect("it was sampled");
        assert_eq!((first.depth, first.oldest_age.as_secs()), (10, 7));
        assert_eq!(first.blocked, BTreeMap::from([("paused", 9)]));
        let total = span.series[0].total();
        assert_eq!((total.counts.started, total.run.count), (5, 5));
        let gauges = total.gauges.expect("it was sampled");
        assert_eq!((gauges.depth, gauges.oldest_age.as_secs()), (2, 7));
    }

    #[test]
    fn m_02_a_queue_without_runs_has_a_series_if_it_was_sampled() {
        let gauges = vec![gauge(11, "idle", 1, 3)];
        let history = StatsHistory::new(vec![row(10, "busy", 2)], gauges, Vec::new());
        let span = StatsSpan::new(&query(StatsBy::Queue), history);
        let queues: Vec<_> = span.series.iter().map(|series| &*series.queue).collect();
        assert_eq!(queues, ["busy", "idle"]);
        assert_eq!(span.series[1].total().gauges.expect("it was sampled").depth, 1);
    }
}
