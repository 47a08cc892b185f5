//! [`Schedules`]: declares, queries and changes the schedules of recurring jobs.

use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

use jiff::{Timestamp, Zoned};

use super::acting::{Manner, store_error, unexpected};
use super::declare::{TRIES, check_missed, check_watch, cron, first, watch_for};
use super::{DeclareSchedule, Ratchet, SubmitError, submit};
use crate::job::FirstStep;
use crate::runtime::Core;
use ratchet_keyring::{Envelope, KeyError, Purpose};
use ratchet_store::StoreError;
use ratchet_store::model::limits::brief;
use ratchet_store::model::{
    Change, ChangeReply, Due, JobId, JobSpec, Missed, NewJob, Overlap, ScheduleRecord,
    ScheduleWritten, WriteSchedule,
};
use ratchet_store::rules::recurring::CronError;

impl Ratchet {
    /// Returns access to the schedules of recurring jobs.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// for view in ratchet.schedules().list().await? {
    ///     let schedule = &view.schedule;
    ///     println!("{} {} {}, next at {:?}", schedule.name, schedule.expression, schedule.zone, schedule.next);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn schedules(&self) -> Schedules {
        Schedules { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

/// The schedules of recurring jobs.
///
/// The schedules of `#[job(cron = "…")]` are declared when a worker has started. They belong to the program that
/// declares them, see [`Builder::program`](super::Builder::program): a job renamed with `alias` keeps its schedule, and a
/// schedule whose `cron` was removed is removed.
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// if let Some(nightly) = ratchet.schedules().get("nightly").await? {
///     println!("{} {}, next at {:?}", nightly.schedule.expression, nightly.schedule.zone, nightly.schedule.next);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Schedules {
    core: Arc<Core>,
    manner: Manner,
}

/// A schedule, and whether a live worker can run its job.
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// for view in ratchet.schedules().list().await? {
///     if !view.known && !view.schedule.is_stopped() {
///         println!("no worker knows the job of schedule {}", view.schedule.name);
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScheduleView {
    /// The schedule as stored.
    pub schedule: ScheduleRecord,
    /// Whether some live worker knows the job. Otherwise the schedule does not fire.
    pub known: bool,
}

/// An error returned when a schedule cannot be changed. Nothing was changed.
///
/// ```
/// # mod ratchet { pub use ratchet_core as schedule; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, report: impl ratchet_core::FirstStep, cron: String) -> Result<(), ratchet_core::ScheduleError> {
/// use ratchet::schedule::ScheduleError;
///
/// // The expression comes from a form.
/// match ratchet.schedules().declare("report", cron, report).await {
///     Err(ScheduleError::Cron { error, .. }) => println!("correct the expression: {error}"),
///     other => drop(other?),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The schedule does not exist.
    #[error("there is no schedule `{0}`")]
    NotFound(String),
    /// The cron expression or the time zone is invalid, or the schedule never fires.
    #[error("schedule `{name}`: {error}")]
    Cron {
        /// The name of the schedule.
        name: String,
        /// The error in the expression or zone.
        error: CronError,
    },
    /// The job of the schedule is invalid.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The change lost to concurrent changes too many times.
    #[error("schedule `{0}` is being changed by others; try again")]
    Contended(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Schedules {
    /// Declares a schedule: `.declare("nightly", "0 3 * * *", Report {}).zone("Europe/Berlin").await`.
    ///
    /// Idempotent: repeating a declaration changes nothing. A different declaration replaces the old one.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as schedule; }
    /// # async fn demo(ratchet: ratchet_core::Ratchet, report: impl ratchet_core::FirstStep) -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::schedule::Missed;
    ///
    /// ratchet
    ///     .schedules()
    ///     .declare("nightly", "30 2 * * *", report)
    ///     .zone("Europe/Berlin")
    ///     .missed(Missed::CatchUp(3))
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn declare<J: FirstStep>(
        &self,
        name: impl Into<String>,
        expression: impl Into<String>,
        job: J,
    ) -> DeclareSchedule {
        let name = name.into();
        let spec = submit::spec(&self.core, &job).and_then(|mut spec| {
            submit::check(&self.core, &mut spec)?;
            Ok(spec)
        });
        let record = spec.map(|spec| ScheduleRecord::new(name.clone(), spec, expression));
        DeclareSchedule { core: Arc::clone(&self.core), record, name }
    }

    /// Lists all schedules, ordered by name.
    pub async fn list(&self) -> Result<Vec<ScheduleView>, StoreError> {
        let schedules = self.core.store.schedules().await?;
        self.views(schedules).await
    }

    async fn views(&self, schedules: Vec<ScheduleRecord>) -> Result<Vec<ScheduleView>, StoreError> {
        let nodes = self.core.store.nodes().await?;
        let known = |spec: &JobSpec| {
            nodes.iter().any(|node| node.alive && node.info.known.knows(&spec.name, spec.version))
        };
        let view =
            |schedule: ScheduleRecord| ScheduleView { known: known(&schedule.spec), schedule };
        Ok(schedules.into_iter().map(view).collect())
    }

    /// Returns a schedule; `None` if it does not exist.
    pub async fn get(&self, name: &str) -> Result<Option<ScheduleView>, StoreError> {
        let schedule = self.core.store.schedule(name).await?;
        Ok(self.views(schedule.into_iter().collect()).await?.pop())
    }

    /// Returns the next occurrences of a schedule in its zone, at most `count`, whether or not it is paused.
    ///
    /// ```
    /// # use ratchet_core::{Ratchet, ScheduleError};
    /// # async fn demo(ratchet: &Ratchet) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(view) = ratchet.schedules().get("nightly").await? {
    ///     for at in ratchet.schedules().preview(&view.schedule, 10)? {
    ///         println!("{at}");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn preview(
        &self,
        schedule: &ScheduleRecord,
        count: usize,
    ) -> Result<Vec<Zoned>, ScheduleError> {
        let cron = cron(schedule)?;
        let first = cron.after(self.core.clock.now());
        let occurrences = std::iter::successors(first, |at| cron.after(*at));
        Ok(occurrences.take(count).map(|at| at.to_zoned(cron.zone().clone())).collect())
    }

    /// Pauses a schedule: it does not fire until it is resumed.
    ///
    /// ```
    /// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::ScheduleError> {
    /// ratchet.schedules().pause("nightly").await?;
    /// ratchet.schedules().run_now("nightly").await?; // also while it is paused
    /// ratchet.schedules().resume("nightly").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn pause(&self, name: &str) -> Result<(), ScheduleError> {
        self.change("schedules.pause", name, |schedule, _| {
            schedule.paused = true;
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Resumes a schedule with its next occurrence. Occurrences during the pause do not count as missed.
    pub async fn resume(&self, name: &str) -> Result<(), ScheduleError> {
        self.change("schedules.resume", name, |schedule, now| {
            if schedule.paused {
                schedule.paused = false;
                schedule.next = cron(schedule)?.after(now);
            }
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Fires a schedule now, in addition to its occurrences. Returns the job, or `None` if another job holds its key.
    pub async fn run_now(&self, name: &str) -> Result<Option<JobId>, ScheduleError> {
        let core = &self.core;
        let fire = |schedule: &mut ScheduleRecord, _| {
            if core.protector.is_none() && Envelope::is_reserved(&schedule.spec.payload) {
                let error = KeyError::NoActiveKey { purpose: Purpose::Sign, tenant: None };
                return Err(SubmitError::Key { job: schedule.spec.name.clone(), error }.into());
            }
            let job = job(core, schedule, Due::Now);
            if let Some(watch) = &mut schedule.watch {
                watch.submitted([job.id]);
            }
            Ok(vec![job])
        };
        Ok(self.change("schedules.run", name, fire).await?.first().copied())
    }

    /// Sets how missed occurrences are handled.
    pub async fn set_missed(&self, name: &str, missed: Missed) -> Result<(), ScheduleError> {
        check_missed(name, missed)?;
        self.change("schedules.edit", name, |schedule, _| {
            schedule.missed = missed;
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Sets what happens if an occurrence falls due while the job of an earlier one has not ended.
    pub async fn set_overlap(&self, name: &str, overlap: Overlap) -> Result<(), ScheduleError> {
        self.change("schedules.edit", name, |schedule, _| {
            schedule.overlap = overlap;
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Records an alert if no job of the schedule has succeeded for this long. `None` ends the watch.
    pub async fn alert_after(
        &self,
        name: &str,
        within: Option<Duration>,
    ) -> Result<(), ScheduleError> {
        check_watch(name, within)?;
        self.change("schedules.edit", name, |schedule, now| {
            watch_for(schedule, within, now);
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Changes the cron expression and time zone of a schedule.
    pub async fn reschedule(
        &self,
        name: &str,
        expression: &str,
        zone: &str,
    ) -> Result<(), ScheduleError> {
        self.change("schedules.edit", name, |schedule, now| {
            schedule.expression = expression.to_owned();
            schedule.zone = zone.to_owned();
            schedule.next = Some(first(schedule, &cron(schedule)?, now)?);
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Removes a schedule. Returns `false` if there was none. A schedule declared with `#[job(cron = "…")]` is declared
    /// again when a worker has started.
    pub async fn remove(&self, name: &str) -> Result<bool, ScheduleError> {
        for _ in 0..TRIES {
            let Some(schedule) = self.core.store.schedule(name).await? else { return Ok(false) };
            let write = WriteSchedule {
                name: name.to_owned(),
                replaces: Some(schedule.version),
                record: None,
                declarations: None,
                jobs: Vec::new(),
                notices: Vec::new(),
            };
            if self.write("schedules.remove", write).await? != ScheduleWritten::Stale {
                return Ok(true);
            }
        }
        Err(ScheduleError::Contended(brief(name)))
    }

    /// Reads, changes and writes a schedule. Tries again if a concurrent change was faster.
    async fn change(
        &self,
        verb: &'static str,
        name: &str,
        change: impl Fn(&mut ScheduleRecord, Timestamp) -> Result<Vec<NewJob>, ScheduleError>,
    ) -> Result<Vec<JobId>, ScheduleError> {
        for _ in 0..TRIES {
            let schedule = self.core.store.schedule(name).await?;
            let mut schedule = schedule.ok_or_else(|| ScheduleError::NotFound(brief(name)))?;
            let replaces = Some(schedule.version);
            let now = self.core.store.now().await?;
            let jobs = change(&mut schedule, now)?;
            let write = WriteSchedule {
                name: name.to_owned(),
                replaces,
                record: Some(schedule),
                declarations: None,
                jobs,
                notices: Vec::new(),
            };
            let written = self.write(verb, write).await?;
            if let ScheduleWritten::Written { created, .. } = written {
                return Ok(created);
            }
        }
        Err(ScheduleError::Contended(brief(name)))
    }

    async fn write(
        &self,
        verb: &'static str,
        write: WriteSchedule,
    ) -> Result<ScheduleWritten, StoreError> {
        if !self.manner.is_special() {
            return self.core.store.write_schedule(write).await;
        }
        let change = Change::Schedule(write);
        match self.core.operate(&self.manner, verb, change).await.map_err(store_error)? {
            ChangeReply::Schedule(written) => Ok(written),
            _ => Err(unexpected()),
        }
    }
}

/// Creates the job of one occurrence, with the tag `schedule:<name>`.
pub(crate) fn job(core: &Core, schedule: &ScheduleRecord, due: Due) -> NewJob {
    let mut spec = schedule.spec.clone();
    spec.tags.push(format!("schedule:{}", schedule.name));
    let mut job = NewJob { due, ..NewJob::new(core.ids.job(), spec) };
    schedule.overlap.apply(&mut job, &schedule.name);
    job
}
