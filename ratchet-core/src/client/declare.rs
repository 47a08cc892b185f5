//! Declares schedules: those of `#[job(cron = "…")]` and those declared at run time.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::{ScheduleError, SubmitError, order};
use crate::job::{JobDef, Registration};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::limits::{self, Field, brief};
use ratchet_store::model::{
    ConcurrencyKey, Declarations, Declared, Missed, Overlap, ScheduleRecord, ScheduleWritten,
    Watch, WriteSchedule,
};
use ratchet_store::rules::recurring::{Cron, CronError};

/// How many times a change is tried against concurrent changes.
pub(crate) const TRIES: usize = 20;

pub(super) fn cron(schedule: &ScheduleRecord) -> Result<Cron, ScheduleError> {
    Cron::new(&schedule.expression, &schedule.zone)
        .map_err(|error| ScheduleError::Cron { name: brief(&schedule.name), error })
}

/// Returns the first occurrence of a schedule after `now`. A schedule without one is an error.
pub(super) fn first(
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
pub(super) fn check_missed(name: &str, missed: Missed) -> Result<(), SubmitError> {
    match missed {
        Missed::CatchUp(most) if most > limits::CATCH_UP => {
            let limit = limits::CATCH_UP;
            let problem = format!("at most {limit} missed occurrences can be caught up with");
            Err(SubmitError::BadOption { job: brief(name), problem })
        }
        _ => Ok(()),
    }
}

/// Refuses a watch that would always be late.
pub(super) fn check_watch(name: &str, within: Option<Duration>) -> Result<(), SubmitError> {
    if within.is_some_and(|within| within.is_zero()) {
        let problem = "`alert_after` must be longer than zero".to_owned();
        return Err(SubmitError::BadOption { job: brief(name), problem });
    }
    Ok(())
}

/// Sets how long a schedule may be without a success. A watch that exists keeps what it has seen.
pub(super) fn watch_for(schedule: &mut ScheduleRecord, within: Option<Duration>, now: Timestamp) {
    let watch = schedule.watch.take();
    schedule.watch = within.map(|within| match watch {
        Some(mut watch) => {
            watch.within = within;
            watch
        }
        None => Watch::new(within, now),
    });
}

/// Refuses a schedule that exceeds a limit. This also covers schedules declared with `#[job(cron = "…")]`, whose keys
/// have not been checked yet.
fn check_record(schedule: &ScheduleRecord) -> Result<(), SubmitError> {
    let (name, mut spec) = (&schedule.name, Some(&schedule.spec));
    limits::check(Field::Schedule, name).map_err(|error| SubmitError::limit(name, &error))?;
    check_missed(name, schedule.missed)?;
    check_watch(name, schedule.watch.as_ref().map(|watch| watch.within))?;
    let mut callbacks = Vec::new();
    while let Some(checked) = spec {
        limits::check_spec(checked).map_err(|error| SubmitError::limit(&checked.name, &error))?;
        callbacks.extend([&checked.on_success, &checked.on_failure].into_iter().flatten());
        spec = callbacks.pop().map(|callback| &**callback);
    }
    Ok(())
}

/// A schedule about to be declared: add options, then `.await`.
///
/// ```
/// # mod ratchet { pub use ratchet_core as schedule; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, report: impl ratchet_core::FirstStep) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use ratchet::schedule::Overlap;
///
/// ratchet
///     .schedules()
///     .declare("hourly", "0 * * * *", report)
///     .overlap(Overlap::Skip)
///     .alert_after(Duration::from_hours(3))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a schedule is declared only when this is awaited"]
pub struct DeclareSchedule {
    pub(super) core: Arc<Core>,
    pub(super) name: String,
    pub(super) record: Result<ScheduleRecord, SubmitError>,
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

impl DeclareSchedule {
    /// Sets what happens if an occurrence falls due while the job of an earlier one has not ended. The default is
    /// [`Overlap::Allow`].
    pub fn overlap(mut self, overlap: Overlap) -> Self {
        if let Ok(record) = &mut self.record {
            record.overlap = overlap;
        }
        self
    }

    /// Records an alert if no job of the schedule has succeeded for this long, once until the next success.
    pub fn alert_after(mut self, within: Duration) -> Self {
        if let Ok(record) = &mut self.record {
            record.watch = Some(Watch::new(within, Timestamp::UNIX_EPOCH));
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
            declare(&self.core, self.record?, None).await
        })
    }
}

/// Declares a schedule. Changes nothing if an equal schedule already exists.
///
/// The schedules of a program are fenced by `declarations`: if a newer version of the program has started, nothing
/// changes and the result is [`ScheduleError::Contended`].
pub(crate) async fn declare(
    core: &Core,
    mut new: ScheduleRecord,
    declarations: Option<&Declarations>,
) -> Result<(), ScheduleError> {
    check_record(&new)?;
    let cron = cron(&new)?;
    // Most schedules are new, so the first try skips the read.
    let (now, within) = (core.store.now().await?, new.watch.as_ref().map(|watch| watch.within));
    new.next = cron.after(now);
    new.watch = within.map(|within| Watch::new(within, now));
    if new.next.is_some() && write(core, &new.name, None, Some(new.clone()), declarations).await? {
        return Ok(());
    }
    let wanted = new.declared.clone();
    for _ in 0..TRIES {
        let there = core.store.schedule(&new.name).await?;
        let now = core.store.now().await?;
        match &there {
            Some(there) => {
                new.declared = owner(there.declared.as_ref(), wanted.as_ref());
                if there.defines_the_same(&new) && there.declared == new.declared {
                    return Ok(());
                }
                new.next = next(there, &new, &cron, now)?;
                new.last = there.last;
                new.paused = there.paused;
                new.watch.clone_from(&there.watch);
                watch_for(&mut new, within, now);
            }
            None => {
                new.declared.clone_from(&wanted);
                new.next = Some(first(&new, &cron, now)?);
            }
        }
        let replaces = there.map(|there| there.version);
        if write(core, &new.name, replaces, Some(new.clone()), declarations).await? {
            return Ok(());
        }
    }
    Err(ScheduleError::Contended(brief(&new.name)))
}

/// Returns which declaration a schedule belongs to after it has been declared again. It remains with the program that
/// declared it first, unless that program has withdrawn it.
fn owner(there: Option<&Declared>, new: Option<&Declared>) -> Option<Declared> {
    there.filter(|there| !there.withdrawn).or(new).cloned()
}

/// Returns the next occurrence of a schedule that replaces another one. It stays the same if both have the same
/// occurrences.
fn next(
    there: &ScheduleRecord,
    new: &ScheduleRecord,
    cron: &Cron,
    now: Timestamp,
) -> Result<Option<Timestamp>, ScheduleError> {
    if there.runs_as(new) { Ok(there.next) } else { first(new, cron, now).map(Some) }
}

/// Gives a declared schedule the name and the definition of the renamed job. If a schedule with the new name exists,
/// the old one is removed. Returns `false` if a concurrent change was faster.
pub(crate) async fn rename(
    core: &Core,
    old: &ScheduleRecord,
    mut new: ScheduleRecord,
    declarations: &Declarations,
) -> Result<bool, ScheduleError> {
    check_record(&new)?;
    let taken = core.store.schedule(&new.name).await?.is_some();
    new.next = next(old, &new, &cron(&new)?, core.store.now().await?)?;
    (new.last, new.paused) = (old.last, old.paused);
    let within = new.watch.as_ref().map(|watch| watch.within);
    new.watch.clone_from(&old.watch);
    watch_for(&mut new, within, core.store.now().await?);
    let record = (!taken).then_some(new);
    Ok(write(core, &old.name, Some(old.version), record, Some(declarations)).await?)
}

/// Writes or removes a schedule if its stored version is `replaces` (`None`: it does not exist). Returns `false` if a
/// concurrent change was faster.
pub(crate) async fn write(
    core: &Core,
    name: &str,
    replaces: Option<u64>,
    record: Option<ScheduleRecord>,
    declarations: Option<&Declarations>,
) -> Result<bool, StoreError> {
    let (name, declarations) = (name.to_owned(), declarations.cloned());
    let write = WriteSchedule {
        name,
        replaces,
        record,
        declarations,
        jobs: Vec::new(),
        notices: Vec::new(),
    };
    let written = core.store.write_schedule(write).await?;
    Ok(matches!(written, ScheduleWritten::Written { .. }))
}

/// Returns the schedule that `cron` on a job declares: the job with its default options, its business key and its
/// concurrency key.
pub(crate) fn definition(core: &Core, job: &Registration) -> Option<ScheduleRecord> {
    let cron = job.def.cron?;
    let def: &JobDef = &job.def;
    let mut spec = core.spec_with_callbacks(def, b"{}".to_vec());
    if let Ok(keys) = job.keys(b"{}") {
        spec.business_key = keys.business;
        spec.idempotency_key = None;
        let limit = def.concurrency_limit.unwrap_or(1);
        spec.concurrency = keys.concurrency.map(|key| ConcurrencyKey { key, limit });
        order::apply(&mut spec, def.order);
    }
    spec.boost = core.config.boost(&spec.queue);
    core.mark_confidential(&mut spec);
    let mut record = ScheduleRecord::new(def.name, spec, cron.expression);
    record.zone = cron.zone.to_owned();
    record.overlap = cron.overlap;
    // The watch begins when the schedule is declared.
    record.watch = cron.alert_after.map(|within| Watch::new(within, Timestamp::UNIX_EPOCH));
    record.declared = Some(Declared { program: core.config.program.clone(), withdrawn: false });
    Some(record)
}
