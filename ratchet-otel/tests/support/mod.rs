//! What an in-memory exporter has received.

#![allow(unreachable_pub)] // shared by several tests

use std::collections::BTreeMap;

use opentelemetry_sdk::metrics::InMemoryMetricExporter;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ScopeMetrics};

/// A series as it was exported: a number, or the number of values of a histogram, their sum, and whether it is
/// exponential.
#[derive(Debug, Clone, PartialEq)]
pub enum Exported {
    Count(u64),
    Gauge(f64),
    Histogram { count: u64, sum: f64, exponential: bool },
}

pub type Series = BTreeMap<(String, Vec<(String, String)>), Exported>;

/// Reads what was exported last.
pub fn exported(exporter: &InMemoryMetricExporter) -> Series {
    let all = exporter.get_finished_metrics().expect("reads");
    let last = all.last().expect("was exported");
    let mut series = BTreeMap::new();
    for metric in last.scope_metrics().flat_map(ScopeMetrics::metrics) {
        let mut add = |attributes: Vec<(String, String)>, value| {
            let mut attributes = attributes;
            attributes.sort();
            series.insert((metric.name().to_owned(), attributes), value);
        };
        macro_rules! attributes {
            ($point:expr) => {
                $point.attributes().map(|it| (it.key.to_string(), it.value.to_string())).collect()
            };
        }
        match metric.data() {
            AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                for point in sum.data_points() {
                    add(attributes!(point), Exported::Count(point.value()));
                }
            }
            AggregatedMetrics::F64(MetricData::Gauge(gauge)) => {
                for point in gauge.data_points() {
                    add(attributes!(point), Exported::Gauge(point.value()));
                }
            }
            AggregatedMetrics::F64(MetricData::Histogram(histogram)) => {
                for point in histogram.data_points() {
                    let (count, sum) = (point.count(), point.sum());
                    add(attributes!(point), Exported::Histogram { count, sum, exponential: false });
                }
            }
            AggregatedMetrics::F64(MetricData::ExponentialHistogram(histogram)) => {
                for point in histogram.data_points() {
                    let (count, sum) = (point.count() as u64, point.sum());
                    add(attributes!(point), Exported::Histogram { count, sum, exponential: true });
                }
            }
            other => panic!("{}: {other:?}", metric.name()),
        }
    }
    series
}
