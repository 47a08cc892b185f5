//! Which jobs can be inserted for a hand-off.

use crate::model::{JobRecord, JobState, NewAdmission};
use crate::{StoreError, StoreErrorKind};

/// Returns an error if a job could not be inserted for every hand-off: it has a key that another job may hold, or it is a
/// step of a graph.
pub fn check(pipeline: &str, admissions: &[NewAdmission]) -> Result<(), StoreError> {
    let refused = admissions.iter().find(|admission| {
        let spec = &admission.job.spec;
        spec.business_key.is_some() || spec.idempotency_key.is_some() || spec.step.is_some()
    });
    match refused {
        None => Ok(()),
        Some(NewAdmission { key, job }) => {
            let name = &job.spec.name;
            let why = format!(
                "hand-off `{key}` of pipeline `{pipeline}` cannot be admitted as job `{name}`: the job has a key or is part of a graph, so that it might not be inserted"
            );
            Err(StoreError::new(StoreErrorKind::Data, why))
        }
    }
}

/// Returns `true` if the hand-off of an admitted job still counts toward the backlog of its pipeline: the job waits, runs,
/// or was paused while it waited.
pub fn counts(job: &JobRecord) -> bool {
    match job.state {
        JobState::Pending | JobState::Running => true,
        JobState::Paused => job.paused_from == Some(JobState::Pending),
        JobState::Succeeded | JobState::Failed | JobState::Canceled => false,
    }
}
