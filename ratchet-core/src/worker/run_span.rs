//! The span of a run.

use tracing::Span;
use tracing::field::Empty;

use crate::job::JobContext;
use crate::runtime::Core;

/// Returns the span of a run, so that every log line of its handler has the fields of its job.
///
/// The level of the span is `ERROR`, because a filter that admits only errors must admit the fields of these errors, too.
/// The span itself is not a log line.
pub(super) fn run_span(core: &Core, ctx: &JobContext) -> Span {
    let job = ctx.claimed();
    let spec = &job.spec;
    let span = tracing::error_span!(
        target: "ratchet::run",
        "process",
        job.id = %job.id(),
        job.name = %spec.name,
        queue = %spec.queue,
        attempt = job.attempt(),
        tenant = spec.tenant.as_deref(),
        correlation_id = spec.correlation_id.as_deref(),
        otel.name = Empty,
        otel.kind = Empty,
    );
    if let Some(context) = core.begin_trace(&span, job) {
        ctx.set_trace_context(context);
    }
    span
}
