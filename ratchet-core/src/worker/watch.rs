//! Watches schedules: records an alert if one has not succeeded for too long.

use std::time::Duration;

use uuid::Uuid;

use crate::events::Event;
use crate::failure::{fingerprint, record};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Envelope, FailureKind, JobId, NodeId, Notice, ScheduleRecord, ScheduleWritten, TerminalReason,
    Watch, WriteSchedule,
};
use ratchet_store::rules::recurring::watch;

/// Checks every watched schedule. The version of a schedule makes sure that only one node alerts.
pub(crate) async fn check_watched(core: &Core, node: NodeId) -> Result<(), StoreError> {
    for schedule in core.store.schedules().await? {
        if let Some(watched) = &schedule.watch {
            check(core, node, &schedule, watched).await?;
        }
    }
    Ok(())
}

async fn check(
    core: &Core,
    node: NodeId,
    schedule: &ScheduleRecord,
    watched: &Watch,
) -> Result<(), StoreError> {
    let mut jobs = Vec::new();
    for id in &watched.recent {
        jobs.extend(core.store.get(*id).await?);
    }
    let now = core.store.now().await?;
    let Some(seen) = watch(schedule, &jobs, now) else { return Ok(()) };
    let since = seen.watch.since;
    let mut record = schedule.clone();
    record.watch = Some(seen.watch);
    let notices = if seen.overdue { vec![alert(core, node, schedule, since)] } else { Vec::new() };
    let written = core.store.write_schedule(WriteSchedule {
        name: schedule.name.clone(),
        replaces: Some(schedule.version),
        record: Some(record),
        declarations: None,
        jobs: Vec::new(),
        notices,
    });
    // If it has fired meanwhile, the next check sees the same.
    if matches!(written.await?, ScheduleWritten::Written { .. }) && seen.overdue {
        let name = schedule.name.as_str();
        tracing::error!(schedule = name, %since, "a schedule has not succeeded for too long");
        core.events.publish(|| Event::ScheduleOverdue { schedule: name.to_owned(), since });
    }
    Ok(())
}

/// Returns the alert about a schedule. It is about the latest job of the schedule, if there is one.
fn alert(core: &Core, node: NodeId, schedule: &ScheduleRecord, since: jiff::Timestamp) -> Notice {
    let name = &schedule.name;
    let message = format!("schedule `{name}` has not succeeded since {since}");
    let mut failure = record(FailureKind::Error, "ScheduleOverdue".to_owned(), message, None);
    // One alert per schedule, whatever the time in the message is.
    failure.fingerprint = fingerprint("ScheduleOverdue", name);
    let latest = schedule.watch.as_ref().and_then(|watch| watch.recent.last().copied());
    let job = latest.unwrap_or(JobId::from_uuid(Uuid::nil()));
    let reason = TerminalReason::RetryExhausted;
    let mut envelope = Envelope::new(job, schedule.spec.name.clone(), reason, failure, node);
    envelope.queue.clone_from(&schedule.spec.queue);
    envelope.binary_version.clone_from(&core.policies.binary_version);
    Notice::Alert { window: Duration::ZERO, envelope: Box::new(envelope) }
}
