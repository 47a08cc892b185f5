//! Time in a sandbox over a store that has its own clock, such as PostgreSQL.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::client::schedule_job;
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::env::{Clock, Sleep, SystemClock, VirtualClock};
use ratchet_store::model::{
    Command, CommandError, Due, Filter, JobState, PageRequest, ScheduleRecord, WriteSchedule,
};
use ratchet_store::rules::recurring::{Cron, fire};

/// A clock for handlers that sleep in virtual time. The time of day is real, because ids contain it and the store compares
/// them with its own clock.
#[derive(Debug)]
pub(super) struct LiveClock {
    real: SystemClock,
    virtual_clock: VirtualClock,
}

impl LiveClock {
    pub(super) fn new(virtual_clock: &VirtualClock) -> Self {
        Self { real: SystemClock::default(), virtual_clock: virtual_clock.clone() }
    }
}

impl Clock for LiveClock {
    fn now(&self) -> jiff::Timestamp {
        self.real.now()
    }

    fn monotonic(&self) -> Duration {
        self.virtual_clock.monotonic()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.virtual_clock.sleep(duration)
    }
}

/// The time by which a sandbox was advanced and that the clock of its store does not show.
///
/// The clock of such a store cannot be advanced. Instead, waiting jobs are moved by the same time towards the present,
/// and schedules are fired by a virtual time: that of the store plus this time.
#[derive(Debug, Clone, Default)]
pub(super) struct Lag(Arc<Mutex<Elapsed>>);

#[derive(Debug, Default)]
struct Elapsed {
    total: Duration,
    /// The part by which waiting jobs were not moved yet.
    new: Duration,
}

impl Lag {
    fn elapsed(&self) -> MutexGuard<'_, Elapsed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, duration: Duration) {
        let mut elapsed = self.elapsed();
        elapsed.total = elapsed.total.saturating_add(duration);
        elapsed.new = elapsed.new.saturating_add(duration);
    }

    /// Returns the total time.
    pub(super) fn total(&self) -> Duration {
        self.elapsed().total
    }

    /// Moves waiting jobs and fires schedules by the time that the store has not seen.
    pub(super) async fn catch_up(&self, core: &Core) -> Result<(), StoreError> {
        let new = std::mem::take(&mut self.elapsed().new);
        if !new.is_zero() {
            move_jobs(core, new).await?;
        }
        let now = core.store.now().await?;
        let now = now.checked_add(self.total()).unwrap_or(now);
        for schedule in core.store.schedules().await? {
            fire_schedule(core, schedule, now).await?;
        }
        Ok(())
    }
}

/// Moves waiting jobs towards the present.
async fn move_jobs(core: &Core, by: Duration) -> Result<(), StoreError> {
    let now = core.store.now().await?;
    let waiting = Filter::any().state(JobState::Pending).oldest_first();
    let mut page = PageRequest { before: None, limit: 1000 };
    loop {
        let jobs = core.store.list(&waiting, page).await?;
        for job in jobs.jobs.iter().filter(|job| job.is_claimable() && job.due > now) {
            let due = job.due.checked_sub(by).unwrap_or(now).max(now);
            let command = Command::Reschedule(job.id, Due::At(due));
            // Another refusal means that the job has changed in the meantime.
            if let Err(CommandError::Store(error)) = core.store.command(command).await {
                return Err(error);
            }
        }
        page.before = jobs.next;
        if page.before.is_none() {
            return Ok(());
        }
    }
}

/// Fires a schedule that is due at a virtual time. Its jobs are due now.
async fn fire_schedule(
    core: &Core,
    schedule: ScheduleRecord,
    now: jiff::Timestamp,
) -> Result<(), StoreError> {
    let cron = Cron::new(&schedule.expression, &schedule.zone);
    let stopped = schedule.is_stopped();
    let Some(firing) = cron.ok().filter(|_| !stopped).and_then(|cron| fire(&schedule, &cron, now))
    else {
        return Ok(());
    };
    let occurrences = firing.occurrences.iter();
    let jobs = occurrences.map(|_| schedule_job(core, &schedule, Due::Now)).collect();
    let (name, replaces) = (schedule.name.clone(), Some(schedule.version));
    let mut record = schedule;
    record.last = firing.occurrences.last().copied().or(record.last);
    record.next = firing.next;
    let write = WriteSchedule {
        name,
        replaces,
        record: Some(record),
        declarations: None,
        jobs,
        notices: Vec::new(),
    };
    core.store.write_schedule(write).await.map(|_| ())
}
