//! Recurring jobs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{DroppedChild, JobId, JobSpec, NewJob};

/// A schedule as it stands: what it fires, and when next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScheduleRecord {
    /// What it is called; there is one of each name.
    pub name: String,
    /// The job it makes.
    pub spec: JobSpec,
    /// The cron expression.
    pub expression: String,
    /// The IANA zone it is read in.
    pub zone: String,
    /// What happens to occurrences that nobody was there to fire.
    pub missed: Missed,
    /// The next occurrence; `None` if there is none any more.
    pub next: Option<Timestamp>,
    /// The last occurrence that was fired.
    pub last: Option<Timestamp>,
    /// It is set aside.
    pub paused: bool,
    /// The fence: grows with every change.
    pub version: u64,
}

/// What happens to occurrences that nobody was there to fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Missed {
    /// They are passed over. An occurrence of the last minute is not missed, only late.
    Skip,
    /// However many there were: one job.
    #[default]
    FireOnce,
    /// A job for each of the latest so many.
    CatchUp(u32),
}

/// A change of a schedule together with the jobs it makes, in one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteSchedule {
    /// The schedule's name.
    pub name: String,
    /// The version that is replaced: if the schedule is at another one, nothing changes. `None`: there is no such schedule.
    pub replaces: Option<u64>,
    /// The schedule from now on; `None` to remove it. The store sets its version.
    pub record: Option<ScheduleRecord>,
    /// Jobs to insert. One whose key is taken is dropped alone.
    pub jobs: Vec<NewJob>,
}

/// What became of a change of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub enum ScheduleWritten {
    /// It is committed.
    Written {
        /// The jobs that came into being.
        created: Vec<JobId>,
        /// The jobs that did not, because of a key.
        dropped: Vec<DroppedChild>,
    },
    /// The schedule was at another version; nothing changed.
    Stale,
}

impl ScheduleRecord {
    /// A schedule that has not fired yet.
    pub fn new(name: impl Into<String>, spec: JobSpec, expression: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            spec,
            expression: expression.into(),
            zone: "UTC".to_owned(),
            missed: Missed::default(),
            next: None,
            last: None,
            paused: false,
            version: 0,
        }
    }

    /// Whether both say the same, whatever has happened since.
    pub fn defines_the_same(&self, other: &Self) -> bool {
        self.spec == other.spec && self.missed == other.missed && self.runs_as(other)
    }

    /// Whether both have the same occurrences.
    pub fn runs_as(&self, other: &Self) -> bool {
        self.expression == other.expression && self.zone == other.zone
    }
}
