//! Circuit breakers: one state machine per service, shared by the cluster.
//!
//! A store keeps a [`Breaker`] per service and applies [`Breaker::count`] in the commit that settles a run; a claim asks
//! [`Breaker::admits`]. Both are pure, so every store has the same breaker.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::later;

/// When a breaker opens and how it closes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BreakerSettings {
    /// The share of failed calls, in percent (1–100), that opens it.
    pub failure_rate: u8,
    /// How many of the last outcomes are looked at.
    pub window: u32,
    /// How many outcomes there must be before the rate counts.
    pub min_calls: u32,
    /// How long it stays open before it lets probes through.
    pub open_for: Duration,
    /// How many probes must succeed to close it again.
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

/// What a run says about the service it called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ballot {
    /// The service answered.
    Good,
    /// The service is to blame.
    Bad,
    /// Nothing: the run was put off, canceled, or failed for reasons of its own. A probe is handed back.
    Blank,
}

/// The word of one run on its service: counted in the commit that settles the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// The service.
    pub service: String,
    /// What the run says.
    pub ballot: Ballot,
    /// If the run was a probe: of which opening.
    pub probe: Option<u64>,
    /// How its breaker is set.
    pub settings: BreakerSettings,
}

/// The breaker of one service, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// The settings it was last counted with.
    pub settings: BreakerSettings,
    phase: Phase,
    /// The last outcomes in the order of their commits; `true` is bad.
    #[serde(with = "word")]
    window: VecDeque<bool>,
    /// How often it has opened: tells the probes of one opening from those of another.
    opening: u64,
    /// When it last changed between open and closed.
    since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    Closed,
    /// Half-open once `until` has passed; without one it waits for an operator.
    Open {
        until: Option<Timestamp>,
        /// Probes that succeeded.
        good: u32,
    },
}

/// How a breaker stands at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Runs go through.
    Closed,
    /// No run goes through.
    Open {
        /// Until then; without it, until an operator closes the breaker.
        until: Option<Timestamp>,
    },
    /// A few runs go through, to see.
    HalfOpen {
        /// How many of them have succeeded.
        good: u32,
    },
}

/// How many runs a breaker lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Any number.
    All,
    /// This many more, each of them a probe of this opening.
    Probes {
        /// How many.
        left: u32,
        /// Of which opening.
        opening: u64,
    },
    /// None.
    Nothing {
        /// Before then.
        until: Option<Timestamp>,
    },
}

/// What a vote or an operator changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerChange {
    /// It opened.
    Opened {
        /// When probes are let through; without it, when an operator says so.
        until: Option<Timestamp>,
    },
    /// It closed.
    Closed,
}

/// What an operator does to a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerOrder {
    /// Open it: for this long, or until it is closed by hand.
    Open(Option<Duration>),
    /// Close it and forget what it has seen.
    Close,
}

/// A breaker and its service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerRecord {
    /// The service.
    pub service: String,
    /// The breaker.
    pub breaker: Breaker,
    /// How it stands now, by the store's clock.
    pub state: BreakerState,
}

impl Breaker {
    /// A closed breaker that has seen nothing.
    pub fn new(settings: BreakerSettings, now: Timestamp) -> Self {
        let window = VecDeque::new();
        Self { settings, phase: Phase::Closed, window, opening: 0, since: now }
    }

    /// How it stands.
    pub fn state(&self, now: Timestamp) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { until: Some(until), good } if until <= now => {
                BreakerState::HalfOpen { good }
            }
            Phase::Open { until, .. } => BreakerState::Open { until },
        }
    }

    /// Whether every run goes through, whatever the time.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// When it last changed between open and closed.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// How many outcomes it looks at, and how many of them were bad.
    pub fn seen(&self) -> (usize, usize) {
        (self.window.len(), self.window.iter().filter(|bad| **bad).count())
    }

    /// How often it has opened.
    pub fn opening(&self) -> u64 {
        self.opening
    }

    /// How many more runs go through, given how many probes of this opening are running.
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

    /// Counts what a run says of the service.
    ///
    /// While it is closed every word counts; while it is not, only those of the probes of this opening. Runs that were
    /// under way when it opened say nothing new.
    pub fn count(&mut self, vote: &Vote, now: Timestamp) -> Option<BreakerChange> {
        self.settings = vote.settings;
        let bad = match vote.ballot {
            Ballot::Good => false,
            Ballot::Bad => true,
            Ballot::Blank => return None,
        };
        match self.state(now) {
            BreakerState::Closed => {
                self.remember(bad);
                self.is_too_bad().then(|| self.open(Some(self.settings.open_for), now))
            }
            BreakerState::Open { .. } => None,
            BreakerState::HalfOpen { .. } if vote.probe != Some(self.opening) => None,
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

    /// Carries out what an operator wants; nothing if it stands like that already.
    pub fn obey(&mut self, order: BreakerOrder, now: Timestamp) -> Option<BreakerChange> {
        match order {
            BreakerOrder::Open(duration) => Some(self.open(duration, now)),
            BreakerOrder::Close if self.is_closed() => None,
            BreakerOrder::Close => Some(self.close(now)),
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

/// Outcomes as a word of `+` and `-`: a tenth of what a list of booleans takes.
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
