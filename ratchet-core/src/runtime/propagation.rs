//! [`TracePropagator`]: connects submits and runs to a tracing system.

use std::fmt::Debug;

use tracing::Span;

use super::Core;
use crate::failure::catch_panic;
use crate::job::{TraceMode, TraceRelation};
use ratchet_store::model::{Claimed, TraceContext};

/// Reads the trace context of the code that submits a job, and relates the span of a run to it. Set with
/// [`Builder::trace_propagator`](crate::Builder::trace_propagator).
///
/// `ratchet-jobs-otel` has one for OpenTelemetry. Without a propagator, the context of
/// [`Enqueue::trace_context`](crate::Enqueue::trace_context) is stored and passed on to children all the same.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; pub use ratchet_store::model; }
/// # use ratchet::{hooks::TraceRelation, model::TraceContext};
/// use ratchet::hooks::TracePropagator;
/// use tracing::Span;
///
/// #[derive(Debug)]
/// struct TraceIds;
///
/// impl TracePropagator for TraceIds {
///     fn context(&self, _: &Span) -> Option<TraceContext> {
///         None // only what `Enqueue::trace_context` has set is stored
///     }
///
///     fn begin(&self, span: &Span, _: &str, submit: Option<(&TraceContext, TraceRelation)>) {
///         span.record("otel.name", submit.map(|(context, _)| context.trace_id()));
///     }
/// }
/// ```
pub trait TracePropagator: Debug + Send + Sync + 'static {
    /// Returns the trace context of a span, or `None` if it has none. Called with the current span at each submit, and
    /// with the span of each run.
    fn context(&self, span: &Span) -> Option<TraceContext>;

    /// Prepares the span of a run of the named job, before it is entered for the first time. `submit` is the context of
    /// the submit, if it was stored, and how the run relates to it.
    ///
    /// The span has the fields `otel.name` and `otel.kind`, which are empty and can be recorded here.
    fn begin(&self, span: &Span, job: &str, submit: Option<(&TraceContext, TraceRelation)>);
}

impl Core {
    /// Returns the trace context of the calling code.
    pub(crate) fn current_trace(&self) -> Option<TraceContext> {
        self.propagator.as_ref()?;
        self.trace_of(&Span::current())
    }

    /// Returns the trace context of a span.
    pub(crate) fn trace_of(&self, span: &Span) -> Option<TraceContext> {
        self.propagate(|propagator| propagator.context(span)).flatten()
    }

    /// Relates the span of a run to the submit of its job. Returns the trace context of the run.
    pub(crate) fn begin_trace(&self, span: &Span, job: &Claimed) -> Option<TraceContext> {
        self.propagator.as_ref()?;
        let spec = &job.spec;
        let known = || self.resolve(&spec.name).ok().flatten();
        let submit = spec.trace.as_deref().and_then(|context| {
            let mode = known().map_or(TraceMode::Auto, |known| known.def.trace);
            mode.relation(job).map(|relation| (context, relation))
        });
        self.propagate(|propagator| propagator.begin(span, &spec.name, submit));
        self.trace_of(span)
    }

    /// Calls the propagator, if there is one. A panic is counted, and the job goes on without the trace.
    fn propagate<T>(&self, call: impl FnOnce(&dyn TracePropagator) -> T) -> Option<T> {
        let propagator = self.propagator.as_deref()?;
        catch_panic(|| call(propagator))
            .inspect_err(|panic| self.panics.note("trace propagator", panic))
            .ok()
    }
}
