//! Fires the schedules of recurring jobs. Any node may fire a schedule; its version ensures that only one does.

use std::time::Duration;

use crate::client::schedule_job;
use crate::events::{Event, JobRef};
use crate::runtime::Core;
use ratchet_keyring::Envelope;
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{Due, RefusalKind, ScheduleRecord, ScheduleWritten, WriteSchedule};
use ratchet_store::rules::recurring::{Cron, fire};

/// Fires every schedule that is due and whose job this program knows.
pub(crate) async fn fire_due(core: &Core) -> Result<(), StoreError> {
    const BATCH: u32 = 1000;
    let due = core.store.due_schedules(BATCH).await?;
    if due.is_empty() {
        return Ok(());
    }
    let now = core.store.now().await?;
    // A schedule that fails, for example because another transaction holds a key of its job, does not stop the rest.
    let mut failed = None;
    for schedule in due {
        // The panic of the resolver was logged, and the schedule stays due.
        let Ok(known) = core.resolve(&schedule.spec.name) else { continue };
        if known.is_none_or(|job| job.def.version < schedule.spec.version) {
            tracing::debug!(schedule = %schedule.name, job = %schedule.spec.name, "a schedule is due whose job is not known here");
            continue;
        }
        if core.protector.is_none() && Envelope::is_reserved(&schedule.spec.payload) {
            tracing::warn!(schedule = %schedule.name, "a schedule is due that is signed or encrypted, and this worker has no keyring");
            continue;
        }
        if let Some(refusal) = schedule.spec.protection.refusal() {
            let (name, why) = (&schedule.name, &refusal.why);
            if refusal.kind == RefusalKind::MissingKey {
                tracing::warn!(schedule = %name, %why, "a schedule is due whose key is missing here");
                continue;
            }
            // The job of the occurrence has no valid signature either, so it becomes a dead letter with an alert.
            tracing::error!(schedule = %name, %why, "a schedule was refused: its row was changed or was not written by a client with the keyring");
        }
        match Cron::new(&schedule.expression, &schedule.zone) {
            Ok(cron) => failed = fire_one(core, schedule, &cron, now).await.err().or(failed),
            Err(error) => {
                tracing::error!(schedule = %schedule.name, %error, "a schedule cannot fire");
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

async fn fire_one(
    core: &Core,
    schedule: ScheduleRecord,
    cron: &Cron,
    now: jiff::Timestamp,
) -> Result<(), StoreError> {
    let Some(firing) = fire(&schedule, cron, now) else { return Ok(()) };
    let jobs: Vec<_> = firing
        .occurrences
        .iter()
        .map(|occurrence| schedule_job(core, &schedule, Due::At(*occurrence)))
        .collect();
    let refs: Vec<_> = jobs
        .iter()
        .map(|job| JobRef {
            id: job.id,
            name: job.spec.name.as_str().into(),
            queue: job.spec.queue.as_str().into(),
        })
        .collect();
    let (name, replaces) = (schedule.name.clone(), Some(schedule.version));
    let has_missed = firing.occurrences.first() != schedule.next.as_ref();
    let last = firing.occurrences.last().copied().or(schedule.last);
    let mut record = schedule;
    (record.next, record.last) = (firing.next, last);
    if let Some(watch) = &mut record.watch {
        watch.submitted(jobs.iter().map(|job| job.id));
    }
    let write = WriteSchedule {
        name: name.clone(),
        replaces,
        record: Some(record),
        declarations: None,
        jobs,
        notices: Vec::new(),
    };
    crash_point(CrashPoint::FireDecided);
    let written = core.store.write_schedule(write).await?;
    crash_point(CrashPoint::FireAnswered);
    match written {
        // Another node has fired it.
        ScheduleWritten::Stale => {}
        ScheduleWritten::Written { created, dropped } => {
            if has_missed {
                core.meter.missed(&name);
            }
            for (job, occurrence) in refs.iter().zip(&firing.occurrences) {
                if created.contains(&job.id) {
                    let late = Duration::try_from(now.duration_since(*occurrence));
                    core.meter.fired(&name, late.unwrap_or_default());
                    core.meter.submitted(&job.queue, &job.name, 1);
                }
            }
            for job in refs.into_iter().filter(|job| created.contains(&job.id)) {
                core.events.publish(|| Event::Submitted { job });
            }
            for job in dropped {
                tracing::debug!(schedule = %name, job = %job.name, why = %job.why, "an occurrence was passed over");
            }
        }
    }
    Ok(())
}
