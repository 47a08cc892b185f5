//! Histograms, whose values are recorded one by one.

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Histogram as Instrument, Meter};
use ratchet_core::{Histogram, Metric, MetricKind, MetricSeries, MetricValue, Metrics};

use crate::{messaging, observed};

type Attributes = fn(&Metric, &MetricSeries) -> Vec<KeyValue>;

/// The instruments of all histograms, and what was recorded.
#[derive(Debug)]
pub(crate) struct Histograms {
    instruments: Vec<(&'static Metric, Instrument<f64>, Attributes)>,
    recorded: Metrics,
}

impl Histograms {
    pub(crate) fn new(meter: &Meter) -> Self {
        let mut instruments: Vec<(&'static Metric, Instrument<f64>, Attributes)> = Vec::new();
        for metric in Metric::all().iter().filter(|metric| metric.kind == MetricKind::Histogram) {
            let instrument = |name, help| {
                meter.f64_histogram(name).with_unit(metric.unit).with_description(help).build()
            };
            instruments.push((metric, instrument(metric.name, metric.help), observed::attributes));
            match metric.name {
                "ratchet.job.run.duration" => instruments.push((
                    metric,
                    instrument("messaging.process.duration", "Duration of processing operation."),
                    |_, series| messaging::of_run(series),
                )),
                "ratchet.store.duration" => instruments.push((
                    metric,
                    instrument(
                        "messaging.client.operation.duration",
                        "Duration of messaging operation initiated by a producer or consumer client.",
                    ),
                    |_, series| messaging::of_call(series),
                )),
                _ => {}
            }
        }
        Self { instruments, recorded: Metrics::default() }
    }

    /// Records the values that were measured since the last time.
    pub(crate) fn record(&mut self, metrics: Metrics) {
        let added = metrics.since(&self.recorded);
        for (metric, instrument, attributes) in &self.instruments {
            for series in added.series(metric.name) {
                let MetricValue::Histogram(histogram) = &series.value else { continue };
                let attributes = attributes(metric, series);
                for _ in 0..histogram.zero_count() {
                    instrument.record(0.0, &attributes);
                }
                for (index, count) in histogram.buckets() {
                    let value = Histogram::middle(*index);
                    for _ in 0..*count {
                        instrument.record(value, &attributes);
                    }
                }
            }
        }
        self.recorded = metrics;
    }
}
