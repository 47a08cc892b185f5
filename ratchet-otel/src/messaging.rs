//! The metrics of the semantic conventions for messaging systems.

use std::collections::BTreeMap;
use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::Meter;
use ratchet_core::{MetricSeries, MetricValue};

use crate::observed::Snapshot;

/// The histograms of the conventions.
pub(crate) const HISTOGRAMS: [&str; 2] =
    ["messaging.process.duration", "messaging.client.operation.duration"];

/// Returns the attributes that all of these metrics have.
fn common(operation: &'static str, kind: &'static str) -> Vec<KeyValue> {
    vec![
        KeyValue::new("messaging.system", "ratchet"),
        KeyValue::new("messaging.operation.name", operation),
        KeyValue::new("messaging.operation.type", kind),
    ]
}

/// Returns the attributes of a run of a job in a queue.
pub(crate) fn of_run(series: &MetricSeries) -> Vec<KeyValue> {
    let mut attributes = common("process", "process");
    let names = ["messaging.destination.name", "ratchet.job.name"];
    let values = names.into_iter().zip(&series.labels);
    attributes.extend(values.map(|(name, value)| KeyValue::new(name, Arc::clone(value))));
    attributes
}

/// Returns the attributes of a call to the store.
pub(crate) fn of_call(series: &MetricSeries) -> Vec<KeyValue> {
    let (operation, kind) = match series.labels.first().map(|label| &**label) {
        Some("insert") => ("enqueue", "send"),
        Some("claim") => ("claim", "receive"),
        Some("settle") => ("settle", "settle"),
        Some("settle_and_claim") => ("settle_and_claim", "settle"),
        _ => ("other", "settle"),
    };
    common(operation, kind)
}

/// Creates the counters of sent and consumed messages. A message is a job.
pub(crate) fn observe(snapshot: &Arc<Snapshot>, meter: &Meter) {
    for (name, source, operation, kind, help) in [
        (
            "messaging.client.sent.messages",
            "ratchet.job.submitted",
            "enqueue",
            "send",
            "Number of messages producer attempted to send to the broker.",
        ),
        (
            "messaging.client.consumed.messages",
            "ratchet.job.started",
            "claim",
            "receive",
            "Number of messages that were delivered to the application.",
        ),
    ] {
        let snapshot = Arc::clone(snapshot);
        meter
            .u64_observable_counter(name)
            .with_unit("{message}")
            .with_description(help)
            .with_callback(move |observer| {
                let mut by_queue: BTreeMap<Arc<str>, u64> = BTreeMap::new();
                for series in snapshot.get().series(source) {
                    if let (Some(queue), MetricValue::Counter(count)) =
                        (series.labels.first(), &series.value)
                    {
                        *by_queue.entry(Arc::clone(queue)).or_default() += count;
                    }
                }
                for (queue, count) in by_queue {
                    let mut attributes = common(operation, kind);
                    attributes.push(KeyValue::new("messaging.destination.name", queue));
                    observer.observe(count, &attributes);
                }
            })
            .build();
    }
}
