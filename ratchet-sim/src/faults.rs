//! What can go wrong between a node and the store.

use std::time::Duration;

use fastrand::Rng;

use crate::exec::Owner;
use crate::op::Op;
use crate::world::Network;

/// What becomes of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    /// Carried out at once.
    AtOnce,
    /// Carried out after the first time, answered after the second.
    Answered(Duration, Duration),
    /// Never carried out; an error comes back.
    Refused(Duration),
    /// Carried out after the first time; an error comes back after the second.
    AnswerLost(Duration, Duration),
}

/// How a node is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Nothing gets through.
    Both,
    /// Requests get through, answers do not.
    Answers,
}

/// What the whole store suffers from for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storm {
    Down,
    Slow,
}

/// How likely what goes wrong is in this schedule.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    /// Nothing goes wrong any more.
    pub(crate) calm: bool,
    pub(crate) storm: Option<Storm>,
    /// Requests in a thousand that are refused.
    refused: u16,
    /// Answers in a thousand that are lost.
    lost: u16,
    /// Requests in a thousand that take seconds.
    slow: u16,
    /// Settles in a thousand that are delivered twice.
    twice: u16,
    /// Wake-ups in a hundred that are lost, and that are late.
    hints_lost: u8,
    hints_late: u8,
    /// Requests in a hundred that take no time.
    quick: u8,
}

impl Weather {
    /// Some schedules are nearly calm, so that bugs that need no fault are found as well; some are terrible.
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

    /// How long a wake-up takes; `None` if it never comes.
    pub(crate) fn hint(&self, rng: &mut Rng) -> Option<Duration> {
        if !self.calm && rng.u8(..100) < self.hints_lost {
            return None;
        }
        if rng.u8(..100) < self.hints_late {
            return Some(Duration::from_micros(rng.u64(1..200_000)));
        }
        Some(Duration::ZERO)
    }

    /// When a settle is delivered once more, if it is.
    pub(crate) fn again(&self, rng: &mut Rng) -> Option<Duration> {
        let again = !self.calm && rng.u16(..1000) < self.twice;
        again.then(|| Duration::from_millis(rng.u64(..8000)))
    }
}

impl Network {
    /// What becomes of this request.
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
