//! Checkpoints that jobs hand off to pipelines.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::JobId;

/// A checkpoint that a job hands to another pipeline, once per key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewHandOff {
    /// The name of the receiving pipeline.
    pub pipeline: String,
    /// The deduplication key. A second hand-off with the same key is suppressed and counted.
    pub key: String,
    /// The data handed over.
    pub checkpoint: serde_json::Value,
    /// The tenant of the job that hands it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The correlation id of the job that hands it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

impl NewHandOff {
    /// Creates a hand-off without a tenant and a correlation id.
    pub fn new(
        pipeline: impl Into<String>,
        key: impl Into<String>,
        checkpoint: serde_json::Value,
    ) -> Self {
        let (pipeline, key) = (pipeline.into(), key.into());
        Self { pipeline, key, checkpoint, tenant: None, correlation_id: None }
    }
}

/// A checkpoint that waits for its pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HandOff {
    /// The checkpoint, its key and its pipeline.
    pub handed: NewHandOff,
    /// The job that handed it over.
    pub job: JobId,
    /// The time of the commit.
    pub at: Timestamp,
    /// How many repeats with the same key were suppressed.
    pub repeats: u64,
    /// How the checkpoint was stored. Set by the engine.
    #[serde(skip)]
    pub content: HandOffContent,
}

/// How the checkpoint of a hand-off was stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandOffContent {
    /// It was readable.
    #[default]
    Plain,
    /// It was encrypted, and has been decrypted.
    Decrypted,
    /// It is encrypted, and this process cannot decrypt it.
    Locked,
}

/// The backlog and throughput of a pipeline.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::HandOffStats;
/// use std::time::Duration;
///
/// let latencies = [Duration::from_secs(1), Duration::from_secs(5)];
/// let stats = HandOffStats::new(3, Duration::from_secs(40), 120, 7).with_admissions(122, &latencies);
/// assert_eq!(stats.latency, Duration::from_secs(3));
/// assert_eq!(stats.longest_latency, Duration::from_secs(5));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HandOffStats {
    /// The number of unfinished checkpoints: those that wait, those that were taken, and those whose jobs have not ended.
    pub backlog: u64,
    /// The age of the oldest unfinished checkpoint.
    pub lag: Duration,
    /// The number of finished checkpoints.
    pub finished: u64,
    /// The number of suppressed repeats.
    pub repeats: u64,
    /// How many of them were admitted as jobs.
    pub admitted: u64,
    /// The mean time from a hand-off to its admission, of the [`LATENCY_SAMPLE`] hand-offs that were admitted last.
    pub latency: Duration,
    /// The longest of these times.
    pub longest_latency: Duration,
}

/// Over how many of the latest admissions the latency of a pipeline is computed.
pub const LATENCY_SAMPLE: usize = 100;

impl HandOffStats {
    /// Creates the statistics of a pipeline.
    pub fn new(backlog: u64, lag: Duration, finished: u64, repeats: u64) -> Self {
        Self { backlog, lag, finished, repeats, ..Self::default() }
    }

    /// Adds what was recorded about admissions: their number, and the latencies of the latest ones.
    pub fn with_admissions(mut self, admitted: u64, latencies: &[Duration]) -> Self {
        self.admitted = admitted;
        let count = u32::try_from(latencies.len()).unwrap_or(u32::MAX);
        let sum = latencies.iter().fold(Duration::ZERO, |sum, one| sum.saturating_add(*one));
        self.latency = sum.checked_div(count).unwrap_or_default();
        self.longest_latency = latencies.iter().max().copied().unwrap_or_default();
        self
    }
}
