//! The spans of runs, as an exporter of OpenTelemetry receives them.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::{SpanId, SpanKind, TracerProvider as _};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use ratchet_core::testing::Sandbox;
use ratchet_core::{Job, JobContext, JobError, Ratchet, VirtualClock};
use ratchet_macros::job;
use ratchet_memory::MemoryStore;
use ratchet_otel::Traces;
use tracing::Instrument as _;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt as _;

#[job(name = "shop.order", max_retries = 1, backoff = none, on_success = Thank, crate = ::ratchet_core)]
async fn order(fails: bool, #[inject] ctx: JobContext) -> Result<(), JobError> {
    if fails && ctx.attempt() == 1 {
        return Err(JobError::msg("the first attempt fails"));
    }
    ctx.enqueue(Pack {}).await.map_err(|error| JobError::msg(error.to_string()))?;
    Ok(())
}

#[job(name = "shop.pack", crate = ::ratchet_core)]
async fn pack() {}

#[job(name = "shop.thank", crate = ::ratchet_core)]
async fn thank() {}

#[job(name = "shop.report", trace = parent, crate = ::ratchet_core)]
async fn report() {}

#[job(name = "shop.sweep", trace = link, crate = ::ratchet_core)]
async fn sweep() {}

#[job(name = "shop.secret", trace = off, crate = ::ratchet_core)]
async fn secret() {}

/// A submitter and a worker that share nothing but the store, as two processes do, and the spans of both.
struct Programs {
    submitter: Ratchet,
    worker: Sandbox,
    clock: VirtualClock,
    exporter: InMemorySpanExporter,
    provider: SdkTracerProvider,
    _subscriber: DefaultGuard,
}

impl Programs {
    async fn new() -> Self {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
        let subscriber = tracing_subscriber::registry().with(layer);
        let subscriber = tracing::subscriber::set_default(subscriber);
        let clock = VirtualClock::new();
        let store = MemoryStore::with_clock(Arc::new(clock.clone()));
        let jobs = [Order::JOB, Pack::JOB, Thank::JOB, Report::JOB, Sweep::JOB, Secret::JOB];
        let submitter = Ratchet::builder(store.clone()).jobs(jobs).clock(clock.clone());
        let submitter = submitter.trace_propagator(Traces::new()).build().await.expect("builds");
        let worker = Sandbox::with_store(store, &clock).jobs(jobs);
        let worker = worker.configure(|builder| builder.trace_propagator(Traces::new()));
        let worker = worker.build().await.expect("builds");
        Self { submitter, worker, clock, exporter, provider, _subscriber: subscriber }
    }

    /// Submits a job within the span of a request.
    async fn request<J: Job>(&self, job: J) {
        let submit = async { self.submitter.enqueue(job).await.expect("enqueues") };
        submit.instrument(tracing::info_span!("request")).await;
    }

    /// Runs all jobs, and returns the finished spans by their start.
    async fn spans(&self) -> Vec<SpanData> {
        self.worker.drain().await.expect("drains");
        self.provider.force_flush().expect("flushes");
        let mut spans = self.exporter.get_finished_spans().expect("reads");
        spans.sort_by_key(|span| span.start_time);
        spans
    }
}

/// Returns the only span of this name.
fn span<'a>(spans: &'a [SpanData], name: &str) -> &'a SpanData {
    let found: Vec<_> = spans.iter().filter(|span| span.name == name).collect();
    let names: Vec<_> = spans.iter().map(|span| &span.name).collect();
    assert_eq!(found.len(), 1, "{name} in {names:?}");
    found[0]
}

fn is_child(child: &SpanData, parent: &SpanData) -> bool {
    child.span_context.trace_id() == parent.span_context.trace_id()
        && child.parent_span_id == parent.span_context.span_id()
        && child.links.iter().next().is_none()
}

/// Whether a span begins a trace, with a link to another span.
fn is_linked(span: &SpanData, to: &SpanData) -> bool {
    let links: Vec<_> = span.links.iter().map(|link| link.span_context.span_id()).collect();
    span.parent_span_id == SpanId::INVALID
        && span.span_context.trace_id() != to.span_context.trace_id()
        && links == [to.span_context.span_id()]
}

#[tokio::test]
async fn v_02_a_trace_leads_from_a_request_to_run_child_and_callback() {
    let programs = Programs::new().await;
    programs.request(Order { fails: false }).await;
    let spans = programs.spans().await;
    let (request, order) = (span(&spans, "request"), span(&spans, "process shop.order"));
    assert!(is_child(order, request), "{order:#?}");
    assert_eq!(order.span_kind, SpanKind::Consumer);
    assert!(is_child(span(&spans, "process shop.pack"), order), "{spans:#?}");
    assert!(is_child(span(&spans, "process shop.thank"), order), "{spans:#?}");
}

#[tokio::test]
async fn m_05_a_retry_is_a_new_trace_with_a_link() {
    let programs = Programs::new().await;
    programs.request(Order { fails: true }).await;
    let spans = programs.spans().await;
    let request = span(&spans, "request");
    let runs: Vec<_> = spans.iter().filter(|span| span.name == "process shop.order").collect();
    let [first, second] = runs[..] else { panic!("{spans:#?}") };
    assert!(is_child(first, request), "{first:#?}");
    assert!(is_linked(second, request), "{second:#?}");
    // The child was submitted by the second run.
    assert!(is_child(span(&spans, "process shop.pack"), second), "{spans:#?}");
}

#[tokio::test]
async fn m_05_a_late_run_is_a_new_trace_with_a_link() {
    let programs = Programs::new().await;
    programs.request(Pack {}).await;
    programs.request(Report {}).await;
    programs.clock.advance(Duration::from_secs(61));
    let spans = programs.spans().await;
    let requests: Vec<_> = spans.iter().filter(|span| span.name == "request").collect();
    let [pack, report] = requests[..] else { panic!("{spans:#?}") };
    assert!(is_linked(span(&spans, "process shop.pack"), pack), "{spans:#?}");
    // `trace = parent`
    assert!(is_child(span(&spans, "process shop.report"), report), "{spans:#?}");
}

#[tokio::test]
async fn m_05_the_mode_of_a_job_decides() {
    let programs = Programs::new().await;
    programs.request(Sweep {}).await;
    programs.request(Secret {}).await;
    let spans = programs.spans().await;
    let requests: Vec<_> = spans.iter().filter(|span| span.name == "request").collect();
    assert!(is_linked(span(&spans, "process shop.sweep"), requests[0]), "{spans:#?}");
    let secret = span(&spans, "process shop.secret");
    assert_eq!((secret.parent_span_id, secret.links.len()), (SpanId::INVALID, 0));
}

/// A submit outside of any span stores no context.
#[tokio::test]
async fn v_02_without_a_span_there_is_no_context() {
    let programs = Programs::new().await;
    let job = programs.submitter.enqueue(Pack {}).await.expect("enqueues");
    let job = programs.submitter.jobs().get(job.id()).await.expect("reads").expect("exists");
    assert_eq!(job.spec.trace, None);
    let spans = programs.spans().await;
    assert_eq!(span(&spans, "process shop.pack").parent_span_id, SpanId::INVALID);
}
