//! The history of metrics as stores keep it: counts and durations per queue and job, the state of queues, and deploys.
//!
//! `docs/rollups.md` describes how they are written. The rules are in [`rules::stats`](crate::rules::stats).

mod encoding;
mod gauge;
mod query;
mod tier;

use serde::Serialize;

use super::Histogram;

pub use encoding::{HistogramError, MAX_HISTOGRAM_BYTES};
pub use gauge::{BlockedBy, DeployMark, GaugeRow};
pub use query::{StatsBy, StatsHistory, StatsQuery};
pub use tier::StatsTier;

/// How many runs and jobs were counted.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::StatCounts;
///
/// let mut today = StatCounts::default();
/// (today.started, today.succeeded, today.retried) = (10, 7, 2);
/// assert_eq!(today.ended(), 9);
///
/// let an_hour_ago = today;
/// today.succeeded += 5;
/// assert_eq!(today.since(&an_hour_ago).ended(), 5);
/// for (name, count) in StatCounts::NAMES.iter().zip(today.values()) {
///     println!("{name}: {count}");
/// }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatCounts {
    /// Jobs that were stored by a worker process. Jobs submitted with SQL or in a transaction of the caller are not
    /// included.
    pub submitted: u64,
    /// Runs that were started.
    pub started: u64,
    /// Runs that have succeeded.
    pub succeeded: u64,
    /// Runs that have failed and are retried.
    pub retried: u64,
    /// Jobs that have failed permanently and are dead letters.
    pub failed: u64,
    /// Runs that have ended with a deferral.
    pub deferred: u64,
    /// Runs that were returned to the queue, because their worker was stopped.
    pub released: u64,
    /// Runs that were rescued, because their worker has died.
    pub rescued: u64,
    /// Runs whose job was canceled.
    pub canceled: u64,
    /// Runs that have exceeded their timeout. They are also counted as retried or failed.
    pub timed_out: u64,
}

impl StatCounts {
    /// The names of the counts, in the order of [`Self::values`]. Databases use them as names of columns.
    pub const NAMES: [&'static str; 10] = [
        "submitted",
        "started",
        "succeeded",
        "retried",
        "failed",
        "deferred",
        "released",
        "rescued",
        "canceled",
        "timed_out",
    ];

    /// Returns the counts in the order of [`Self::NAMES`].
    pub const fn values(&self) -> [u64; 10] {
        let Self {
            submitted,
            started,
            succeeded,
            retried,
            failed,
            deferred,
            released,
            rescued,
            canceled,
            timed_out,
        } = *self;
        [
            submitted, started, succeeded, retried, failed, deferred, released, rescued, canceled,
            timed_out,
        ]
    }

    /// Creates counts from the values in the order of [`Self::NAMES`].
    pub const fn from_values(values: [u64; 10]) -> Self {
        let [
            submitted,
            started,
            succeeded,
            retried,
            failed,
            deferred,
            released,
            rescued,
            canceled,
            timed_out,
        ] = values;
        Self {
            submitted,
            started,
            succeeded,
            retried,
            failed,
            deferred,
            released,
            rescued,
            canceled,
            timed_out,
        }
    }

    /// Returns `true` if every count is zero.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        let mut sum = self.values();
        for (sum, more) in sum.iter_mut().zip(other.values()) {
            *sum = sum.saturating_add(more);
        }
        *self = Self::from_values(sum);
    }

    /// Returns what was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut added = self.values();
        for (added, before) in added.iter_mut().zip(earlier.values()) {
            *added = added.saturating_sub(before);
        }
        Self::from_values(added)
    }

    /// Returns how many runs have ended: succeeded, retried, failed, deferred, released, rescued or canceled.
    pub fn ended(&self) -> u64 {
        let ends = [
            self.succeeded,
            self.retried,
            self.failed,
            self.deferred,
            self.released,
            self.rescued,
            self.canceled,
        ];
        ends.into_iter().fold(0, u64::saturating_add)
    }
}

/// What was counted in one slot of a tier, for one job in one queue.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{StatRow, StatsTier};
///
/// let slot = StatsTier::Minute.slot_of("2026-11-17T12:00:30Z".parse().expect("a time"));
/// let mut row = StatRow::new(slot, "mail", "send_mail");
/// row.counts.started = 1;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StatRow {
    /// The number of the slot since 1970, see [`StatsTier::start_of`].
    pub slot: i64,
    /// The name of the queue. Empty if the rows of all queues were added up.
    pub queue: String,
    /// The name of the job. Empty if the rows of all jobs were added up.
    pub name: String,
    /// The counts.
    pub counts: StatCounts,
    /// How long jobs had been due when they were claimed, in seconds.
    pub wait: Histogram,
    /// The duration of runs, in seconds.
    pub run: Histogram,
}

impl StatRow {
    /// Creates a row without counts.
    pub fn new(slot: i64, queue: impl Into<String>, name: impl Into<String>) -> Self {
        Self { slot, queue: queue.into(), name: name.into(), ..Self::default() }
    }

    /// Returns `true` if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.wait.is_empty() && self.run.is_empty()
    }

    /// Returns what was counted since an `earlier` reading of the same counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            counts: self.counts.since(&earlier.counts),
            wait: self.wait.since(&earlier.wait),
            run: self.run.since(&earlier.run),
            ..self.clone()
        }
    }

    /// Adds what another row has counted. Exact, and independent of the order of additions.
    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.wait.merge(&other.wait);
        self.run.merge(&other.run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m_02_every_count_has_a_name_and_is_added() {
        let values = std::array::from_fn(|at| 1 << at);
        let mut counts = StatCounts::from_values(values);
        assert_eq!(counts.values(), values);
        counts.add(&counts.clone());
        assert_eq!(counts.values(), values.map(|value| 2 * value));
        assert_eq!(counts.since(&StatCounts::from_values(values)).values(), values);
        let json = serde_json::to_value(counts).expect("it is serializable");
        for (name, value) in StatCounts::NAMES.iter().zip(counts.values()) {
            assert_eq!(json[name], value, "{name}");
        }
        let most = StatCounts::from_values([u64::MAX; 10]);
        counts.add(&most);
        assert_eq!(counts, most);
    }
}
