//! The arguments of a job for display, without secret ones.

use crate::runtime::Core;
use ratchet_store::model::JobSpec;

/// Returns the arguments of a job as JSON. Those that are secret, and those of an unknown job, are `***`.
pub(crate) fn masked_arguments(core: &Core, spec: &JobSpec) -> serde_json::Value {
    let known = core.resolver.all();
    let known = known.iter().find(|known| known.def.names().any(|name| name == spec.name));
    let is_plain = |name: &str| {
        let args = known.map(|known| known.def.args).unwrap_or_default();
        args.iter().any(|arg| arg.name == name && !arg.secret)
    };
    match serde_json::from_slice(&spec.payload) {
        Ok(serde_json::Value::Object(mut arguments)) => {
            for (name, value) in &mut arguments {
                if !is_plain(name) {
                    *value = "***".into();
                }
            }
            arguments.into()
        }
        _ => "***".into(),
    }
}
