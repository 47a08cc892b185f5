//! The metrics of a [`Ratchet`] as OpenTelemetry instruments, and [`Traces`] that lead from a submit to its runs.
//!
//! ```
//! use opentelemetry::metrics::MeterProvider as _;
//! use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
//! use ratchet_core::Ratchet;
//! use ratchet_memory::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let exporter = InMemoryMetricExporter::default(); // usually an OTLP exporter
//! let provider = SdkMeterProvider::builder()
//!     .with_periodic_exporter(exporter)
//!     .with_view(ratchet_otel::exponential_histograms)
//!     .build();
//! let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
//! let metrics = ratchet_otel::export(&ratchet, &provider.meter("ratchet"));
//! // … at the end of the program:
//! metrics.stop().await;
//! provider.shutdown()?;
//! # Ok(())
//! # }
//! ```
//!
//! Counters and gauges are observed when the SDK collects them. OpenTelemetry has no histograms that can be observed, so
//! a task records the values of histograms every few seconds: their number is exact, and each value is that of the
//! middle of its bucket, which is at most 9 % off.

mod histograms;
mod messaging;
mod observed;
mod traces;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry::metrics::Meter;
use opentelemetry_sdk::metrics::{Aggregation, Instrument, InstrumentKind, Stream};
use ratchet_core::Ratchet;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::histograms::Histograms;
pub use crate::traces::Traces;

/// How often the values of histograms are recorded and the store is sampled.
const INTERVAL: Duration = Duration::from_secs(5);

/// A running export; see [`export`]. It goes on until this is stopped or dropped.
#[derive(Debug)]
#[must_use = "the export ends when this is dropped"]
pub struct Export {
    ratchet: Ratchet,
    histograms: Arc<Mutex<Histograms>>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Exports the metrics of a process: those of [`Metric::all`](ratchet_core::Metric::all), and the `messaging.*` metrics
/// of the semantic conventions.
///
/// Must be called within a tokio runtime, on which it samples the store and records the values of histograms.
pub fn export(ratchet: &Ratchet, meter: &Meter) -> Export {
    observed::observe(ratchet, meter);
    let histograms = Arc::new(Mutex::new(Histograms::new(meter)));
    let (stop, mut stopped) = watch::channel(false);
    let (source, target) = (ratchet.clone(), Arc::clone(&histograms));
    let task = tokio::spawn(async move {
        loop {
            // Without the store, the last sample remains. Its age is a metric.
            let _ = source.sample_metrics().await;
            record(&target, &source);
            let pause = tokio::time::timeout(INTERVAL, stopped.changed());
            if pause.await.is_ok() {
                return;
            }
        }
    });
    Export { ratchet: ratchet.clone(), histograms, stop, task }
}

fn record(histograms: &Mutex<Histograms>, ratchet: &Ratchet) {
    let metrics = ratchet.metrics();
    histograms.lock().unwrap_or_else(PoisonError::into_inner).record(metrics);
}

impl Export {
    /// Records the values of histograms that were measured since the last time. Call it before the provider is flushed.
    pub fn flush(&self) {
        record(&self.histograms, &self.ratchet);
    }

    /// Stops the export, after the remaining values were recorded. Then shut the provider down.
    pub async fn stop(mut self) {
        let _ = self.stop.send(true);
        let _ = (&mut self.task).await;
        self.flush();
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Returns a view for the provider that makes the histograms of this crate exponential, with the resolution of those of Ratchet.
/// Without it, they have the default buckets of OpenTelemetry, which do not fit durations in seconds.
pub fn exponential_histograms(instrument: &Instrument) -> Option<Stream> {
    let is_ours = instrument.name().starts_with("ratchet.")
        || messaging::HISTOGRAMS.contains(&instrument.name());
    if !is_ours || instrument.kind() != InstrumentKind::Histogram {
        return None;
    }
    let aggregation = Aggregation::Base2ExponentialHistogram {
        max_size: 160,
        max_scale: 2,
        record_min_max: true,
    };
    Stream::builder().with_aggregation(aggregation).build().ok()
}
