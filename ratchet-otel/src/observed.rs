//! Counters and gauges, which the SDK observes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;
use ratchet_core::{Metric, MetricKind, MetricSeries, MetricValue, Metrics, Ratchet};

use crate::messaging;

/// A snapshot that all callbacks of one collection share.
#[derive(Debug)]
pub(crate) struct Snapshot {
    ratchet: Ratchet,
    last: Mutex<Option<(Instant, Arc<Metrics>)>>,
}

impl Snapshot {
    /// A collection takes less time than this.
    const FRESH: Duration = Duration::from_millis(100);

    pub(crate) fn get(&self) -> Arc<Metrics> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((at, metrics)) if at.elapsed() < Self::FRESH => Arc::clone(metrics),
            _ => {
                let metrics = Arc::new(self.ratchet.metrics());
                *last = Some((now(), Arc::clone(&metrics)));
                metrics
            }
        }
    }
}

#[allow(clippy::disallowed_methods)] // the SDK collects by the time of the process
fn now() -> Instant {
    Instant::now()
}

/// Returns the labels of a series as attributes.
pub(crate) fn attributes(metric: &Metric, series: &MetricSeries) -> Vec<KeyValue> {
    let labels = metric.labels.iter().zip(&series.labels);
    labels.map(|(label, value)| KeyValue::new(*label, Arc::clone(value))).collect()
}

/// Creates an instrument for each counter and gauge.
pub(crate) fn observe(ratchet: &Ratchet, meter: &Meter) {
    let snapshot = Arc::new(Snapshot { ratchet: ratchet.clone(), last: Mutex::new(None) });
    for metric in Metric::all() {
        let source = Arc::clone(&snapshot);
        match metric.kind {
            MetricKind::Counter => {
                meter
                    .u64_observable_counter(metric.name)
                    .with_unit(metric.unit)
                    .with_description(metric.help)
                    .with_callback(move |observer| {
                        for series in source.get().series(metric.name) {
                            if let MetricValue::Counter(count) = series.value {
                                observer.observe(count, &attributes(metric, series));
                            }
                        }
                    })
                    .build();
            }
            MetricKind::Gauge => {
                meter
                    .f64_observable_gauge(metric.name)
                    .with_unit(metric.unit)
                    .with_description(metric.help)
                    .with_callback(move |observer| {
                        for series in source.get().series(metric.name) {
                            if let MetricValue::Gauge(value) = series.value {
                                observer.observe(value, &attributes(metric, series));
                            }
                        }
                    })
                    .build();
            }
            // Recorded by a task.
            _ => {}
        }
    }
    messaging::observe(&snapshot, meter);
}
