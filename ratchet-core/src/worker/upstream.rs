//! What a step gets from those before it, and what it says to those behind.

use std::time::Duration;

use crate::client::Core;
use crate::context::{JobContext, Upstream};
use crate::decide::Outcome;
use crate::failure::{Failure, guarded};
use crate::job::{Backoff, Output};
use crate::model::{Claimed, Deferral, JobState, Step};
use crate::store::StoreError;

/// Reads what a step takes: the outputs of its parents, or the end of a group. Jobs that ask for nothing read nothing.
pub(super) async fn read(core: &Core, job: &Claimed, ctx: &JobContext) -> Result<(), Outcome> {
    /// A store that is away for longer gets the job back.
    const TRIES: u32 = 6;
    let Some(step) = &job.spec.step else { return Ok(()) };
    if let Some(unknown) =
        step.conditions.iter().find(|name| !core.conditions.contains_key(&***name))
    {
        // Claims leave such jobs alone; this is a store that does not look.
        let note = format!("this worker does not know condition `{unknown}`");
        return Err(Outcome::Deferred { why: Deferral::Reject, delay: None, note });
    }
    if step.inputs.is_empty() && step.reports.is_none() {
        return Ok(());
    }
    for attempt in 1..=TRIES {
        let upstream = tokio::select! {
            biased;
            () = ctx.stop_signal().aborted() => return Err(Outcome::Released),
            upstream = upstream(core, step) => upstream,
        };
        match upstream {
            Ok(upstream) => {
                ctx.set_upstream(upstream);
                return Ok(());
            }
            Err(error) => {
                tracing::warn!(job.id = %job.id(), %error, "what a step takes could not be read; it is tried again");
            }
        }
        let pause = Backoff::exponential(Duration::from_millis(50), Duration::from_secs(1));
        tokio::select! {
            biased;
            () = ctx.stop_signal().aborted() => return Err(Outcome::Released),
            () = core.clock.sleep(pause.delay(attempt, core.entropy.bits())) => {}
        }
    }
    Err(Outcome::Released)
}

async fn upstream(core: &Core, step: &Step) -> Result<Upstream, StoreError> {
    let mut upstream = Upstream::default();
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
        upstream.inputs.push((input.name.clone(), output));
    }
    if let Some(group) = step.reports {
        upstream.group = core.store.group(group).await?;
    }
    Ok(upstream)
}

/// Judges the conditions on the edges of a step. One that cannot be judged fails the attempt: to take a branch at random
/// would be worse.
pub(super) fn judge(
    core: &Core,
    job: &Claimed,
    output: &Output,
) -> Result<Vec<(String, bool)>, Box<Failure>> {
    let Some(step) = &job.spec.step else { return Ok(Vec::new()) };
    let failed = |why: String| Box::new(core.classifier.invalid("Condition", &why));
    let mut answers = Vec::with_capacity(step.conditions.len());
    for name in &step.conditions {
        let condition = core
            .conditions
            .get(name.as_str())
            .ok_or_else(|| failed(format!("this worker does not know condition `{name}`")))?;
        let json = match output {
            Output::Json(json) => json.as_deref().unwrap_or("null"),
            Output::Unserialisable(why) => {
                return Err(failed(format!("condition `{name}` has nothing to judge: {why}")));
            }
        };
        match guarded(|| (condition.judge)(json)) {
            Ok(Ok(holds)) => answers.push((name.clone(), holds)),
            Ok(Err(error)) => {
                return Err(failed(format!("condition `{name}` cannot read the output: {error}")));
            }
            Err(panic) => {
                core.panics.note("condition", &panic);
                return Err(failed(format!("condition `{name}` panicked: {}", panic.message)));
            }
        }
    }
    Ok(answers)
}
