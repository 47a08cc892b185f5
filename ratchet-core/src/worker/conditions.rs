//! Evaluates the conditions on the edges that leave a step.

use crate::failure::{Failure, catch_panic};
use crate::job::{JobContext, Output};
use crate::runtime::Core;

/// Evaluates the conditions on the edges that leave a step. A condition that cannot be evaluated fails the attempt,
/// because neither branch would be right.
pub(super) fn evaluate(
    core: &Core,
    ctx: &JobContext,
    output: &Output,
) -> Result<Vec<(String, bool)>, Box<Failure>> {
    let Some(step) = &ctx.claimed().spec.step else { return Ok(Vec::new()) };
    let failed = |why: String| Box::new(ctx.classifier().invalid("Condition", &why));
    let mut results = Vec::with_capacity(step.conditions.len());
    for name in &step.conditions {
        let condition = core
            .conditions
            .get(name.as_str())
            .ok_or_else(|| failed(format!("this worker does not know condition `{name}`")))?;
        let json = match output {
            Output::Json(json) => json.as_deref().unwrap_or("null"),
            Output::DomainFailure(json) => json,
            Output::Unserializable(why) => {
                return Err(failed(format!("condition `{name}` has nothing to judge: {why}")));
            }
        };
        match catch_panic(|| (condition.evaluate)(json)) {
            Ok(Ok(holds)) => results.push((name.clone(), holds)),
            Ok(Err(error)) => {
                return Err(failed(format!("condition `{name}` cannot read the output: {error}")));
            }
            Err(panic) => {
                core.panics.note("condition", &ctx.classifier().sanitized(panic.clone()));
                return Err(failed(format!("condition `{name}` panicked: {}", panic.message)));
            }
        }
    }
    Ok(results)
}
