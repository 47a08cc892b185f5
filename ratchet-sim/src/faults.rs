//! Faults between a node and the store, and their probabilities.

use std::time::Duration;

use fastrand::Rng;

use crate::exec::Owner;
use crate::op::Op;
use crate::world::Network;

/// How a request is handled.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    /// Executed and answered immediately.
    AtOnce,
    /// Executed after the first delay, answered after the second.
    Answered(Duration, Duration),
    /// Not executed; an error is returned after the delay.
    Refused(Duration),
    /// Executed after the first delay; an error is returned after the second.
    AnswerLost(Duration, Duration),
}

/// How a node is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Neither requests nor answers get through.
    Both,
    /// Requests get through, answers do not.
    Answers,
}

/// A temporary fault of the whole store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storm {
    Down,
    Slow,
}

/// The probabilities of faults in this schedule.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    /// Disables all faults.
    pub(crate) calm: bool,
    pub(crate) storm: Option<Storm>,
    /// Refused requests, per 1000.
    refused: u16,
    /// Lost answers, per 1000.
    lost: u16,
    /// Requests that take up to six seconds, per 1000.
    slow: u16,
    /// Settle calls that are delivered twice, per 1000.
    twice: u16,
    /// Lost and delayed wake-ups, per 100.
    hints_lost: u8,
    hints_late: u8,
    /// Requests that take no time, per 100.
    quick: u8,
}

impl Weather {
    /// Draws the probabilities. They vary from nearly no faults, to find bugs that need none, to very many.
    pub(crate) fn forecast(rng: &mut Rng) -> Self {
        let level = [0, 10, 30, 100][rng.usize(..4)];
        let mut per_mille = |most: u16| if most == 0 { 0 } else { rng.u16(..=most) };
        Self {
            calm: false,
            storm: None,
            refused: per_mille(level),
            lost: per_mille(level),
            slow: per_mille(level / 2),
            twice: per_mille(level * 2),
            hints_lost: [0, 10, 50, 100][rng.usize(..4)],
            hints_late: [0, 20, 50][rng.usize(..3)],
            quick: [0, 30, 70][rng.usize(..3)],
        }
    }

    /// Returns the delay of a wake-up; `None` if it is lost.
    pub(crate) fn hint(&self, rng: &mut Rng) -> Option<Duration> {
        if !self.calm && rng.u8(..100) < self.hints_lost {
            return None;
        }
        if rng.u8(..100) < self.hints_late {
            return Some(Duration::from_micros(rng.u64(1..200_000)));
        }
        Some(Duration::ZERO)
    }

    /// Returns the delay after which a settle call is delivered again; `None` if it is not.
    pub(crate) fn again(&self, rng: &mut Rng) -> Option<Duration> {
        let again = !self.calm && rng.u16(..1000) < self.twice;
        again.then(|| Duration::from_millis(rng.u64(..8000)))
    }
}

impl Network {
    /// Decides how this request is handled.
    pub(crate) fn fate(&self, rng: &mut Rng, owner: Owner, op: Op) -> Fate {
        let weather = &self.weather;
        let short = |rng: &mut Rng| Duration::from_micros(rng.u64(50..4_000));
        if weather.calm {
            return if rng.bool() { Fate::AtOnce } else { Fate::Answered(short(rng), short(rng)) };
        }
        let late = |rng: &mut Rng| Duration::from_millis(rng.u64(5..1500));
        match self.cuts.get(&owner) {
            Some(Cut::Both) => return Fate::Refused(late(rng)),
            Some(Cut::Answers) => return Fate::AnswerLost(short(rng), late(rng)),
            None => {}
        }
        match weather.storm {
            Some(Storm::Down) => return Fate::Refused(short(rng)),
            Some(Storm::Slow) => return Fate::Answered(late(rng), late(rng)),
            None => {}
        }
        let dice = rng.u16(..1000);
        if dice < weather.refused {
            Fate::Refused(short(rng))
        } else if dice < weather.refused + weather.lost {
            Fate::AnswerLost(short(rng), late(rng))
        } else if dice < weather.refused + weather.lost + weather.slow {
            let slow = Duration::from_millis(rng.u64(..6000));
            if rng.bool() {
                Fate::Answered(slow, short(rng))
            } else {
                Fate::Answered(short(rng), slow)
            }
        } else if op == Op::Now || rng.u8(..100) < weather.quick {
            Fate::AtOnce
        } else {
            Fate::Answered(short(rng), short(rng))
        }
    }
}
