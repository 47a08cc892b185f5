//! [`StatsQuery`]: which part of the history of metrics is read.

use jiff::Timestamp;
use serde::Serialize;

use super::{DeployMark, GaugeRow, StatRow, StatsTier};

/// By what the rows of a slot are added up.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{StatsBy, StatsQuery, StatsTier};
///
/// // How much each queue has done: one row for every hour and queue.
/// # let (from, until) = ("2026-11-16T00:00:00Z".parse()?, "2026-11-17T00:00:00Z".parse()?);
/// let mut query = StatsQuery::new(StatsTier::Hour, from, until);
/// assert_eq!(query.by, StatsBy::Slot);
/// query.by = StatsBy::Queue;
/// # Ok::<_, jiff::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatsBy {
    /// One row per slot.
    #[default]
    Slot,
    /// One row per slot and queue.
    Queue,
    /// One row per slot and job name.
    Name,
    /// One row per slot, queue and job name.
    QueueAndName,
}

/// Which part of the history of metrics is read.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{StatsBy, StatsQuery, StatsTier};
///
/// let from = "2026-11-16T00:00:00Z".parse().expect("a time");
/// let until = "2026-11-17T00:00:00Z".parse().expect("a time");
/// let mut query = StatsQuery::new(StatsTier::Hour, from, until);
/// query.queue = Some("mail".to_owned());
/// query.by = StatsBy::Name;
/// assert_eq!(query.until - query.from, 24);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatsQuery {
    /// The tier that is read.
    pub tier: StatsTier,
    /// The first slot.
    pub from: i64,
    /// The slot after the last one.
    pub until: i64,
    /// Only this queue.
    pub queue: Option<String>,
    /// Only jobs with this name. Does not affect gauges, which belong to queues.
    pub name: Option<String>,
    /// By what the rows of a slot are added up.
    pub by: StatsBy,
}

impl StatsQuery {
    /// Creates a query for the slots that overlap the time from `from` until `until`.
    pub fn new(tier: StatsTier, from: Timestamp, until: Timestamp) -> Self {
        let last = tier.slot_of(until);
        let until = if tier.start_of(last) < until { last.saturating_add(1) } else { last };
        let (queue, name, by) = (None, None, StatsBy::default());
        Self { tier, from: tier.slot_of(from), until, queue, name, by }
    }
}

/// A part of the history of metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatsHistory {
    /// What was counted, ordered by slot, queue and name. Slots in which nothing was counted are absent.
    pub rows: Vec<StatRow>,
    /// The state of queues, ordered by slot and queue.
    pub gauges: Vec<GaugeRow>,
    /// The deploys in this time, oldest first.
    pub deploys: Vec<DeployMark>,
}

impl StatsHistory {
    /// Creates a part of the history from rows that are in order.
    pub fn new(rows: Vec<StatRow>, gauges: Vec<GaugeRow>, deploys: Vec<DeployMark>) -> Self {
        Self { rows, gauges, deploys }
    }
}
