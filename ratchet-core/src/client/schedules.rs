//! Recurring jobs: declare, look, pause, change, run now.

use std::pin::Pin;
use std::sync::Arc;

use jiff::Timestamp;

use super::{Core, Ratchet, SubmitError, submit};
use crate::job::{Begins, JobDef};
use crate::model::limits::{self, Field, brief};
use crate::model::{
    ConcurrencyKey, Due, JobId, JobSpec, Missed, NewJob, OnTaken, ScheduleRecord, ScheduleWritten,
    WriteSchedule,
};
use crate::recurring::{Cron, CronError};
use crate::registry::Registration;
use crate::store::StoreError;

impl Ratchet {
    /// The schedules of recurring jobs.
    pub fn schedules(&self) -> Schedules {
        Schedules { core: Arc::clone(&self.core) }
    }
}

/// The schedules of recurring jobs. Those of `#[job(cron = "…")]` are declared when a worker starts.
#[derive(Debug, Clone)]
pub struct Schedules {
    core: Arc<Core>,
}

/// A schedule, and whether anybody can run what it fires.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ScheduleView {
    /// The schedule.
    pub schedule: ScheduleRecord,
    /// Whether some live worker knows its job. If none does, it is not fired.
    pub known: bool,
}

/// A change of a schedule was refused; nothing changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There is no such schedule.
    #[error("there is no schedule `{0}`")]
    NotFound(String),
    /// A schedule that cannot be.
    #[error("schedule `{name}`: {source}")]
    Cron {
        /// The schedule.
        name: String,
        /// What is wrong with it.
        source: CronError,
    },
    /// The job cannot be submitted.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// Others keep changing the schedule.
    #[error("schedule `{0}` is being changed by others; try again")]
    Contended(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Schedules {
    /// Declares a schedule: `.declare("nightly", "0 3 * * *", Report {}).zone("Europe/Berlin").await`.
    ///
    /// Idempotent: the same declaration changes nothing, another one replaces it.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn declare<J: Begins>(
        &self,
        name: impl Into<String>,
        expression: impl Into<String>,
        job: J,
    ) -> Declare {
        let name = name.into();
        let spec = submit::spec(&job).and_then(|mut spec| {
            submit::check(&self.core, &mut spec)?;
            Ok(spec)
        });
        let record = spec.map(|spec| ScheduleRecord::new(name.clone(), spec, expression));
        Declare { core: Arc::clone(&self.core), record, name }
    }

    /// Every schedule, by name.
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

    /// One schedule.
    pub async fn get(&self, name: &str) -> Result<Option<ScheduleView>, StoreError> {
        let schedule = self.core.store.schedule(name).await?;
        Ok(self.views(schedule.into_iter().collect()).await?.pop())
    }

    /// Sets a schedule aside: it fires nothing until it is resumed.
    pub async fn pause(&self, name: &str) -> Result<(), ScheduleError> {
        self.change(name, |schedule, _| {
            schedule.paused = true;
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Lets a schedule go on with its next occurrence. What it would have fired meanwhile is not missed but was paused.
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

    /// Fires a schedule now, beside its occurrences; gives back the job, or nothing if another holds its key.
    pub async fn run_now(&self, name: &str) -> Result<Option<JobId>, ScheduleError> {
        let core = &self.core;
        let fire = |schedule: &mut ScheduleRecord, _| Ok(vec![job(core, schedule, Due::Now)]);
        Ok(self.change(name, fire).await?.first().copied())
    }

    /// Changes what happens to missed occurrences.
    pub async fn set_missed(&self, name: &str, missed: Missed) -> Result<(), ScheduleError> {
        check_missed(name, missed)?;
        self.change(name, |schedule, _| {
            schedule.missed = missed;
            Ok(Vec::new())
        })
        .await
        .map(drop)
    }

    /// Changes when a schedule fires.
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

    /// Removes a schedule; `false` if there was none. One that is declared on a job comes back when a worker starts.
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

    /// Changes a schedule as it stands; tried again if somebody else was quicker.
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

/// How often a change is tried that others are quicker with.
const TRIES: usize = 20;

fn cron(schedule: &ScheduleRecord) -> Result<Cron, ScheduleError> {
    Cron::new(&schedule.expression, &schedule.zone)
        .map_err(|source| ScheduleError::Cron { name: brief(&schedule.name), source })
}

/// The first occurrence of a schedule; one that has none is refused.
fn first(
    schedule: &ScheduleRecord,
    cron: &Cron,
    now: Timestamp,
) -> Result<Timestamp, ScheduleError> {
    cron.after(now).ok_or_else(|| {
        let source = CronError::Never { expression: brief(&schedule.expression) };
        ScheduleError::Cron { name: brief(&schedule.name), source }
    })
}

/// Refuses to catch up with more than can be made at once.
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

/// Refuses a schedule some part of which is beyond its limit: also one that a job declares, whose keys nobody has checked.
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

/// The job of one occurrence: it carries the schedule's name as a tag.
pub(crate) fn job(core: &Core, schedule: &ScheduleRecord, due: Due) -> NewJob {
    let mut spec = schedule.spec.clone();
    spec.tags.push(format!("schedule:{}", schedule.name));
    NewJob { id: core.ids.job(), spec, due, on_taken: OnTaken::Refuse }
}

/// A schedule about to be declared: add options, then `.await`.
#[derive(Debug)]
#[must_use = "a schedule is declared only when this is awaited"]
pub struct Declare {
    core: Arc<Core>,
    name: String,
    record: Result<ScheduleRecord, SubmitError>,
}

impl Declare {
    /// The IANA zone the expression is read in; UTC otherwise.
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        if let Ok(record) = &mut self.record {
            record.zone = zone.into();
        }
        self
    }

    /// What happens to occurrences that nobody was there to fire: one job, whatever their number, unless said otherwise.
    pub fn missed(mut self, missed: Missed) -> Self {
        if let Ok(record) = &mut self.record {
            record.missed = missed;
        }
        self
    }
}

impl IntoFuture for Declare {
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

/// Declares a schedule: nothing changes if it is there already as it is declared.
pub(crate) async fn declare(core: &Core, mut new: ScheduleRecord) -> Result<(), ScheduleError> {
    check_record(&new)?;
    let cron = cron(&new)?;
    // Most are new, so the first try does not read.
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

/// Writes a schedule in the place of this version; whether it was still that one.
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

/// The schedule that `cron` on a job declares: the job with its defaults, its options and its keys.
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
