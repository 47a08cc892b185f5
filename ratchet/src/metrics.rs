//! What a process measures; see [`Ratchet::metrics`](crate::Ratchet::metrics) and the
//! [page of the guide](crate::guide::metrics).

pub use ratchet_core::{
    Histogram, Metric, MetricFamily, MetricKind, MetricSeries, MetricValue, Metrics,
};
