//! The span of a run.

use ratchet_store::model::Claimed;
use tracing::Span;

/// Returns the span of a run, so that every log line of its handler has the fields of its job.
///
/// The level of the span is `ERROR`, because a filter that admits only errors must admit the fields of these errors, too.
/// The span itself is not a log line.
pub(super) fn run_span(job: &Claimed) -> Span {
    let spec = &job.spec;
    tracing::error_span!(
        target: "ratchet::run",
        "process",
        job.id = %job.id(),
        job.name = %spec.name,
        queue = %spec.queue,
        attempt = job.attempt(),
        tenant = spec.tenant.as_deref(),
        correlation_id = spec.correlation_id.as_deref(),
    )
}
