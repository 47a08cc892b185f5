//! Schedules of recurring jobs.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Declarations, DroppedChild, JobId, JobSpec, NewJob, Notice};

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
    /// What happens if an occurrence falls due while the job of an earlier one has not ended.
    #[serde(default, skip_serializing_if = "Overlap::is_default")]
    pub overlap: Overlap,
    /// Watches whether the jobs of the schedule succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<Watch>,
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
///
/// ```
/// # mod ratchet { pub use ratchet_store::{model, self as store}; }
/// use ratchet::model::{JobSpec, Missed, ScheduleRecord};
/// use ratchet::store::rules::recurring::{Cron, fire};
///
/// let cron = Cron::new("@hourly", "UTC")?;
/// let mut schedule = ScheduleRecord::new("report", JobSpec::new("report", Vec::new()), "@hourly");
/// schedule.next = Some("2026-11-17T01:00:00Z".parse()?);
///
/// // No worker was running from midnight to noon: twelve occurrences were missed.
/// schedule.missed = Missed::CatchUp(3);
/// let firing = fire(&schedule, &cron, "2026-11-17T12:30:00Z".parse()?).expect("it is due");
/// assert_eq!(firing.occurrences.len(), 3);
/// # schedule.missed = Missed::FireOnce;
/// # assert_eq!(fire(&schedule, &cron, "2026-11-17T12:30:00Z".parse()?).expect("it is due").occurrences.len(), 1);
/// # schedule.missed = Missed::Skip;
/// # assert_eq!(fire(&schedule, &cron, "2026-11-17T12:30:00Z".parse()?).expect("it is due").occurrences.len(), 0);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
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

/// What happens if an occurrence falls due while the job of an earlier one has not ended.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{JobId, JobSpec, NewJob, OnConflict, Overlap};
///
/// # let id = JobId::from_uuid(uuid::Uuid::from_u128(7));
/// let mut job = NewJob::new(id, JobSpec::new("report", Vec::new()));
/// Overlap::Skip.apply(&mut job, "nightly");
/// assert_eq!(job.spec.business_key.as_deref(), Some("schedule:nightly"));
/// assert_eq!(job.on_conflict, OnConflict::ReturnHolder); // the earlier job, if it has not ended
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Overlap {
    /// Another job is submitted. Both may run at the same time.
    #[default]
    Allow,
    /// The occurrence is skipped while a job of the schedule waits or runs.
    Skip,
    /// One job waits while another one runs. Further occurrences are skipped until it has started.
    QueueOne,
}

impl Overlap {
    /// Returns `true` for the default, which is not stored.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::Allow
    }
}

/// Watches whether the jobs of a schedule succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Watch {
    /// An alert is recorded if no job of the schedule has succeeded for this long.
    pub within: Duration,
    /// The last success that was seen, or when the watch began.
    pub since: Timestamp,
    /// Whether an alert was recorded since then.
    pub alerted: bool,
    /// The latest jobs of the schedule that were not seen to succeed, oldest first, at most [`Watch::RECENT`].
    pub recent: Vec<JobId>,
}

impl Watch {
    /// The most jobs of a schedule that are watched.
    pub const RECENT: usize = 64;

    /// Creates a watch that begins at `since`.
    pub fn new(within: Duration, since: Timestamp) -> Self {
        Self { within, since, alerted: false, recent: Vec::new() }
    }
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
    /// Messages to record in the same commit.
    pub notices: Vec<Notice>,
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
            overlap: Overlap::default(),
            watch: None,
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
        let within = |schedule: &Self| schedule.watch.as_ref().map(|watch| watch.within);
        self.spec == other.spec
            && self.missed == other.missed
            && self.overlap == other.overlap
            && within(self) == within(other)
            && self.runs_as(other)
    }

    /// Returns `true` if both have the same occurrences.
    pub fn runs_as(&self, other: &Self) -> bool {
        self.expression == other.expression && self.zone == other.zone
    }
}
