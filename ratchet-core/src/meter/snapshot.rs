//! [`Metrics`]: what was measured, at one point in time.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::table::{Metric, MetricKind};
use ratchet_store::model::Histogram;

/// The metrics of a process at one point in time; see [`Ratchet::metrics`](crate::Ratchet::metrics).
///
/// Metrics without a series are absent.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as metrics}; }
/// # fn demo(ratchet: &ratchet_core::Ratchet, earlier: &ratchet_core::Metrics) {
/// use ratchet::metrics::{MetricValue, Metrics};
///
/// let recent: Metrics = ratchet.metrics().since(earlier);
/// println!("{} runs since then", recent.total("ratchet.job.started", &["mail"]));
/// let duration = recent.get("ratchet.job.run.duration", &["mail", "shop.send_email"]);
/// if let Some(MetricValue::Histogram(duration)) = duration {
///     println!("p95 {:?} s", duration.quantile(0.95));
/// }
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Metrics {
    /// The metrics, in the order of [`Metric::all`].
    pub families: Vec<MetricFamily>,
}

/// A metric with all of its series.
///
/// ```
/// # fn demo(ratchet: &ratchet_core::Ratchet) {
/// for family in ratchet.metrics().families {
///     println!("{}: {} series, {}", family.metric.name, family.series.len(), family.metric.help);
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricFamily {
    /// The metric.
    #[serde(serialize_with = "by_name", rename = "name")]
    pub metric: &'static Metric,
    /// The series, ordered by their labels.
    pub series: Vec<MetricSeries>,
}

/// One series of a metric.
///
/// ```
/// # fn demo(ratchet: &ratchet_core::Ratchet) {
/// // The labels of this metric are the queue and the name of the job.
/// for series in ratchet.metrics().series("ratchet.job.started") {
///     if let [queue, job] = &*series.labels {
///         println!("{job} in {queue}: {:?}", series.value);
///     }
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MetricSeries {
    /// The values of the labels, in the order of [`Metric::labels`].
    pub labels: Vec<Arc<str>>,
    /// The value.
    pub value: MetricValue,
}

/// The value of a series.
///
/// ```
/// # mod ratchet { pub use ratchet_core as metrics; }
/// use ratchet::metrics::MetricValue;
///
/// fn as_number(value: &MetricValue) -> Option<f64> {
///     match value {
///         MetricValue::Counter(count) => Some(*count as f64),
///         MetricValue::Gauge(value) => Some(*value),
///         MetricValue::Histogram(values) => values.mean(),
///         _ => None,
///     }
/// }
/// assert_eq!(as_number(&MetricValue::Counter(3)), Some(3.0));
/// assert_eq!(as_number(&MetricValue::Histogram(Default::default())), None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MetricValue {
    /// The value of a counter.
    Counter(u64),
    /// The value of a gauge.
    Gauge(f64),
    /// The values of a histogram.
    Histogram(Histogram),
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde requires
fn by_name<S: Serializer>(metric: &&'static Metric, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(metric.name)
}

impl Metrics {
    /// Returns the series of a metric, or none if it has none: `metrics.series("ratchet.job.started")`.
    pub fn series(&self, name: &str) -> &[MetricSeries] {
        let family = self.families.iter().find(|family| family.metric.name == name);
        family.map_or(&[], |family| &family.series)
    }

    /// Returns the value of a series by its labels.
    pub fn get(&self, name: &str, labels: &[&str]) -> Option<&MetricValue> {
        let is_wanted = |series: &&MetricSeries| {
            series.labels.iter().map(|label| &**label).eq(labels.iter().copied())
        };
        self.series(name).iter().find(is_wanted).map(|series| &series.value)
    }

    /// Returns the sum of a counter over all of its series whose labels begin with `labels`.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # fn demo(ratchet: &Ratchet) {
    /// let metrics = ratchet.metrics();
    /// let started = metrics.total("ratchet.job.started", &[]);
    /// let mail = metrics.total("ratchet.job.started", &["mail"]);
    /// println!("{started} runs, {mail} of them in queue `mail`");
    /// # }
    /// ```
    pub fn total(&self, name: &str, labels: &[&str]) -> u64 {
        let matches = |series: &&MetricSeries| {
            series.labels.len() >= labels.len()
                && series.labels.iter().zip(labels).all(|(have, want)| **have == **want)
        };
        let counters = self.series(name).iter().filter(matches);
        counters
            .map(|series| match &series.value {
                MetricValue::Counter(count) => *count,
                MetricValue::Gauge(_) => 0,
                MetricValue::Histogram(histogram) => histogram.count(),
            })
            .sum()
    }

    /// Returns what was counted since an earlier snapshot of the same process. Gauges keep their value. A counter that
    /// is lower than before has begun again, so all of it is new.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut delta = self.clone();
        for family in &mut delta.families {
            let before: HashMap<_, _> = earlier
                .series(family.metric.name)
                .iter()
                .map(|series| (&series.labels, &series.value))
                .collect();
            for series in &mut family.series {
                let Some(before) = before.get(&series.labels) else { continue };
                match (&mut series.value, before) {
                    (MetricValue::Counter(now), MetricValue::Counter(before)) => {
                        *now = now.checked_sub(*before).unwrap_or(*now);
                    }
                    (MetricValue::Histogram(now), MetricValue::Histogram(before)) => {
                        *now = now.since(before);
                    }
                    _ => {}
                }
            }
        }
        delta
    }
}

/// Collects series into families.
#[derive(Debug, Default)]
pub(crate) struct Families(HashMap<&'static str, Vec<MetricSeries>>);

impl Families {
    pub(crate) fn counter(&mut self, metric: &'static Metric, labels: &[&Arc<str>], value: u64) {
        self.add(metric, labels, MetricValue::Counter(value));
    }

    pub(crate) fn gauge(&mut self, metric: &'static Metric, labels: &[&Arc<str>], value: f64) {
        self.add(metric, labels, MetricValue::Gauge(value));
    }

    pub(crate) fn histogram(
        &mut self,
        metric: &'static Metric,
        labels: &[&Arc<str>],
        value: Histogram,
    ) {
        self.add(metric, labels, MetricValue::Histogram(value));
    }

    fn add(&mut self, metric: &'static Metric, labels: &[&Arc<str>], value: MetricValue) {
        debug_assert_eq!(metric.labels.len(), labels.len(), "{}", metric.name);
        debug_assert_eq!(
            metric.kind,
            match &value {
                MetricValue::Counter(_) => MetricKind::Counter,
                MetricValue::Gauge(_) => MetricKind::Gauge,
                MetricValue::Histogram(_) => MetricKind::Histogram,
            },
            "{}",
            metric.name
        );
        let labels = labels.iter().map(|label| Arc::clone(label)).collect();
        self.0.entry(metric.name).or_default().push(MetricSeries { labels, value });
    }

    pub(crate) fn finish(mut self) -> Metrics {
        let family = |metric: &&'static Metric| {
            let mut series = self.0.remove(metric.name)?;
            series.sort_by(|one, other| one.labels.cmp(&other.labels));
            Some(MetricFamily { metric, series })
        };
        Metrics { families: Metric::all().iter().filter_map(family).collect() }
    }
}
