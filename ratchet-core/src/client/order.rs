//! Jobs that run in the order of their submits.

use ratchet_store::model::{AfterFailure, JobSpec, Step};

use super::SubmitError;

/// Makes a job with a concurrency key run in order with the other jobs of the key.
pub(super) fn apply(spec: &mut JobSpec, order: Option<AfterFailure>) {
    if spec.concurrency.is_some() {
        spec.step = order.map(|after_failure| Box::new(Step::in_order(after_failure)));
    }
}

/// Returns why a job cannot run in order, if it should.
pub(super) fn problem(spec: &JobSpec) -> Option<&'static str> {
    if !is_ordered(spec) {
        return None;
    }
    match &spec.concurrency {
        None => {
            Some("a job that runs in order needs a concurrency key that says which jobs it follows")
        }
        Some(key) if key.limit != 1 => {
            Some("jobs in order run one at a time, so the limit of their concurrency key must be 1")
        }
        Some(_) => None,
    }
}

/// Refuses a job in order as a step of a chain, batch or workflow. The order of a graph and the order of submits could
/// contradict each other, and the jobs would wait forever.
pub(super) fn refuse_step(spec: &JobSpec) -> Result<(), SubmitError> {
    if !is_ordered(spec) {
        return Ok(());
    }
    let problem = "a job with `ordered_by` cannot be a step of a chain, batch or workflow; submit it by itself or from a step";
    Err(SubmitError::BadOption { job: spec.name.clone(), problem: problem.to_owned() })
}

fn is_ordered(spec: &JobSpec) -> bool {
    spec.step.as_ref().is_some_and(|step| step.order.is_some())
}
