//! Circuit breakers: their settings, their stored state and the changes of it. The rules are in
//! [`rules::breaker`](crate::rules::breaker).

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// When a breaker opens, and how it closes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BreakerSettings {
    /// The failure rate in percent (1–100) at which it opens.
    pub failure_rate: u8,
    /// The number of most recent calls that are evaluated.
    pub window: u32,
    /// The minimum number of calls before the failure rate is evaluated.
    pub min_calls: u32,
    /// How long it stays open before it half-opens and admits probes.
    pub open_for: Duration,
    /// The number of probes that must succeed to close it.
    pub probes: u32,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failure_rate: 50,
            window: 100,
            min_calls: 5,
            open_for: Duration::from_secs(30),
            probes: 3,
        }
    }
}

/// The result of a call, as the breaker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallResult {
    /// The service answered.
    Success,
    /// The service is at fault.
    Failure,
    /// Not counted: the run was deferred or canceled, or failed for reasons unrelated to the service. A probe becomes
    /// available again.
    Ignored,
}

/// The call result of one run, counted in the commit that settles the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerSample {
    /// The name of the service.
    pub service: String,
    /// The result of the call.
    pub result: CallResult,
    /// If the run was a probe: the number of the opening it probed.
    pub probe: Option<u64>,
    /// The settings of the breaker.
    pub settings: BreakerSettings,
}

/// The stored breaker of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// The settings of the last counted call.
    pub settings: BreakerSettings,
    pub(crate) phase: Phase,
    /// The latest call results in commit order; `true` is a failure.
    #[serde(with = "word")]
    pub(crate) window: VecDeque<bool>,
    /// How often the breaker has opened. Distinguishes the probes of one opening from those of another.
    pub(crate) opening: u64,
    /// When the breaker last opened or closed.
    pub(crate) since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Closed,
    /// Half-open once `until` has passed. If it is `None`, an operator must close the breaker.
    Open {
        until: Option<Timestamp>,
        /// Probes that succeeded.
        good: u32,
    },
}

/// The state of a breaker at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Every run is admitted.
    Closed,
    /// No run is admitted.
    Open {
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
    /// A few runs are admitted as probes.
    HalfOpen {
        /// The number of probes that succeeded.
        good: u32,
    },
}

/// A change caused by a call result or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerChange {
    /// The breaker opened.
    Opened {
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
    /// The breaker closed.
    Closed,
}

/// A manual change of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerUpdate {
    /// Opens it for this long; `None` until it is closed manually.
    Open(Option<Duration>),
    /// Closes it and clears its window.
    Close,
}

/// A breaker with its service and its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BreakerRecord {
    /// The name of the service.
    pub service: String,
    /// The stored breaker.
    pub breaker: Breaker,
    /// The current state, by the store's clock.
    pub state: BreakerState,
}

/// Serializes the window as a string of `+` and `-`, about a tenth of the size of a list of booleans.
mod word {
    use std::collections::VecDeque;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bad: &VecDeque<bool>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&bad.iter().map(|bad| if *bad { '-' } else { '+' }).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<VecDeque<bool>, D::Error> {
        Ok(String::deserialize(from)?.chars().map(|outcome| outcome == '-').collect())
    }
}
