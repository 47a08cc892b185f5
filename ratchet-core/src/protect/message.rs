//! The message that a signature covers, and the context that a sealed value is bound to.
//!
//! Every field is written explicitly, because a signature must stay valid for as long as its row exists. A change of the
//! encoding needs a new version.

use std::time::Duration;

use ratchet_keyring::Canonical;
use ratchet_store::model::{
    AfterFailure, Envelope, FailureRecord, FinishedOutcome, FinishedParent, JobId, JobSpec,
    RunOptions, Step, WaitMode,
};
use serde::Serialize;

const VERSION: u32 = 1;

/// What a signature or a sealed value belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Owner<'a> {
    Job(JobId),
    Schedule(&'a str),
}

impl Owner<'_> {
    fn write(self, text: Canonical) -> Canonical {
        match self {
            Self::Job(id) => text.text("job").bytes(id.uuid().as_bytes()),
            Self::Schedule(name) => text.text("schedule").text(name),
        }
    }

    /// Returns the context of a sealed field. A value that is moved to another job or field does not open.
    pub(super) fn field(self, field: &str) -> Vec<u8> {
        self.write(Canonical::new("ratchet sealed field", VERSION)).text(field).finish()
    }
}

/// Returns the message that the signature of a job or schedule covers. `content` is what is stored in place of the
/// arguments: the arguments or the sealed text.
pub(super) fn message(owner: Owner<'_>, spec: &JobSpec, content: &[u8], sealed: bool) -> Vec<u8> {
    let text = owner.write(Canonical::new("ratchet signed job", VERSION)).flag(sealed);
    write_spec(text, spec, content).finish()
}

/// Writes what must not change. The queue, the priority and its aging are not covered, because operators may change
/// them. The trace context is not covered, because it only relates spans. Which place of a business key the job holds is set
/// by the store.
fn write_spec(text: Canonical, spec: &JobSpec, content: &[u8]) -> Canonical {
    // A test changes every field of the model and expects another message.
    let JobSpec {
        name,
        version,
        queue: _,
        priority: _,
        payload: _,
        options,
        business_key,
        idempotency_key,
        concurrency,
        service,
        tags,
        tenant,
        correlation_id,
        on_success,
        on_failure,
        finished,
        boost: _,
        step,
        expires,
        retry_until,
        successor: _,
        trace: _,
        protection: _,
        ..
    } = spec;
    let callback =
        |text: Canonical, callback: &JobSpec| write_spec(text, callback, &callback.payload);
    write_options(text.text(name).number((*version).into()).bytes(content), options)
        .optional_text(business_key.as_deref())
        .optional_text(idempotency_key.as_deref())
        .optional(concurrency.as_ref(), |text, it| text.text(&it.key).number(it.limit.into()))
        .optional_text(service.as_deref())
        .list(tags.iter(), |text, tag| text.text(tag))
        .optional_text(tenant.as_deref())
        .optional_text(correlation_id.as_deref())
        .optional(on_success.as_deref(), callback)
        .optional(on_failure.as_deref(), callback)
        .optional(finished.as_deref(), write_finished)
        .optional(step.as_deref(), write_step)
        .text(&json(expires))
        .text(&json(retry_until))
}

fn write_options(text: Canonical, options: &RunOptions) -> Canonical {
    text.number(options.max_retries.into())
        .text(&json(&options.backoff))
        .text(&json(&options.panic))
        .bytes(&nanos(options.timeout))
        .optional(options.soft_timeout, |text, it| text.bytes(&nanos(it)))
}

/// Writes the place in a graph as it was submitted. The number is only displayed, and may be set by the store.
fn write_step(text: Canonical, step: &Step) -> Canonical {
    let id = |text: Canonical, id: uuid::Uuid| text.bytes(id.as_bytes());
    let text = text
        .optional(step.group.map(ratchet_store::model::GroupId::uuid), id)
        .optional_text(step.name.as_deref())
        .flag(step.edges)
        .flag(step.first_match)
        .list(step.conditions.iter(), |text, name| text.text(name))
        .optional(step.wait, |text, wait| {
            text.flag(wait.mode == WaitMode::Any).number(wait.edges.into())
        })
        .bytes(&nanos(step.delay))
        .list(step.inputs.iter(), |text, input| {
            text.optional_text(input.name.as_deref())
                .list(input.from.iter(), |text, from| id(text, from.uuid()))
                .optional_text(input.argument.as_deref())
                .flag(input.all)
        })
        .optional(step.reports.map(ratchet_store::model::GroupId::uuid), id);
    // Written only if present, so that older jobs keep their signatures. The next text is never this word.
    match step.order {
        Some(order) => text.text("order").flag(order == AfterFailure::Skip),
        None => text,
    }
}

fn write_finished(text: Canonical, parent: &FinishedParent) -> Canonical {
    let text = text
        .bytes(parent.id.uuid().as_bytes())
        .text(&parent.name)
        .number(parent.generation.into())
        .bytes(&parent.payload)
        .number(parent.attempts.into())
        .list(parent.tags.iter(), |text, tag| text.text(tag))
        .optional_text(parent.not_kept.as_deref());
    match &parent.outcome {
        FinishedOutcome::Succeeded(output) => text.flag(true).optional_text(output.as_deref()),
        FinishedOutcome::Failed(envelope) => write_envelope(text.flag(false), envelope),
    }
}

/// Writes a terminal envelope without its time, which the store sets.
fn write_envelope(text: Canonical, envelope: &Envelope) -> Canonical {
    let FailureRecord { kind, error_type, message, code, fingerprint, retryable } =
        &envelope.failure;
    text.optional_text(envelope.tenant.as_deref())
        .bytes(envelope.job_id.uuid().as_bytes())
        .text(&envelope.execution_key)
        .text(&envelope.transition_key)
        .optional_text(envelope.correlation_id.as_deref())
        .text(&envelope.job_name)
        .text(&envelope.queue)
        .text(envelope.reason.name())
        .optional_text(envelope.explanation.as_deref())
        .text(kind.default_code())
        .text(error_type)
        .text(message)
        .text(code)
        .text(fingerprint)
        .flag(*retryable)
        .number(envelope.attempts.into())
        .text(&envelope.binary_version)
}

fn nanos(duration: Duration) -> [u8; 16] {
    duration.as_nanos().to_be_bytes()
}

/// The stored form of a small value of the model, which must not change either.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
