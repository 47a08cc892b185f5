//! Reads the inputs of a step: the outputs of its parents, or the result of a group.

use std::time::Duration;

use crate::decide::Outcome;
use crate::job::{JobContext, StepInputs};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::Backoff;
use ratchet_store::model::{Claimed, Deferral, JobState, Step};

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
        let mut output = Err("no step before has succeeded".to_owned());
        for parent in &input.from {
            let Some(parent) = core.store.get(*parent).await? else { continue };
            if parent.state == JobState::Succeeded {
                output = match (&parent.output, parent.output_not_kept()) {
                    (Some(json), _) => Ok(json.clone()),
                    (None, None) => Ok("null".to_owned()),
                    (None, Some(why)) => Err(format!("job {} has succeeded, but {why}", parent.id)),
                };
                break;
            }
        }
        step_inputs.inputs.push((input.name.clone(), output));
    }
    if let Some(group) = step.reports {
        step_inputs.group = core.store.group(group).await?;
    }
    Ok(step_inputs)
}
