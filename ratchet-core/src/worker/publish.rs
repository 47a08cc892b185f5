//! Publishes events for settlements, based on what the store has applied.

use std::collections::HashSet;

use crate::client::publish_effects;
use crate::events::{Event, JobRef};
use crate::runtime::Core;
use ratchet_store::model::{
    Applied, AttemptOutcome, Claimed, Deferral, Envelope, FailureKind, Protection, Settled,
    Settlement, Suspicion, Verdict,
};

/// Returns the reference to a claimed job for use in events.
pub(super) fn job_ref(job: &Claimed) -> JobRef {
    JobRef {
        id: job.id(),
        name: job.spec.name.as_str().into(),
        queue: job.spec.queue.as_str().into(),
    }
}

/// Publishes the events and log lines of a settlement.
pub(crate) fn publish(core: &Core, job: &Claimed, settlement: &Settlement, settled: &Settled) {
    let events = &core.events;
    core.meter.settled(job, settlement, settled);
    let applied = match settled {
        Settled::Applied(applied) => applied,
        Settled::Stale { state } => {
            tracing::debug!(job.id = %job.id(), job.name = %job.spec.name, ?state, "a run ended after its job had changed; its outcome is discarded");
            events.publish(|| Event::Stale { job: job_ref(job) });
            return;
        }
        // Not settled yet.
        Settled::Blocked { .. } => return,
    };
    if settlement.outcome == AttemptOutcome::Crashed {
        publish_crash(core, job, settlement);
    }
    publish_verdict(core, job, settlement, applied);
    if let (Some(sample), Some(change)) = (&settlement.sample, applied.breaker) {
        tracing::warn!(service = sample.service, ?change, "a circuit breaker has changed");
        core.meter.breaker(&sample.service, change);
        events.publish(|| Event::of_breaker(&sample.service, change));
    }
    publish_effects(core, &applied.effects);
    publish_children(core, settlement, applied);
    publish_warnings(core, job, settlement, applied);
}

/// Returns a text of a run for the log of the process. The log is not encrypted.
fn loggable<'a>(job: &Claimed, text: &'a str) -> &'a str {
    if job.spec.protection == Protection::Confidential { "[confidential]" } else { text }
}

fn publish_crash(core: &Core, job: &Claimed, settlement: &Settlement) {
    let crashes = match &settlement.verdict {
        Verdict::Rescue { crashes, .. } | Verdict::Fail { crashes, .. } => *crashes,
        _ => job.crashes,
    };
    let next = Suspicion::of(crashes, core.config.isolate_after_crashes);
    tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, node = %job.node, crashes, %next, "the worker of a job has died");
    core.events.publish(|| Event::Orphaned { job: job_ref(job), node: job.node, crashes });
}

fn publish_verdict(core: &Core, job: &Claimed, settlement: &Settlement, applied: &Applied) {
    let events = &core.events;
    let next = applied.due.unwrap_or(applied.at);
    match &settlement.verdict {
        Verdict::Succeed { .. } => {
            events
                .publish(|| Event::Succeeded { job: job_ref(job), duration: settlement.duration });
        }
        Verdict::Retry { attempts, failure, .. } => {
            timed_out(core, job, settlement, failure.kind);
            let max_retries = job.spec.options.max_retries;
            tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, queue = %job.spec.queue, attempt = attempts, max_retries, error = %loggable(job, &failure.message), %next, "an attempt has failed and will be retried");
            events.publish(|| Event::Failed {
                job: job_ref(job),
                attempt: *attempts,
                error: failure.clone(),
                will_retry: true,
            });
            events.publish(|| Event::Retrying {
                job: job_ref(job),
                attempt: *attempts,
                error: failure.clone(),
                next,
            });
        }
        Verdict::Fail { attempts, envelope, .. } => {
            publish_dead_letter(core, job, settlement, (*attempts, envelope, applied));
        }
        Verdict::Defer { why: Deferral::Snooze, .. } => {
            events.publish(|| Event::Snoozed { job: job_ref(job), next });
        }
        Verdict::Defer { why, note, .. } => {
            events.publish(|| Event::Rejected {
                job: job_ref(job),
                by: *why,
                why: note.clone(),
                next,
            });
        }
        Verdict::Release => events.publish(|| Event::Released { job: job_ref(job) }),
        Verdict::Rescue { .. } => {}
    }
}

fn publish_dead_letter(
    core: &Core,
    job: &Claimed,
    settlement: &Settlement,
    (attempt, envelope, applied): (u32, &Envelope, &Applied),
) {
    let (events, failure) = (&core.events, &envelope.failure);
    timed_out(core, job, settlement, failure.kind);
    tracing::error!(job.id = %job.id(), job.name = %job.spec.name, queue = %job.spec.queue, attempt, reason = %envelope.reason, explanation = envelope.explanation.as_deref().map(|text| loggable(job, text)), error = %loggable(job, &failure.message), "a job has failed permanently");
    events.publish(|| Event::Failed {
        job: job_ref(job),
        attempt,
        error: failure.clone(),
        will_retry: false,
    });
    events.publish(|| {
        let mut envelope = Box::new(envelope.clone());
        envelope.at = applied.at;
        Event::DeadLettered { job: job_ref(job), envelope }
    });
    if let Some(parent) = &job.spec.finished {
        events.publish(|| Event::CallbackFailed { job: job_ref(job), parent: parent.id });
    }
}

/// Publishes the jobs that the settlement has inserted.
fn publish_children(core: &Core, settlement: &Settlement, applied: &Applied) {
    let spawned: HashSet<_> = applied.spawned.iter().collect();
    let members = settlement.graphs.iter().flat_map(|graph| &graph.jobs);
    let children = settlement.spawned.iter().chain(members);
    for child in children.filter(|child| spawned.contains(&child.id)) {
        core.meter.submitted(&child.spec.queue, &child.spec.name, 1);
        core.events.publish(|| Event::Submitted {
            job: JobRef {
                id: child.id,
                name: child.spec.name.as_str().into(),
                queue: child.spec.queue.as_str().into(),
            },
        });
    }
}

fn publish_warnings(core: &Core, job: &Claimed, settlement: &Settlement, applied: &Applied) {
    let dropped = applied
        .dropped
        .iter()
        .map(|child| format!("child `{}` was dropped: {}", child.name, child.why));
    let dropped = dropped.chain(applied.dropped_graphs.iter().map(ToString::to_string));
    for warning in settlement.notes.warnings.iter().cloned().chain(dropped) {
        tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, "{warning}");
        core.events.publish(|| Event::Warning { job: job_ref(job), warning: warning.clone() });
    }
}

fn timed_out(core: &Core, job: &Claimed, settlement: &Settlement, kind: FailureKind) {
    if kind == FailureKind::Timeout {
        let (limit, runaway) = (job.spec.options.timeout, settlement.lingering);
        core.events.publish(|| Event::TimedOut { job: job_ref(job), limit, runaway });
    }
}
