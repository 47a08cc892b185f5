//! Circuit breakers: one state machine per service, shared by the cluster.
//!
//! A store keeps one [`Breaker`] per service. It calls [`Breaker::count`] in the commit that settles a run, and
//! [`Breaker::admits`] in a claim. Both are pure functions, so breakers behave the same in every store.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{
    Breaker, BreakerChange, BreakerSample, BreakerSettings, BreakerState, BreakerUpdate,
    CallResult, DeclaredSettings, Phase, later,
};

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

impl Breaker {
    /// Creates a closed breaker with an empty window.
    pub fn new(settings: BreakerSettings, now: Timestamp) -> Self {
        let window = VecDeque::new();
        Self {
            settings,
            declared: Vec::new(),
            set_by_operator: None,
            phase: Phase::Closed,
            window,
            opening: 0,
            since: now,
        }
    }

    /// Returns the state at `now`.
    pub fn state(&self, now: Timestamp) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { until: Some(until), good, .. } if until <= now => {
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
        self.settings = self.given_settings().unwrap_or(sample.settings);
        let bad = match sample.result {
            CallResult::Success => false,
            CallResult::Failure => true,
            CallResult::Ignored => return None,
        };
        match self.state(now) {
            BreakerState::Closed => {
                self.remember(bad);
                self.is_too_bad().then(|| self.open(Some(self.settings.open_for), false, now))
            }
            BreakerState::Open { .. } => None,
            BreakerState::HalfOpen { .. } if sample.probe != Some(self.opening) => None,
            BreakerState::HalfOpen { .. } if bad => {
                Some(self.open(Some(self.settings.open_for), false, now))
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

    /// Applies an order of an operator or of a program. Returns the change, if the breaker has opened or closed.
    ///
    /// The store must have checked [`BreakerUpdate::declarations`].
    pub fn apply(&mut self, order: BreakerUpdate, now: Timestamp) -> Option<BreakerChange> {
        match order {
            BreakerUpdate::Open(duration) => return Some(self.open(duration, true, now)),
            BreakerUpdate::Close if self.is_closed() => return None,
            BreakerUpdate::Close => return Some(self.close(now)),
            BreakerUpdate::Set(settings) => self.set_by_operator = Some(settings),
            BreakerUpdate::Reset => self.set_by_operator = None,
            BreakerUpdate::Declare { declarations, settings } => {
                let others = self.declared.len();
                self.declared.retain(|declared| declared.program != declarations.program);
                let withdrawn = settings.is_none() && self.declared.len() < others;
                if let Some(settings) = settings {
                    let program = declarations.program;
                    self.declared.push(DeclaredSettings { program, settings });
                    self.declared.sort_by(|a, b| a.program.cmp(&b.program));
                }
                if withdrawn && self.declared.is_empty() && self.opened_by_calls() {
                    return Some(self.close(now));
                }
            }
        }
        self.settings = self.given_settings().unwrap_or(self.settings);
        None
    }

    /// Returns the settings that were set or declared. If there are none, those of the last call apply.
    fn given_settings(&self) -> Option<BreakerSettings> {
        let declared = self.declared.first().map(|declared| declared.settings);
        self.set_by_operator.or(declared)
    }

    fn opened_by_calls(&self) -> bool {
        matches!(self.phase, Phase::Open { manual: false, .. })
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

    fn open(&mut self, duration: Option<Duration>, manual: bool, now: Timestamp) -> BreakerChange {
        let until = duration.map(|duration| later(now, duration));
        self.phase = Phase::Open { until, good: 0, manual };
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

#[cfg(test)]
mod tests;
