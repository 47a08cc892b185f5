//! The secret values among the stored arguments of a job.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::{JobDef, Secrecy, collecting};

/// Returns the stored fields of a payload, each as its text, or `None` if it is not an object.
pub(crate) fn stored_fields(payload: &[u8]) -> Option<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_slice(payload).ok()
}

/// Returns the values of the arguments that are secret, and of the [`Secret`](super::Secret)s in the others. An argument
/// that cannot be read, and has a secret somewhere, is returned as a whole.
pub(crate) fn secrets_of(def: &JobDef, payload: &[u8]) -> Vec<Value> {
    if def.args.iter().all(|arg| arg.secrecy() == Secrecy::None) {
        return Vec::new();
    }
    let Some(fields) = stored_fields(payload) else { return Vec::new() };
    let mut secrets = Vec::new();
    for arg in def.args.iter().filter(|arg| arg.secrecy() != Secrecy::None) {
        for json in arg.names().filter_map(|name| fields.get(name)) {
            let (shown, found) = collecting(|| arg.shown(json.get()));
            secrets.extend(found);
            if shown.is_none() {
                secrets.extend(serde_json::from_str(json.get()).ok());
            }
        }
    }
    secrets
}
