//! The arguments of a job for display, without secret ones.

use crate::runtime::Core;
use ratchet_store::model::JobSpec;

/// What is shown instead of a secret.
pub(super) const MASK: &str = "***";

/// Returns the arguments of a job as JSON. Those that are secret, and those of an unknown job, are `***`.
pub(crate) fn masked_arguments(core: &Core, spec: &JobSpec) -> serde_json::Value {
    match serde_json::from_slice(&spec.payload) {
        Ok(serde_json::Value::Object(mut arguments)) => {
            let plain = plain_arguments(core, &spec.name);
            for (name, value) in &mut arguments {
                if !plain.contains(&name.as_str()) {
                    *value = MASK.into();
                }
            }
            arguments.into()
        }
        _ => MASK.into(),
    }
}

/// Returns whether an argument of a job is known and not secret.
pub(super) fn is_plain(core: &Core, job: &str, argument: &str) -> bool {
    plain_arguments(core, job).contains(&argument)
}

/// Returns the arguments of a job that are known and not secret.
fn plain_arguments(core: &Core, job: &str) -> Vec<&'static str> {
    let known = core.resolver.all();
    let known = known.iter().find(|known| known.def.names().any(|name| name == job));
    let args = known.map(|known| known.def.args).unwrap_or_default();
    args.iter().filter(|arg| !arg.secret).map(|arg| arg.name).collect()
}
