//! Computes the occurrences that a schedule fires now.

use jiff::{SignedDuration, Timestamp};

use super::Cron;
use crate::model::{Missed, ScheduleRecord};

/// An occurrence that is late by at most this much is not missed.
const GRACE: SignedDuration = SignedDuration::from_secs(60);

/// The occurrences that a schedule fires now, and its next occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    /// The occurrences to submit jobs for, oldest first.
    pub occurrences: Vec<Timestamp>,
    /// The next occurrence, or `None` if there is none.
    pub next: Option<Timestamp>,
}

/// Returns the occurrences that a schedule fires at `now`, or `None` if it is not due.
pub fn fire(schedule: &ScheduleRecord, cron: &Cron, now: Timestamp) -> Option<Firing> {
    let next = schedule.next.filter(|next| *next <= now && !schedule.paused)?;
    let most = match schedule.missed {
        Missed::Skip | Missed::FireOnce => 1,
        Missed::CatchUp(most) => usize::try_from(most).unwrap_or(usize::MAX),
    };
    let mut occurrences = latest(cron, next, now, most);
    if schedule.missed == Missed::Skip {
        occurrences.retain(|occurrence| now.duration_since(*occurrence) <= GRACE);
    }
    Some(Firing { occurrences, next: cron.after(now) })
}

/// Returns the latest occurrences from `first` up to `now`, at most `most`. Searches in windows that grow backward, so
/// that an expression that fires every second is not enumerated through a whole year.
fn latest(cron: &Cron, first: Timestamp, now: Timestamp, most: usize) -> Vec<Timestamp> {
    if most == 0 {
        return Vec::new();
    }
    let mut window = SignedDuration::from_secs(60);
    loop {
        let start = now.checked_sub(window).unwrap_or(first).max(first);
        let mut found = Vec::new();
        let just_before = start.checked_sub(SignedDuration::from_nanos(1)).unwrap_or(start);
        let mut at = cron.after(just_before);
        while let Some(occurrence) = at.filter(|at| *at <= now) {
            found.push(occurrence);
            at = cron.after(occurrence);
        }
        if found.len() >= most {
            return found.split_off(found.len() - most);
        }
        if start <= first {
            return found;
        }
        window = window.saturating_mul(4);
    }
}
