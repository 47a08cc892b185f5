//! A maximum number of starts per period, and the starts that count against it. The arithmetic is in
//! [`rules::rate`](crate::rules::rate).

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A maximum number of claims in any window of a period. Retries count.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{Gate, QueueLimits, QueueRules, Rate};
/// use std::time::Duration;
///
/// let mut rules = QueueRules::default();
/// rules.limits.rate = Some(Rate { jobs: 100, per: Duration::from_secs(60) });
/// # let now = "2026-11-17T12:00:00Z".parse().expect("a time");
/// rules.claimed(80, now);
/// assert_eq!(rules.gate(0, now), Gate::Open { most: 20 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The maximum number of claims per period.
    pub jobs: u32,
    /// The length of the period.
    pub per: Duration,
}

/// The claims that still count against a rate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RateWindow {
    pub(crate) recent: VecDeque<Recent>,
}

/// Claims made within a hundredth of the period. They all count until the last one leaves the window, so a window never
/// exceeds the limit, and a busy queue needs about a hundred entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recent {
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    pub(crate) jobs: u32,
}

/// The stored state of a concurrency key in a queue with a rate per key.
///
/// A store keeps one for each key that was claimed within the period. It reads the state before it offers a job of the
/// key to a claim, and writes what [`ClaimPlan::spend_keys`](crate::rules::ClaimPlan::spend_keys) returns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRate {
    /// The claims that count.
    pub(crate) window: RateWindow,
    /// Until when the key has used up its rate; `None` if it had not when it was claimed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) full_until: Option<Timestamp>,
    /// Whether a claim has passed over a job of the key because the rate was used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) waiting: bool,
}
