//! Links to the traces and logs of a run.

use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet_store::model::TraceContext;
use ratchet_web::Access;

use crate::shop::Charge;
use crate::site::Site;

fn charge() -> Charge {
    Charge { order: 1, cents: 5, card: "4111".to_owned() }
}

#[tokio::test]
async fn m_05_a_run_leads_to_its_trace() {
    let sandbox = Sandbox::builder().jobs([Charge::JOB]).build().await.expect("builds");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let context = TraceContext::new(parent).expect("a trace context");
    let traced = sandbox.enqueue(charge()).trace_context(context).await.expect("enqueues");
    let plain = sandbox.enqueue(charge()).await.expect("enqueues");
    sandbox.drain().await.expect("drains");
    let dashboard = ratchet_web::router(sandbox.ratchet())
        .access(|_| Access::admin("ada"))
        .trace_link("https://tempo.example/trace/{trace_id}")
        .log_link("https://logs.example/?job={job_id}&run={run}");
    let site = Site::of(dashboard.build());
    let (traced, plain) = (traced.id(), plain.id());
    let page = site.get(&format!("/jobs/{traced}")).await.body;
    let trace = "https://tempo.example/trace/4bf92f3577b34da6a3ce929d0e0e4736";
    assert!(page.contains(trace), "{page}");
    assert!(page.contains(&format!("https://logs.example/?job={traced}&amp;run=1")), "{page}");
    let page = site.get(&format!("/jobs/{plain}")).await.body;
    assert!(!page.contains("tempo.example"), "a job without a trace has no link: {page}");
}
