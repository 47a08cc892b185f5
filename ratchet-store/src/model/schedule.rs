//! Schedules of recurring jobs.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Declarations, DroppedChild, JobId, JobSpec, NewJob};

/// The stored state of a schedule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScheduleRecord {
    /// The unique name of the schedule.
    pub name: String,
    /// The job that is submitted at each occurrence.
    pub spec: JobSpec,
    /// The cron expression.
    pub expression: String,
    /// The IANA time zone in which the expression is evaluated.
    pub zone: String,
    /// How missed occurrences are handled.
    pub missed: Missed,
    /// The next occurrence; `None` if the expression has no more.
    pub next: Option<Timestamp>,
    /// The last occurrence that fired.
    pub last: Option<Timestamp>,
    /// If `true`, the schedule does not fire.
    pub paused: bool,
    /// The declaration in code that made the schedule, or `None` if it was declared at run time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declared: Option<Declared>,
    /// The fencing version; incremented by every change.
    pub version: u64,
}

/// The declaration in code that made a schedule: `#[job(cron = "…")]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Declared {
    /// The program that declares the schedule.
    pub program: String,
    /// If `true`, the newest version of the program no longer contains the job, so that the schedule does not fire.
    pub withdrawn: bool,
}

/// How occurrences are handled that were missed because no worker was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Missed {
    /// Missed occurrences are skipped. An occurrence less than a minute old counts as late, not as missed.
    Skip,
    /// One job is submitted for all missed occurrences together.
    #[default]
    FireOnce,
    /// One job is submitted for each of the latest missed occurrences, up to this number.
    CatchUp(u32),
}

/// A change of a schedule, together with the jobs to insert in the same commit.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteSchedule {
    /// The name of the schedule.
    pub name: String,
    /// The version that is replaced. If the schedule has another version, nothing changes. `None` if the schedule must
    /// not exist yet.
    pub replaces: Option<u64>,
    /// The new state of the schedule, or `None` to remove it. The store sets its version. If it has another name, the
    /// schedule is renamed; nothing changes if that name is taken.
    pub record: Option<ScheduleRecord>,
    /// If set, nothing changes unless these are the newest declarations of their program.
    pub declarations: Option<Declarations>,
    /// The jobs to insert. A job whose key is taken is dropped without affecting the rest.
    pub jobs: Vec<NewJob>,
}

/// The result of changing a schedule.
#[derive(Debug, Clone, PartialEq)]
pub enum ScheduleWritten {
    /// The change is committed.
    Written {
        /// The jobs that were created.
        created: Vec<JobId>,
        /// The jobs that were not created because of a key.
        dropped: Vec<DroppedChild>,
    },
    /// The schedule had another version; nothing changed.
    Stale,
}

impl ScheduleRecord {
    /// Creates a schedule that has not fired yet, in UTC.
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
            declared: None,
            version: 0,
        }
    }

    /// Returns `true` if the schedule does not fire, because it is paused or its job was withdrawn.
    pub fn is_stopped(&self) -> bool {
        self.paused || self.declared.as_ref().is_some_and(|declared| declared.withdrawn)
    }

    /// Returns `true` if both have the same definition, regardless of when they last fired.
    pub fn defines_the_same(&self, other: &Self) -> bool {
        self.spec == other.spec && self.missed == other.missed && self.runs_as(other)
    }

    /// Returns `true` if both have the same occurrences.
    pub fn runs_as(&self, other: &Self) -> bool {
        self.expression == other.expression && self.zone == other.zone
    }
}
