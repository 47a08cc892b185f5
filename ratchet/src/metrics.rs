//! What a process measures; see [`Ratchet::metrics`](crate::Ratchet::metrics) and the
//! [page of the guide](crate::guide::metrics).

pub use ratchet_core::{
    DeployMark, DurationStats, Histogram, Metric, MetricFamily, MetricKind, MetricSeries,
    MetricValue, Metrics, PointGauges, StatCounts, StatsBy, StatsPoint, StatsRequest, StatsSeries,
    StatsSpan, StatsTier,
};
