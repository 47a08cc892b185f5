//! The Prometheus text format, version 0.0.4.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::snapshot::{MetricSeries, MetricValue, Metrics};
use super::table::Metric;
use ratchet_store::model::Histogram;

/// The exponents of the bucket bounds of durations: about a millisecond to two hours.
const SECONDS: RangeInclusive<i32> = -10..=13;

/// The exponents of the bucket bounds of other values: 1 to 1024.
const NUMBERS: RangeInclusive<i32> = 0..=10;

impl Metrics {
    /// The media type of [`Self::to_prometheus`], for the `Content-Type` header.
    pub const PROMETHEUS: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Returns the metrics in the Prometheus text format.
    ///
    /// Histograms have one bucket per power of two: durations from 2^-10 s (about a millisecond) to 2^13 s (more than two
    /// hours), other values from 1 to 1024. Every power of two is a bound of the exponential histogram, so the counts
    /// are exact.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let text = ratchet.metrics().to_prometheus();
    /// assert!(text.contains("# TYPE ratchet_info gauge"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_prometheus(&self) -> String {
        let mut text = String::new();
        for family in &self.families {
            let (metric, name) = (family.metric, family.metric.prometheus_name());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {}", escaped(metric.help, false));
            let _ = writeln!(text, "# TYPE {name} {}", metric.kind.name());
            for series in &family.series {
                write_series(&mut text, metric, &name, series);
            }
        }
        text
    }
}

fn write_series(text: &mut String, metric: &Metric, name: &str, series: &MetricSeries) {
    let labels = metric.labels.iter().zip(&series.labels);
    let labels: Vec<_> =
        labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(value, true))).collect();
    let labels = labels.join(",");
    let braced = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = match &series.value {
        MetricValue::Counter(count) => writeln!(text, "{name}{braced} {count}"),
        MetricValue::Gauge(value) => writeln!(text, "{name}{braced} {}", number(*value)),
        MetricValue::Histogram(histogram) => {
            let bounds = if metric.unit == "s" { SECONDS } else { NUMBERS };
            write_histogram(text, name, &labels, histogram, bounds);
            writeln!(text, "{name}_sum{braced} {}", number(histogram.sum()))
                .and_then(|()| writeln!(text, "{name}_count{braced} {}", histogram.count()))
        }
    };
}

fn write_histogram(
    text: &mut String,
    name: &str,
    labels: &str,
    histogram: &Histogram,
    bounds: RangeInclusive<i32>,
) {
    let comma = if labels.is_empty() { "" } else { "," };
    for exponent in bounds {
        let (bound, count) = (f64::from(exponent).exp2(), histogram.at_most(exponent));
        let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"{}\"}} {count}", number(bound));
    }
    let count = histogram.count();
    let _ = writeln!(text, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {count}");
}

/// Returns a number as Prometheus reads it.
fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() }
    } else {
        value.to_string()
    }
}

/// Escapes a help text or the value of a label.
fn escaped(text: &str, quotes: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '"' if quotes => escaped.push_str("\\\""),
            _ => escaped.push(c),
        }
    }
    escaped
}
