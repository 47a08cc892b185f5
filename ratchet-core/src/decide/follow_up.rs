//! The jobs and notices that commit together with a verdict: callbacks, alerts, dead letters, outcomes.

use super::Policies;
use ratchet_store::model::{
    AttemptOutcome, Claimed, FinishedOutcome, FinishedParent, JobId, JobOutcome, JobSpec, NewJob,
    Notice, Protection, Settlement, Verdict, not_kept,
};

/// Adds the callback and the notices that follow from the verdict to a settlement.
pub(crate) fn follow_up(
    job: &Claimed,
    settlement: &mut Settlement,
    policies: &Policies,
    new_id: impl FnOnce() -> JobId,
) {
    match &settlement.verdict {
        Verdict::Succeed { output } => {
            if policies.publish_outcomes {
                let ended = match settlement.outcome {
                    AttemptOutcome::DomainFailure => JobOutcome::domain_failure,
                    _ => JobOutcome::success,
                };
                let ended = ended(job, output.clone(), settlement.duration);
                settlement.notices.push(Notice::Outcome(Box::new(ended)));
            }
            if let Some(callback) = &job.spec.on_success {
                let outcome = FinishedOutcome::Succeeded(output.clone());
                let mut callback = callback_job(job, callback, job.attempt(), outcome, new_id());
                if let Some(parent) = &mut callback.spec.finished {
                    let lost = not_kept(&settlement.notes.warnings);
                    parent.not_kept = lost.filter(|_| output.is_none()).map(str::to_owned);
                }
                settlement.spawned.push(callback);
            }
        }
        Verdict::Fail { attempts, envelope, .. } => {
            settlement
                .notices
                .push(Notice::Alert { window: policies.alert_window, envelope: envelope.clone() });
            if policies.publish_dead_letters {
                settlement.notices.push(Notice::DeadLetter(envelope.clone()));
            }
            if policies.publish_outcomes {
                let ended = JobOutcome::failure(job, envelope.clone(), settlement.duration);
                settlement.notices.push(Notice::Outcome(Box::new(ended)));
            }
            if let Some(callback) = &job.spec.on_failure {
                let outcome = FinishedOutcome::Failed(envelope.clone());
                settlement.spawned.push(callback_job(job, callback, *attempts, outcome, new_id()));
            }
        }
        Verdict::Retry { .. }
        | Verdict::Defer { .. }
        | Verdict::Release
        | Verdict::Rescue { .. } => {}
    }
}

/// Creates the callback of a job. Because it is inserted in the parent's commit, it exists exactly once per generation
/// of the parent.
fn callback_job(
    job: &Claimed,
    callback: &JobSpec,
    attempts: u32,
    outcome: FinishedOutcome,
    id: JobId,
) -> NewJob {
    let parent = FinishedParent::new(job, attempts, outcome);
    let mut spec = callback.clone();
    spec.finished = Some(Box::new(parent));
    // The callback carries the arguments and the outcome of a confidential job.
    if job.spec.protection == Protection::Confidential {
        spec.protection = Protection::Confidential;
    }
    spec.tenant = spec.tenant.or_else(|| job.spec.tenant.clone());
    spec.correlation_id = spec.correlation_id.or_else(|| job.spec.correlation_id.clone());
    spec.trace = spec.trace.or_else(|| job.spec.trace.clone());
    NewJob::new(id, spec)
}
