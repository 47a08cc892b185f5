//! Makes the job that is inserted for a hand-off.

use serde_json::json;

use crate::failure::catch_panic;
use crate::job::{HandedOff, Registration};
use crate::runtime::Core;
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{ConcurrencyKey, Due, HandOff, HandOffContent, NewJob, Protection};

/// The name of the argument in a definition that lists none.
const ARGUMENT: &str = "hand_off";

/// Returns the job that accepts a hand-off. Its payload has one argument, a [`HandedOff`]. A checkpoint that the job cannot
/// read is not refused here: its run fails as invalid, like that of any other job.
pub(crate) fn admitted_job(core: &Core, job: &Registration, hand_off: &HandOff) -> NewJob {
    let def = &job.def;
    let handed = &hand_off.handed;
    let argument = def.args.first().map_or(ARGUMENT, |argument| argument.name);
    let value = HandedOff {
        pipeline: handed.pipeline.clone(),
        key: handed.key.clone(),
        from: hand_off.job,
        at: hand_off.at,
        checkpoint: &handed.checkpoint,
    };
    let payload = json!({ argument: value }).to_string().into_bytes();
    let read = catch_panic(|| job.submission(&payload, |_| {}));
    let keys = read.ok().and_then(Result::ok).map(|submission| submission.keys);
    let mut spec = core.spec_with_callbacks(def, payload);
    let key = keys.and_then(|keys| keys.concurrency);
    let key = key.filter(|key| limits::check(Field::ConcurrencyKey, key).is_ok());
    // The limit also applies to jobs whose own key cannot be built.
    let key = key.or_else(|| def.concurrency_limit.map(|_| def.instance_key().to_owned()));
    spec.concurrency = key.map(|key| {
        let limit = def.concurrency_limit.unwrap_or(1);
        ConcurrencyKey { key, limit }
    });
    spec.tenant.clone_from(&handed.tenant);
    spec.correlation_id.clone_from(&handed.correlation_id);
    spec.boost = core.config.boost(&spec.queue);
    core.mark_confidential(&mut spec);
    if hand_off.content == HandOffContent::Decrypted {
        // What was encrypted in the pipeline stays encrypted.
        spec.protection = Protection::Confidential;
    }
    let due = if def.delay.is_zero() { Due::Now } else { Due::In(def.delay) };
    NewJob { due, ..NewJob::new(core.ids.job(), spec) }
}
