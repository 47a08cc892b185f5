//! [`Schedules`]: declares, queries and changes the schedules of recurring jobs.

use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Ratchet, SubmitError, submit};
use crate::job::Registration;
use crate::job::{FirstStep, JobDef};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::limits::{self, Field, brief};
use ratchet_store::model::{
    ConcurrencyKey, Due, JobId, JobSpec, Missed, NewJob, OnConflict, ScheduleRecord,
    ScheduleWritten, WriteSchedule,
};
use ratchet_store::rules::recurring::{Cron, CronError};

impl Ratchet {
    /// Returns access to the schedules of recurring jobs.
    pub fn schedules(&self) -> Schedules {
        Schedules { core: Arc::clone(&self.core) }
    }
}

/// The schedules of recurring jobs. The schedules of `#[job(cron = "…")]` are declared when a worker has started.
#[derive(Debug, Clone)]
pub struct Schedules {
    core: Arc<Core>,
}

/// A schedule, and whether a live worker can run its job.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScheduleView {
    /// The schedule as stored.
    pub schedule: ScheduleRecord,
    /// Whether some live worker knows the job. Otherwise the schedule does not fire.
    pub known: bool,
}

/// An error returned when a schedule cannot be changed. Nothing was changed.
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
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn declare<J: FirstStep>(
        &self,
        name: impl Into<String>,
        expression: impl Into<String>,
        job: J,
    ) -> DeclareSchedule {
        let name = name.into();
        let spec = submit::spec(&job).and_then(|mut spec| {
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

    /// Pauses a schedule: it does not fire until it is resumed.
    pub async fn pause(&self, name: &str) -> Result<(), ScheduleError> {
        self.change(name, |schedule, _| {
            schedule.paused = true;
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Resumes a schedule with its next occurrence. Occurrences during the pause do not count as missed.
    pub async fn resume(&self, name: &str) -> Result<(), ScheduleError> {
        self.change(name, |schedule, now| {
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
        let fire = |schedule: &mut ScheduleRecord, _| Ok(vec![job(core, schedule, Due::Now)]);
        Ok(self.change(name, fire).await?.first().copied())
    }

    /// Sets how missed occurrences are handled.
    pub async fn set_missed(&self, name: &str, missed: Missed) -> Result<(), ScheduleError> {
        check_missed(name, missed)?;
        self.change(name, |schedule, _| {
            schedule.missed = missed;
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
        self.change(name, |schedule, now| {
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
                jobs: Vec::new(),
            };
            if let ScheduleWritten::Written { .. } = self.core.store.write_schedule(write).await? {
                return Ok(true);
            }
        }
        Err(ScheduleError::Contended(brief(name)))
    }

    /// Reads, changes and writes a schedule. Tries again if a concurrent change was faster.
    async fn change(
        &self,
        name: &str,
        change: impl Fn(&mut ScheduleRecord, Timestamp) -> Result<Vec<NewJob>, ScheduleError>,
    ) -> Result<Vec<JobId>, ScheduleError> {
        for _ in 0..TRIES {
            let schedule = self.core.store.schedule(name).await?;
            let mut schedule = schedule.ok_or_else(|| ScheduleError::NotFound(brief(name)))?;
            let replaces = Some(schedule.version);
            let now = self.core.store.now().await?;
            let jobs = change(&mut schedule, now)?;
            let write =
                WriteSchedule { name: name.to_owned(), replaces, record: Some(schedule), jobs };
            let written = self.core.store.write_schedule(write).await?;
            if let ScheduleWritten::Written { created, .. } = written {
                return Ok(created);
            }
        }
        Err(ScheduleError::Contended(brief(name)))
    }
}

/// How many times a change is tried against concurrent changes.
const TRIES: usize = 20;

fn cron(schedule: &ScheduleRecord) -> Result<Cron, ScheduleError> {
    Cron::new(&schedule.expression, &schedule.zone)
        .map_err(|error| ScheduleError::Cron { name: brief(&schedule.name), error })
}

/// Returns the first occurrence of a schedule after `now`. A schedule without one is an error.
fn first(
    schedule: &ScheduleRecord,
    cron: &Cron,
    now: Timestamp,
) -> Result<Timestamp, ScheduleError> {
    cron.after(now).ok_or_else(|| {
        let error = CronError::Never { expression: brief(&schedule.expression) };
        ScheduleError::Cron { name: brief(&schedule.name), error }
    })
}

/// Refuses to catch up on more than [`limits::CATCH_UP`] occurrences.
fn check_missed(name: &str, missed: Missed) -> Result<(), SubmitError> {
    match missed {
        Missed::CatchUp(most) if most > limits::CATCH_UP => {
            let limit = limits::CATCH_UP;
            let problem = format!("at most {limit} missed occurrences can be caught up with");
            Err(SubmitError::BadOption { job: brief(name), problem })
        }
        _ => Ok(()),
    }
}

/// Refuses a schedule that exceeds a limit. This also covers schedules declared with `#[job(cron = "…")]`, whose keys
/// have not been checked yet.
fn check_record(schedule: &ScheduleRecord) -> Result<(), SubmitError> {
    let (name, mut spec) = (&schedule.name, Some(&schedule.spec));
    limits::check(Field::Schedule, name).map_err(|error| SubmitError::limit(name, &error))?;
    check_missed(name, schedule.missed)?;
    let mut callbacks = Vec::new();
    while let Some(checked) = spec {
        limits::check_spec(checked).map_err(|error| SubmitError::limit(&checked.name, &error))?;
        callbacks.extend([&checked.on_success, &checked.on_failure].into_iter().flatten());
        spec = callbacks.pop().map(|callback| &**callback);
    }
    Ok(())
}

/// Creates the job of one occurrence, with the tag `schedule:<name>`.
pub(crate) fn job(core: &Core, schedule: &ScheduleRecord, due: Due) -> NewJob {
    let mut spec = schedule.spec.clone();
    spec.tags.push(format!("schedule:{}", schedule.name));
    NewJob { id: core.ids.job(), spec, due, on_conflict: OnConflict::Refuse }
}

/// A schedule about to be declared: add options, then `.await`.
#[derive(Debug)]
#[must_use = "a schedule is declared only when this is awaited"]
pub struct DeclareSchedule {
    core: Arc<Core>,
    name: String,
    record: Result<ScheduleRecord, SubmitError>,
}

impl DeclareSchedule {
    /// Sets the IANA time zone of the expression. The default is UTC.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        if let Ok(record) = &mut self.record {
            record.zone = zone.into();
        }
        self
    }

    /// Sets how missed occurrences are handled. The default is [`Missed::FireOnce`].
    pub fn missed(mut self, missed: Missed) -> Self {
        if let Ok(record) = &mut self.record {
            record.missed = missed;
        }
        self
    }
}

impl IntoFuture for DeclareSchedule {
    type Output = Result<(), ScheduleError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            limits::check(Field::Schedule, &self.name)
                .map_err(|error| SubmitError::limit(&self.name, &error))?;
            declare(&self.core, self.record?).await
        })
    }
}

/// Declares a schedule. Changes nothing if an equal schedule already exists.
pub(crate) async fn declare(core: &Core, mut new: ScheduleRecord) -> Result<(), ScheduleError> {
    check_record(&new)?;
    let cron = cron(&new)?;
    // Most schedules are new, so the first try skips the read.
    new.next = cron.after(core.store.now().await?);
    if new.next.is_some() && write(core, &new, None).await? {
        return Ok(());
    }
    for _ in 0..TRIES {
        let there = core.store.schedule(&new.name).await?;
        let now = core.store.now().await?;
        match &there {
            Some(there) if there.defines_the_same(&new) => return Ok(()),
            Some(there) => {
                let same = there.runs_as(&new);
                new.next = if same { there.next } else { Some(first(&new, &cron, now)?) };
                new.last = there.last;
                new.paused = there.paused;
            }
            None => new.next = Some(first(&new, &cron, now)?),
        }
        if write(core, &new, there.map(|there| there.version)).await? {
            return Ok(());
        }
    }
    Err(ScheduleError::Contended(brief(&new.name)))
}

/// Writes a schedule if its stored version is `replaces` (`None`: it does not exist). Returns whether it was written.
async fn write(
    core: &Core,
    schedule: &ScheduleRecord,
    replaces: Option<u64>,
) -> Result<bool, StoreError> {
    let name = schedule.name.clone();
    let write = WriteSchedule { name, replaces, record: Some(schedule.clone()), jobs: Vec::new() };
    let written = core.store.write_schedule(write).await?;
    Ok(matches!(written, ScheduleWritten::Written { .. }))
}

/// Returns the schedule that `cron` on a job declares: the job with its default options, its business key and its
/// concurrency key.
pub(crate) fn definition(core: &Core, job: &Registration) -> Option<ScheduleRecord> {
    let cron = job.def.cron?;
    let def: &JobDef = &job.def;
    let mut spec = Core::spec_with_callbacks(def, b"{}".to_vec());
    if let Ok(keys) = job.keys(b"{}") {
        spec.business_key = keys.business;
        spec.idempotency_key = None;
        let limit = def.concurrency_limit.unwrap_or(1);
        spec.concurrency = keys.concurrency.map(|key| ConcurrencyKey { key, limit });
    }
    spec.boost = core.config.boost(&spec.queue);
    let mut record = ScheduleRecord::new(def.name, spec, cron.expression);
    record.zone = cron.zone.to_owned();
    Some(record)
}
