//! The rules of edit and retry: which jobs can have a successor, and what a successor prevents.

use super::audit::check_version;
use super::graph;
use crate::model::{CommandError, JobId, JobRecord, JobState, NotEditable};

/// Checks that a successor can be submitted for a job. `version` is the version that the operator saw, and `successor` is
/// the successor that the job has already.
///
/// # Errors
///
/// Returns [`CommandError::Moved`] if the job has another version, [`CommandError::HasSuccessor`] if it has a successor,
/// and [`CommandError::NotEditable`] if it has not ended or other jobs wait for it.
pub fn check(
    job: &JobRecord,
    version: Option<u64>,
    successor: Option<JobId>,
) -> Result<(), CommandError> {
    check_version(job, version)?;
    check_retry(job.id, successor)?;
    let step = job.spec.step.as_ref();
    let why = if !matches!(job.state, JobState::Failed | JobState::Canceled) {
        NotEditable::State(job.state)
    } else if let Some(group) = step.and_then(|step| step.group) {
        NotEditable::Step(group)
    } else if graph::held_up_by(&job.spec, &job.member()).is_some() {
        NotEditable::HoldsUpOthers
    } else {
        return Ok(());
    };
    Err(CommandError::NotEditable { job: job.id, why })
}

/// Checks that a failed job can be retried itself, given its successor.
///
/// # Errors
///
/// Returns [`CommandError::HasSuccessor`] if it has one: the work would be done twice.
pub fn check_retry(job: JobId, successor: Option<JobId>) -> Result<(), CommandError> {
    match successor {
        Some(successor) => Err(CommandError::HasSuccessor { job, successor }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::model::{AfterFailure, CancelCause, ConcurrencyKey, GroupId, JobSpec, Step};

    fn job(state: JobState, change: impl FnOnce(&mut JobSpec)) -> JobRecord {
        let mut spec = JobSpec::new("mail", b"{}".to_vec());
        change(&mut spec);
        let id = JobId::from_uuid(Uuid::from_u128(1));
        let mut job = JobRecord::pending(id, spec, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        job.state = state;
        job.canceled = (state == JobState::Canceled).then_some(CancelCause::Requested);
        job
    }

    fn refusal(job: &JobRecord) -> Option<NotEditable> {
        match check(job, None, None) {
            Ok(()) => None,
            Err(CommandError::NotEditable { why, .. }) => Some(why),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn o_05_only_ended_jobs_that_no_other_job_waits_for_have_successors() {
        use JobState::{Canceled, Failed, Paused, Pending, Running, Succeeded};
        for state in [Failed, Canceled] {
            assert_eq!(refusal(&job(state, |_| ())), None, "{state}");
        }
        for state in [Pending, Running, Paused, Succeeded] {
            assert_eq!(refusal(&job(state, |_| ())), Some(NotEditable::State(state)));
        }
        let group = GroupId::from_uuid(Uuid::from_u128(7));
        let step = job(Failed, |spec| {
            spec.step = Some(Box::new(Step { group: Some(group), ..Step::default() }));
        });
        assert_eq!(refusal(&step), Some(NotEditable::Step(group)));
        let in_order = |after_failure| {
            move |spec: &mut JobSpec| {
                spec.concurrency = Some(ConcurrencyKey { key: "order".to_owned(), limit: 1 });
                let order = Some(after_failure);
                spec.step = Some(Box::new(Step { order, ..Step::default() }));
            }
        };
        let held = |state, after| refusal(&job(state, in_order(after)));
        assert_eq!(held(Failed, AfterFailure::Hold), Some(NotEditable::HoldsUpOthers));
        assert_eq!(held(Failed, AfterFailure::Skip), None);
        assert_eq!(held(Canceled, AfterFailure::Hold), None);
    }

    #[test]
    fn o_05_the_version_is_checked_before_the_successor() {
        let job = job(JobState::Failed, |_| ());
        let other = JobId::from_uuid(Uuid::from_u128(2));
        let checked = check(&job, Some(job.version + 1), Some(other));
        assert!(matches!(checked, Err(CommandError::Moved { .. })), "{checked:?}");
        let checked = check(&job, Some(job.version), Some(other));
        assert!(
            matches!(checked, Err(CommandError::HasSuccessor { successor, .. }) if successor == other),
            "{checked:?}"
        );
    }
}
