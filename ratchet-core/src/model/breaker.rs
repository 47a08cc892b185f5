//! Circuit breakers: one state machine per service, shared by the cluster.
//!
//! A store keeps one [`Breaker`] per service. It calls [`Breaker::count`] in the commit that settles a run, and
//! [`Breaker::admits`] in a claim. Both are pure functions, so breakers behave the same in every store.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::later;

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
    phase: Phase,
    /// The latest call results in commit order; `true` is a failure.
    #[serde(with = "word")]
    window: VecDeque<bool>,
    /// How often the breaker has opened. Distinguishes the probes of one opening from those of another.
    opening: u64,
    /// When the breaker last opened or closed.
    since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Closed,
    /// Half-open once `until` has passed. If it is `None`, an operator must close the breaker.
    Open {
        until: Option<Timestamp>,
        /// Probes that succeeded.
        good: u32,
    },
}

/// The state of a breaker at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// How many runs a breaker admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Any number.
    All,
    /// A limited number, each a probe of this opening.
    Probes {
        /// How many more probes are admitted.
        left: u32,
        /// The number of the opening.
        opening: u64,
    },
    /// None.
    Nothing {
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
}

/// A change caused by a call result or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerRecord {
    /// The name of the service.
    pub service: String,
    /// The stored breaker.
    pub breaker: Breaker,
    /// The current state, by the store's clock.
    pub state: BreakerState,
}

impl Breaker {
    /// Creates a closed breaker with an empty window.
    pub fn new(settings: BreakerSettings, now: Timestamp) -> Self {
        let window = VecDeque::new();
        Self { settings, phase: Phase::Closed, window, opening: 0, since: now }
    }

    /// Returns the state at `now`.
    pub fn state(&self, now: Timestamp) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { until: Some(until), good } if until <= now => {
                BreakerState::HalfOpen { good }
            }
            Phase::Open { until, .. } => BreakerState::Open { until },
        }
    }

    /// Returns `true` if the breaker is closed. Does not depend on the time.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Returns when the breaker last opened or closed.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns the number of calls in the window, and how many of them failed.
    pub fn seen(&self) -> (usize, usize) {
        (self.window.len(), self.window.iter().filter(|bad| **bad).count())
    }

    /// Returns how often the breaker has opened.
    pub fn opening(&self) -> u64 {
        self.opening
    }

    /// Returns how many more runs are admitted when `probing` probes of this opening are running.
    pub fn admits(&self, probing: u64, now: Timestamp) -> Admission {
        match self.state(now) {
            BreakerState::Closed => Admission::All,
            BreakerState::Open { until } => Admission::Nothing { until },
            BreakerState::HalfOpen { good } => {
                let out = u32::try_from(probing).unwrap_or(u32::MAX).saturating_add(good);
                let left = self.settings.probes.saturating_sub(out);
                Admission::Probes { left, opening: self.opening }
            }
        }
    }

    /// Counts a call result.
    ///
    /// While the breaker is closed, every result counts. While it is half-open, only probes of the current opening
    /// count. Until the breaker closes, the results of runs that started before it opened are ignored.
    pub fn count(&mut self, sample: &BreakerSample, now: Timestamp) -> Option<BreakerChange> {
        self.settings = sample.settings;
        let bad = match sample.result {
            CallResult::Success => false,
            CallResult::Failure => true,
            CallResult::Ignored => return None,
        };
        match self.state(now) {
            BreakerState::Closed => {
                self.remember(bad);
                self.is_too_bad().then(|| self.open(Some(self.settings.open_for), now))
            }
            BreakerState::Open { .. } => None,
            BreakerState::HalfOpen { .. } if sample.probe != Some(self.opening) => None,
            BreakerState::HalfOpen { .. } if bad => {
                Some(self.open(Some(self.settings.open_for), now))
            }
            BreakerState::HalfOpen { good } => {
                let good = good.saturating_add(1);
                if good >= self.settings.probes {
                    return Some(self.close(now));
                }
                if let Phase::Open { good: counted, .. } = &mut self.phase {
                    *counted = good;
                }
                None
            }
        }
    }

    /// Applies an operator's order. Closing a closed breaker changes nothing and returns `None`.
    pub fn apply(&mut self, order: BreakerUpdate, now: Timestamp) -> Option<BreakerChange> {
        match order {
            BreakerUpdate::Open(duration) => Some(self.open(duration, now)),
            BreakerUpdate::Close if self.is_closed() => None,
            BreakerUpdate::Close => Some(self.close(now)),
        }
    }

    fn remember(&mut self, bad: bool) {
        self.window.push_back(bad);
        let most = usize::try_from(self.settings.window).unwrap_or(usize::MAX).max(1);
        while self.window.len() > most {
            self.window.pop_front();
        }
    }

    fn is_too_bad(&self) -> bool {
        let (seen, bad) = self.seen();
        let enough = u64::from(self.settings.min_calls.min(self.settings.window));
        seen as u64 >= enough
            && bad as u64 * 100 >= u64::from(self.settings.failure_rate) * seen as u64
    }

    fn open(&mut self, duration: Option<Duration>, now: Timestamp) -> BreakerChange {
        let until = duration.map(|duration| later(now, duration));
        self.phase = Phase::Open { until, good: 0 };
        self.window.clear();
        self.opening += 1;
        self.since = now;
        BreakerChange::Opened { until }
    }

    fn close(&mut self, now: Timestamp) -> BreakerChange {
        self.phase = Phase::Closed;
        self.window.clear();
        self.since = now;
        BreakerChange::Closed
    }
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

#[cfg(test)]
mod tests;
