//! The metrics of a workload, as an exporter of OpenTelemetry receives them.

mod support;

use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use ratchet_core::{Job as _, JobError, MetricValue, Ratchet};
use ratchet_macros::job;
use ratchet_memory::MemoryStore;
use support::{Exported, exported};

#[job(name = "otel.work", max_retries = 0, crate = ::ratchet_core)]
async fn work(number: u32) -> Result<(), JobError> {
    if number.is_multiple_of(10) { Err(JobError::msg("every tenth fails")) } else { Ok(()) }
}

async fn run_workload(ratchet: &Ratchet) {
    for number in 0..200 {
        ratchet.enqueue(Work { number }).await.expect("enqueues");
    }
    ratchet.start().await.expect("starts").stopped().await;
}

#[tokio::test]
async fn opentelemetry_and_the_registry_agree() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder()
        .with_periodic_exporter(exporter.clone())
        .with_view(ratchet_otel::exponential_histograms)
        .build();
    let ratchet = Ratchet::builder(MemoryStore::new()).jobs([Work::JOB]).drain_and_exit();
    let ratchet = ratchet.build().await.expect("builds");
    let export = ratchet_otel::export(&ratchet, &provider.meter("ratchet"));
    run_workload(&ratchet).await;
    export.flush();
    let metrics = ratchet.metrics();
    provider.force_flush().expect("flushes");
    let exported = exported(&exporter);
    let mut compared = 0;
    for family in &metrics.families {
        for series in &family.series {
            let labels = family.metric.labels.iter().zip(&series.labels);
            let mut labels: Vec<_> =
                labels.map(|(label, value)| ((*label).to_owned(), value.to_string())).collect();
            labels.sort();
            let found = exported.get(&(family.metric.name.to_owned(), labels.clone()));
            match (&series.value, found) {
                (MetricValue::Counter(count), Some(Exported::Count(found))) => {
                    assert_eq!(count, found, "{} {labels:?}", family.metric.name);
                }
                // Ages go on between the two readings.
                (MetricValue::Gauge(_), Some(Exported::Gauge(_))) => {}
                (
                    MetricValue::Histogram(histogram),
                    Some(Exported::Histogram { count, sum, exponential: true }),
                ) => {
                    assert_eq!(histogram.count(), *count, "{} {labels:?}", family.metric.name);
                    let off = (sum - histogram.sum()).abs();
                    assert!(off <= histogram.sum() * 0.091 + 1e-3, "{}", family.metric.name);
                }
                other => panic!("{} {labels:?}: {other:?}", family.metric.name),
            }
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
    let failed = metrics.total("ratchet.job.outcomes", &["default", "otel.work", "failed"]);
    assert_eq!(failed, 20);
    export.stop().await;
}

#[tokio::test]
async fn the_semantic_conventions_are_kept() {
    let exporter = InMemoryMetricExporter::default();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
    let ratchet = Ratchet::builder(MemoryStore::new()).jobs([Work::JOB]).drain_and_exit();
    let ratchet = ratchet.build().await.expect("builds");
    let export = ratchet_otel::export(&ratchet, &provider.meter("ratchet"));
    run_workload(&ratchet).await;
    export.stop().await;
    provider.force_flush().expect("flushes");
    let exported = exported(&exporter);
    let find = |name: &str, wanted: &[(&str, &str)]| {
        let found = exported.iter().find(|((it, attributes), _)| {
            let has = |(key, value): &(&str, &str)| {
                attributes.contains(&((*key).to_owned(), (*value).to_owned()))
            };
            it == name && wanted.iter().all(has)
        });
        found.unwrap_or_else(|| panic!("{name} {wanted:?}: {exported:#?}")).1.clone()
    };
    let system = ("messaging.system", "ratchet");
    let queue = ("messaging.destination.name", "default");
    let sent = find(
        "messaging.client.sent.messages",
        &[system, queue, ("messaging.operation.type", "send")],
    );
    assert_eq!(sent, Exported::Count(200));
    let consumed = find("messaging.client.consumed.messages", &[system, queue]);
    assert_eq!(consumed, Exported::Count(200));
    let process =
        [system, queue, ("messaging.operation.name", "process"), ("ratchet.job.name", "otel.work")];
    let Exported::Histogram { count, exponential, .. } =
        find("messaging.process.duration", &process)
    else {
        panic!("a histogram")
    };
    assert_eq!((count, exponential), (200, false), "without the view");
    let Exported::Histogram { count, .. } = find(
        "messaging.client.operation.duration",
        &[system, ("messaging.operation.name", "enqueue")],
    ) else {
        panic!("a histogram")
    };
    assert_eq!(count, 200);
}
