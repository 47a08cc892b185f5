//! The state of queues over time, and the deploys of programs.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::model::Gate;

/// Why no job of a queue can be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockedBy {
    /// The queue is paused.
    Paused,
    /// The concurrency limit of the queue is reached.
    Concurrency,
    /// The rate limit of the queue is reached.
    Rate,
}

impl BlockedBy {
    /// Returns why nothing can be claimed through this gate; `None` if it is open.
    pub const fn of(gate: Gate) -> Option<Self> {
        match gate {
            Gate::Open { .. } => None,
            Gate::Paused => Some(Self::Paused),
            Gate::Full { .. } => Some(Self::Concurrency),
            Gate::RateLimited { .. } => Some(Self::Rate),
        }
    }

    /// Returns the name of the cause: `paused`, `concurrency` or `rate`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Concurrency => "concurrency",
            Self::Rate => "rate",
        }
    }
}

/// The state of one queue in one slot of a tier. The leader samples it once a minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GaugeRow {
    /// The number of the slot since 1970, see [`StatsTier::start_of`](super::StatsTier::start_of).
    pub slot: i64,
    /// The name of the queue.
    pub queue: String,
    /// When the slot was sampled last.
    pub at: Timestamp,
    /// Pending jobs at the last sample, including those that are due later or wait for other steps.
    pub depth: u64,
    /// Running jobs at the last sample.
    pub running: u64,
    /// Paused jobs at the last sample.
    pub paused: u64,
    /// Dead letters at the last sample.
    pub failed: u64,
    /// Why no job could be claimed at the last sample.
    pub blocked_by: Option<BlockedBy>,
    /// How long the oldest job of the queue had been due without being claimed: the longest of all samples of the slot.
    pub oldest_age: Duration,
}

impl GaugeRow {
    /// Creates the row of an empty queue.
    pub fn new(slot: i64, queue: impl Into<String>, at: Timestamp) -> Self {
        Self {
            slot,
            queue: queue.into(),
            at,
            depth: 0,
            running: 0,
            paused: 0,
            failed: 0,
            blocked_by: None,
            oldest_age: Duration::ZERO,
        }
    }
}

/// The first appearance of a version of a program.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{DeployMark, StatsHistory};
///
/// // The deploy after which something in the history has changed.
/// fn deploy_before(history: &StatsHistory, change: jiff::Timestamp) -> Option<&DeployMark> {
///     history.deploys.iter().rev().find(|deploy| deploy.at <= change)
/// }
/// # let deploy = |at: &str, version| DeployMark::new(at.parse().unwrap(), "shop", version);
/// # let deploys = vec![deploy("2026-11-16T09:00:00Z", "1.4.0"), deploy("2026-11-17T09:00:00Z", "1.5.0")];
/// # let history = StatsHistory::new(Vec::new(), Vec::new(), deploys);
/// # let before = |change: &str| deploy_before(&history, change.parse().unwrap()).map(|deploy| deploy.binary_version.as_str());
/// # assert_eq!((before("2026-11-17T08:00:00Z"), before("2026-11-15T08:00:00Z")), (Some("1.4.0"), None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct DeployMark {
    /// When the first node of this version joined.
    pub at: Timestamp,
    /// The name of the program.
    pub program: String,
    /// The version of the program.
    pub binary_version: String,
}

impl DeployMark {
    /// For how long deploys are kept.
    pub const KEPT: Duration = Duration::from_hours(400 * 24);

    /// Creates a mark.
    pub fn new(
        at: Timestamp,
        program: impl Into<String>,
        binary_version: impl Into<String>,
    ) -> Self {
        Self { at, program: program.into(), binary_version: binary_version.into() }
    }
}
