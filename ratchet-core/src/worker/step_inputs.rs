//! Reads the inputs of a step: the outputs of its parents, or the result of a group.

use std::time::Duration;

use futures_util::future::try_join_all;

use crate::decide::Outcome;
use crate::job::{JobContext, StepInputs};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::Backoff;
use ratchet_store::model::{Claimed, Deferral, JobRecord, JobState, Step, StepInput, WaitMode};

/// Reads the inputs of a step into its context. A job without inputs reads nothing.
pub(super) async fn read(core: &Core, job: &Claimed, ctx: &JobContext) -> Result<(), Outcome> {
    /// After this many failed reads, the job is released.
    const TRIES: u32 = 6;
    let Some(step) = &job.spec.step else { return Ok(()) };
    if let Some(unknown) =
        step.conditions.iter().find(|name| !core.conditions.contains_key(&***name))
    {
        // Claims should skip such jobs. This guards against a store that does not check.
        let note = format!("this worker does not know condition `{unknown}`");
        return Err(Outcome::Deferred { why: Deferral::Reject, delay: None, note });
    }
    if step.inputs.is_empty() && step.reports.is_none() {
        return Ok(());
    }
    for attempt in 1..=TRIES {
        let step_inputs = tokio::select! {
            biased;
            () = ctx.stop_signal().aborted() => return Err(Outcome::Released),
            step_inputs = step_inputs(core, step) => step_inputs,
        };
        match step_inputs {
            Ok(step_inputs) => {
                ctx.set_step_inputs(step_inputs);
                return Ok(());
            }
            Err(error) => {
                tracing::warn!(job.id = %job.id(), %error, "the inputs of a step could not be read; the worker tries again");
            }
        }
        let pause = Backoff::exponential(Duration::from_millis(50), Duration::from_secs(1));
        tokio::select! {
            biased;
            () = ctx.stop_signal().aborted() => return Err(Outcome::Released),
            () = core.clock.sleep(pause.delay(attempt, core.entropy.next_u64())) => {}
        }
    }
    Err(Outcome::Released)
}

async fn step_inputs(core: &Core, step: &Step) -> Result<StepInputs, StoreError> {
    let mut step_inputs = StepInputs::default();
    for input in &step.inputs {
        let any = step.wait.is_some_and(|wait| wait.mode == WaitMode::Any);
        let outputs = if input.all {
            list(core, input, any).await?
        } else {
            first(core, input).await?.map(|output| vec![output])
        };
        step_inputs.inputs.push((input.clone(), outputs));
    }
    if let Some(group) = step.reports {
        step_inputs.group = core.store.group(group).await?;
    }
    Ok(step_inputs)
}

/// Reads the output of the first job that has succeeded, or why there is none.
async fn first(core: &Core, input: &StepInput) -> Result<Result<String, String>, StoreError> {
    for parent in &input.from {
        let parent = core.store.get(*parent).await?;
        if let Some(parent) = parent.filter(|job| job.state == JobState::Succeeded) {
            return Ok(output(&parent));
        }
    }
    Ok(Err("no step before has succeeded".to_owned()))
}

/// Reads the outputs of all jobs in order, or why one is missing. A step that starts after `any` of its parents takes
/// the outputs of those that have succeeded.
async fn list(
    core: &Core,
    input: &StepInput,
    any: bool,
) -> Result<Result<Vec<String>, String>, StoreError> {
    /// How many jobs are read at once.
    const AT_ONCE: usize = 16;
    let mut parents = Vec::with_capacity(input.from.len());
    for some in input.from.chunks(AT_ONCE) {
        parents.extend(try_join_all(some.iter().map(|id| core.store.get(*id))).await?);
    }
    let outputs = input.from.iter().zip(parents).filter_map(|(id, parent)| match parent {
        Some(parent) if parent.state == JobState::Succeeded => Some(output(&parent)),
        _ if any => None,
        Some(parent) => Some(Err(format!("job {id} has not succeeded: it is {}", parent.state))),
        None => Some(Err(format!("job {id} is not in the store any more"))),
    });
    Ok(outputs.collect())
}

fn output(job: &JobRecord) -> Result<String, String> {
    match (&job.output, job.output_not_kept()) {
        (Some(json), _) => Ok(json.clone()),
        (None, None) => Ok("null".to_owned()),
        (None, Some(why)) => Err(format!("job {} has succeeded, but {why}", job.id)),
    }
}
