//! [`Traces`]: relates submits and runs by their trace contexts.

use std::str::FromStr as _;

use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use ratchet_core::{TraceContext, TracePropagator, TraceRelation};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Passes the trace context of each submit to the runs of its job, for programs with a
/// [`tracing_opentelemetry`] layer.
///
/// The span of a run is called `process {job}`. By default the first run is a child of the span that submitted the job
/// if it starts within a minute, and every other run is a new trace with a link; see
/// [`TraceMode`](ratchet_core::TraceMode). Jobs that a run submits, and its callbacks, relate to the span of the run.
///
/// ```
/// use opentelemetry::trace::TracerProvider as _;
/// use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
/// use ratchet_core::Ratchet;
/// use ratchet_memory::MemoryStore;
/// use tracing_subscriber::layer::SubscriberExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let exporter = InMemorySpanExporter::default(); // usually an OTLP exporter
/// let provider = SdkTracerProvider::builder().with_simple_exporter(exporter).build();
/// let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
/// let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
///
/// let ratchet = Ratchet::builder(MemoryStore::new())
///     .trace_propagator(ratchet_otel::Traces::new())
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Traces;

impl Traces {
    /// Creates a propagator. It needs no configuration: what is recorded depends on the layer of the subscriber.
    pub fn new() -> Self {
        Self
    }
}

impl TracePropagator for Traces {
    fn context(&self, span: &Span) -> Option<TraceContext> {
        let context = span.context();
        let span = context.span();
        let span = span.span_context();
        if !span.is_valid() {
            return None;
        }
        let (trace, id, flags) = (span.trace_id(), span.span_id(), span.trace_flags().to_u8());
        let stored = TraceContext::new(format!("00-{trace}-{id}-{flags:02x}")).ok()?;
        // A state that the standard does not allow is left out.
        Some(stored.clone().with_state(span.trace_state().header()).unwrap_or(stored))
    }

    fn begin(&self, span: &Span, job: &str, submit: Option<(&TraceContext, TraceRelation)>) {
        span.record("otel.name", format!("process {job}"));
        span.record("otel.kind", "consumer");
        let Some((context, relation)) = submit else { return };
        let Some(remote) = remote(context) else { return };
        match relation {
            TraceRelation::Parent => {
                let parent = opentelemetry::Context::new().with_remote_span_context(remote);
                // Fails if no layer records the span.
                let _ = span.set_parent(parent);
            }
            _ => span.add_link(remote),
        }
    }
}

/// Returns the span of a submit.
fn remote(context: &TraceContext) -> Option<SpanContext> {
    let trace = TraceId::from_hex(context.trace_id()).ok()?;
    let span = SpanId::from_hex(context.span_id()).ok()?;
    let flags = if context.is_sampled() { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let state = context.tracestate().and_then(|state| TraceState::from_str(state).ok());
    Some(SpanContext::new(trace, span, flags, true, state.unwrap_or_default()))
}
