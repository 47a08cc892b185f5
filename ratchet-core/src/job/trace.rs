//! [`TraceMode`]: how the runs of a job relate to the trace of its submit.

use std::time::Duration;

use ratchet_store::model::Claimed;

/// How the runs of a job relate to the trace of the code that submitted it. Set with `#[job(trace = …)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TraceMode {
    /// The first run is part of the submitter's trace if it starts within a minute of the submit. Any other run begins
    /// its own trace, with a link to that of the submit, because a trace that grows for hours or days is hard to read
    /// and may be discarded.
    #[default]
    Auto,
    /// Every run is part of the submitter's trace.
    Parent,
    /// Every run begins its own trace, with a link to that of the submit.
    Link,
    /// The trace context of the submit is neither stored nor used.
    Off,
}

/// How the span of a run relates to the span of the submit.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; pub use ratchet_store::model; }
/// use ratchet::hooks::TraceRelation;
/// use ratchet::model::TraceContext;
/// use tracing::Span;
///
/// // A part of `TracePropagator::begin`.
/// fn relate(span: &Span, submit: &TraceContext, relation: TraceRelation) {
///     match relation {
///         TraceRelation::Parent => span.record("trace.parent", submit.span_id()),
///         TraceRelation::Link => span.record("trace.link", submit.traceparent()),
///         _ => span,
///     };
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceRelation {
    /// The span of the submit is the parent.
    Parent,
    /// The run begins its own trace, with a link to the span of the submit.
    Link,
}

/// The longest time between a submit and the start of a run that [`TraceMode::Auto`] records as part of one trace.
const SAME_TRACE: Duration = Duration::from_mins(1);

impl TraceMode {
    /// Returns how a run relates to the submit of its job, or `None` if it does not.
    pub(crate) fn relation(self, job: &Claimed) -> Option<TraceRelation> {
        let waited = job.claimed_at.duration_since(job.queued_at);
        match self {
            Self::Off => None,
            Self::Parent => Some(TraceRelation::Parent),
            Self::Auto if job.run <= 1 && waited <= SAME_TRACE.try_into().unwrap_or_default() => {
                Some(TraceRelation::Parent)
            }
            Self::Auto | Self::Link => Some(TraceRelation::Link),
        }
    }
}
