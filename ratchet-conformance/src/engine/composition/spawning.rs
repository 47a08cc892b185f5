//! Graphs that are submitted by jobs, and graphs that are submitted twice.

use ratchet_core::{Event, JobContext, JobState, SubmitError};
use ratchet_store::model::{GroupFilter, GroupState};

use super::ended;
use super::jobs::{Charge, Double, Mark, Place, Plan, Receipt};
use crate::engine::fixture::{EngineFixture, event};

fn plan(fail: bool) -> Plan {
    Plan { key: None, fail }
}

pub async fn s_08_graphs_come_with_the_success_of_a_run(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    let planned = ratchet.enqueue(plan(false)).await.expect("enqueues");
    let [chain, batch, flow] = planned.wait_for(super::TIMEOUT).await.expect("succeeds");
    for (id, members) in [(chain, 2), (batch, 3), (flow, 2)] {
        let record = ended(&ratchet.group(id)).await;
        assert_eq!((record.state, record.counts.succeeded), (GroupState::Succeeded, members));
    }
    let notes = fixture.stage().notes();
    assert!(notes.contains(&"double 7".to_owned()), "{notes:?}");
    let planner = planned.id();
    event(&mut events, |event| matches!(event, Event::Succeeded { job, .. } if job.id == planner))
        .await;
    event(
        &mut events,
        |event| matches!(event, Event::Submitted { job } if &*job.name == "test.double"),
    )
    .await;
    worker.stop().await;
}

pub async fn s_08_a_failed_run_leaves_no_graph(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let planned = ratchet.enqueue(plan(true)).await.expect("enqueues");
    fixture.until(&ratchet, planned.id(), JobState::Failed).await;
    let groups = ratchet.groups().list(&GroupFilter::any(), None, 10).await.expect("reads");
    assert_eq!(groups, []);
    assert_eq!(ratchet.jobs().counts().await.expect("counts").state(JobState::Pending), 0);
    worker.stop().await;
}

pub async fn s_08_a_refused_graph_is_a_warning_on_the_run(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    ratchet.enqueue(Mark::ok("other")).idempotency_key("plan").await.expect("enqueues");
    let refused = Plan { key: Some("plan".to_owned()), fail: false };
    let planned = ratchet.enqueue(refused).await.expect("enqueues");
    let id = planned.id();
    event(&mut events, |event| matches!(event, Event::Warning { job, .. } if job.id == id)).await;
    let record = fixture.until(&ratchet, id, JobState::Succeeded).await;
    let [warning] = record.warnings.as_slice() else { panic!("{:?}", record.warnings) };
    assert!(warning.starts_with("chain `planned`") && warning.contains("plan"), "{warning}");
    let groups = ratchet.groups().list(&GroupFilter::any(), None, 10).await.expect("reads");
    assert_eq!(groups.len(), 2, "its neighbours live");
    worker.stop().await;
}

pub async fn s_08_a_run_that_is_over_takes_no_graph(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let ctx = JobContext::for_test();
    ctx.chain(Place { amount: 1 }).then(Double {}).await.expect("taken");
    ctx.batch("marks").job(Mark::ok("a")).await.expect("taken");
    assert_eq!(ctx.graphs().iter().map(|graph| graph.jobs.len()).collect::<Vec<_>>(), [2, 1]);
    let job = fixture.play(&ratchet, [crate::engine::script::Step::LeakContext]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    let late = fixture.stage().leaked();
    let error = late.batch("late").job(Mark::ok("a")).await.expect_err("too late");
    assert!(matches!(error, SubmitError::RunOver(id) if id == job.id()), "{error}");
    worker.stop().await;
}

pub async fn s_03_a_chain_under_a_key_is_one_chain(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let order = |amount| {
        let chain = ratchet.chain(Place { amount }).then(Double {}).then(Charge {});
        chain.idempotency_key("order 7")
    };
    let first = order(5).await.expect("submits");
    let again = order(5).await.expect("answers");
    assert_eq!(again.id(), first.id());
    assert_eq!(again.wait().await.expect("succeeds"), Receipt("paid 10".to_owned()));
    assert_eq!(order(5).await.expect("answers").id(), first.id(), "also when it has ended");
    assert_eq!(fixture.stage().notes(), ["place 5", "double 5", "charge 10"], "it ran once");
    let other = order(6).await.expect_err("another amount");
    let original = |id: ratchet_core::JobId| id.uuid() == first.id().uuid();
    assert!(
        matches!(&other, SubmitError::IdempotencyMismatch { job, key, original: by }
            if job == "test.place" && key == "order 7" && original(*by)),
        "{other}"
    );
    worker.stop().await;
}

pub async fn s_03_a_workflow_under_a_key_is_one_workflow(fixture: EngineFixture) {
    let ratchet = fixture.builder().jobs(super::jobs::all()).build().await.expect("builds");
    let submit = async |tenant: &str| {
        let mut flow = ratchet.workflow("order");
        let place = flow.step("place", Place { amount: 1 }, |step| step);
        flow.step("double", Double {}, |step| step.after(&place));
        flow.idempotency_key("order 7");
        flow.tenant(tenant);
        flow.await.expect("submits").id()
    };
    let first = submit("acme").await;
    assert_eq!(submit("acme").await, first);
    assert_ne!(submit("bolt").await, first, "another tenant");
    let batch = ratchet.batch("empty").idempotency_key("order 7").await.expect("the key is free");
    let again = ratchet.batch("empty").idempotency_key("order 7").await.expect("answers");
    assert_eq!(again.id(), batch.id());
    assert_eq!(ratchet.groups().list(&GroupFilter::any(), None, 10).await.expect("reads").len(), 3);
}

pub async fn s_03_a_key_of_a_part_is_refused(fixture: EngineFixture) {
    let ratchet = fixture.builder().jobs(super::jobs::all()).build().await.expect("builds");
    let inner = || ratchet.chain(Mark::ok("a")).idempotency_key("part");
    let refused = ratchet.batch("whole").chain(inner()).await.expect_err("only the whole");
    assert!(matches!(refused, SubmitError::BadOption { .. }), "{refused}");
    for key in [String::new(), "k".repeat(1001), "a\0b".to_owned()] {
        let refused = ratchet.batch("whole").idempotency_key(key).await.expect_err("no key");
        assert!(matches!(refused, SubmitError::BadOption { .. }), "{refused}");
    }
    assert_eq!(ratchet.groups().list(&GroupFilter::any(), None, 10).await.expect("reads"), []);
}

pub async fn s_02_tenant_of_a_graph_is_that_of_its_steps(fixture: EngineFixture) {
    let ratchet = fixture.builder().jobs(super::jobs::all()).build().await.expect("builds");
    let inner = ratchet.chain(Mark::ok("a")).tenant("inner");
    let batch = ratchet
        .batch("all")
        .job(Mark::ok("b"))
        .job_with(Mark::ok("c"), |job| job.tenant("own"))
        .chain(inner)
        .tenant("outer")
        .await
        .expect("submits");
    let view = batch.view().await.expect("reads").expect("is there");
    let mut tenants = Vec::new();
    for member in view.members.iter().chain(&view.groups[0].members) {
        let job = ratchet.jobs().get(member.id).await.expect("reads").expect("is there");
        tenants.push(job.spec.tenant.clone().unwrap_or_default());
    }
    assert_eq!(tenants, ["outer", "own", "inner"]);
}
