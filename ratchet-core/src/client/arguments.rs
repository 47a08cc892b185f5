//! What is stored with a job, for display: without secrets.

use serde_json::{Map, Value};

use super::catalog::contract_of;
use crate::failure::{KnownSecrets, MASK};
use crate::job::{ArgDef, Registration, secrets_of, stored_fields};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{CatalogEntry, JobRecord, JobSpec};

/// Returns the arguments of a job as JSON. Those that are secret, and those of an unknown job, are `***`, and so is every
/// [`Secret`](crate::Secret) in the others.
pub(crate) fn masked_arguments(core: &Core, spec: &JobSpec) -> Value {
    let Some(fields) = stored_fields(&spec.payload) else { return MASK.into() };
    let args = known(core, &spec.name).map(|job| job.def.args).unwrap_or_default();
    let shown = |name: &str, json: &str| {
        let arg = args.iter().find(|arg| arg.name == name)?;
        serde_json::from_str(&arg.shown(json)?).ok()
    };
    let masked = fields.into_iter().map(|(name, json)| {
        let value = shown(&name, json.get()).unwrap_or_else(|| MASK.into());
        (name, value)
    });
    Value::Object(masked.collect::<Map<_, _>>())
}

/// Returns jobs for display: their outputs and checkpoints without secrets.
///
/// Of a job that this program does not know, both are shown if the catalog says that it has no secrets.
pub(super) async fn displayed(
    core: &Core,
    jobs: Vec<JobRecord>,
) -> Result<Vec<JobRecord>, StoreError> {
    let (mut shown, mut catalog) = (Vec::with_capacity(jobs.len()), None);
    for mut job in jobs {
        if job.output.is_none() && job.checkpoint.is_none() {
            shown.push(job);
            continue;
        }
        if let Some(found) = known(core, &job.spec.name) {
            shown.push(without_secrets(&found, job));
            continue;
        }
        if catalog.is_none() {
            catalog = Some(core.store.catalog().await?);
        }
        let entries = catalog.iter().flatten().map(|record| &record.entry);
        let mut entries = entries.filter(|entry| entry.is_called(&job.spec.name)).peekable();
        if entries.peek().is_none() || entries.any(has_secrets) {
            job.output = job.output.map(|_| format!("\"{MASK}\""));
            job.checkpoint = job.checkpoint.map(|_| MASK.into());
        }
        shown.push(job);
    }
    Ok(shown)
}

/// Returns whether a program has recorded that a job has or returns secrets.
fn has_secrets(entry: &CatalogEntry) -> bool {
    entry.args.iter().any(|arg| arg.secret)
        || contract_of(entry).is_some_and(|contract| contract.secret_output)
}

fn without_secrets(found: &Registration, mut job: JobRecord) -> JobRecord {
    // An output or a checkpoint often contains an argument.
    let secrets: KnownSecrets = secrets_of(&found.def, &job.spec.payload).into_iter().collect();
    job.output = job.output.map(|json| {
        let shown = found.output().shown(&json).unwrap_or_else(|| format!("\"{MASK}\""));
        if secrets.hide(&shown) == shown {
            return shown;
        }
        let mut value = serde_json::from_str(&shown).unwrap_or_else(|_| MASK.into());
        secrets.hide_in_json(&mut value);
        value.to_string()
    });
    if let Some(checkpoint) = &mut job.checkpoint {
        secrets.hide_in_json(checkpoint);
    }
    job
}

/// Returns whether an argument of a job is known and has no secret.
pub(super) fn is_plain(core: &Core, job: &str, argument: &str) -> bool {
    let plain = |arg: &&ArgDef| arg.name == argument && !arg.has_secret();
    known(core, job).is_some_and(|job| job.def.args.iter().any(|arg| plain(&arg)))
}

/// Puts the stored values back where an edited argument still has the `***` that was shown for them.
pub(super) fn unmasked(edited: Value, shown: &Value, stored: &Value) -> Value {
    match (edited, shown, stored) {
        (edited, shown, stored) if edited == MASK && *shown == MASK => stored.clone(),
        (Value::Object(edited), Value::Object(shown), Value::Object(stored)) => {
            let fields = edited.into_iter().map(|(name, value)| {
                let value = match (shown.get(&name), stored.get(&name)) {
                    (Some(shown), Some(stored)) => unmasked(value, shown, stored),
                    _ => value,
                };
                (name, value)
            });
            Value::Object(fields.collect())
        }
        // Without a name, an item that was moved cannot be recognized.
        (Value::Array(edited), Value::Array(shown), Value::Array(stored))
            if edited.len() == shown.len() && shown.len() == stored.len() =>
        {
            let items = edited.into_iter().zip(shown.iter().zip(stored));
            items.map(|(edited, (shown, stored))| unmasked(edited, shown, stored)).collect()
        }
        (edited, _, _) => edited,
    }
}

/// Returns the job of this program that has a name.
fn known(core: &Core, name: &str) -> Option<Registration> {
    core.resolver.all().into_iter().find(|known| known.def.names().any(|known| known == name))
}
