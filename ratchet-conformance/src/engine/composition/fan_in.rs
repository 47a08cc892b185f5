//! Steps that take several outputs, and workflows that bind them.

use ratchet_core::{
    GroupHandle, Job, JobState, Ratchet, StepOptions, StepRef, SubmitError, Workflow,
};
use ratchet_store::model::{EdgeTrigger, GroupState};
use ratchet_store::rules::graph::GraphError;

use super::ended;
use super::jobs::{Charge, Collect, Compare, Double, IS_BIG, Mark, Place, Settle};
use crate::engine::fixture::EngineFixture;

/// Submits the workflow, waits for its end, and returns the output of a step.
async fn output<J: Job>(ratchet: &Ratchet, flow: Workflow<'_>, step: StepRef<J>) -> J::Output
where
    J::Output: serde::de::DeserializeOwned + Send,
{
    let flow = flow.await.expect("submits");
    assert_eq!(ended(&flow).await.state, GroupState::Succeeded);
    let id = step.job_id().expect("a job");
    ratchet.handle::<J>(id).wait().await.expect("succeeds")
}

fn places(flow: &mut Workflow<'_>, amounts: &[u32]) -> Vec<StepRef<Place>> {
    let place =
        |amount: &u32| flow.step(format!("place {amount}"), Place { amount: *amount }, |step| step);
    amounts.iter().map(place).collect()
}

pub async fn w_07_outputs_of_all_parents_are_taken_in_order(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let amounts: Vec<u32> = (0..40).map(|number| (number * 7) % 40).collect();
    let mut flow = ratchet.workflow("fan-in");
    let steps = places(&mut flow, &amounts);
    let other = flow.step("other", Mark::ok("other"), |step| step);
    let last = flow.step("collect", Collect {}, |step| {
        let step = step.wait_for(&other);
        steps.iter().fold(step, StepOptions::after)
    });
    assert_eq!(output(&ratchet, flow, last).await, amounts);
    worker.stop().await;
}

pub async fn w_07_list_of_a_workflow_is_taken_in_its_order(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("list");
    let steps = places(&mut flow, &[1, 2, 3]);
    let double = flow.step("double", Double {}, |step| step.after(&steps[0]));
    let last = flow.step("collect", Collect {}, |step| {
        step.input_all(Collect::INPUT_ORDERS, steps.iter().rev())
            .input_all(Collect::INPUT_ORDERS, [&double])
    });
    assert_eq!(output(&ratchet, flow, last).await, [3, 2, 1, 2]);
    worker.stop().await;
}

pub async fn w_07_an_empty_list_must_be_bound(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("unbound");
    flow.step("collect", Collect {}, |step| step);
    assert!(matches!(refused(flow).await, GraphError::NoInput { .. }));
    let mut flow = ratchet.workflow("empty");
    let none: [StepRef<Place>; 0] = [];
    let last =
        flow.step("collect", Collect {}, |step| step.input_all(Collect::INPUT_ORDERS, &none));
    assert!(output(&ratchet, flow, last).await.is_empty());
    worker.stop().await;
}

pub async fn w_07_a_join_after_any_takes_what_is_there(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("any");
    let steps = places(&mut flow, &[5]);
    let failed = flow.step("failed", Mark::failing("failed"), |step| step);
    let never = flow.step("never", Place { amount: 6 }, |step| step.after(&failed));
    let last = flow.step("collect", Collect {}, |step| step.after(&never).after(&steps[0]).any());
    let flow = flow.await.expect("submits");
    assert_eq!(ended(&flow).await.state, GroupState::Failed);
    let id = last.job_id().expect("a job");
    assert_eq!(ratchet.handle::<Collect>(id).wait().await.expect("succeeds"), [5]);
    worker.stop().await;
}

pub async fn w_07_workflow_binds_inputs_of_one_type(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("compare");
    let steps = places(&mut flow, &[1, 2]);
    let last = flow.step("compare", Compare {}, |step| {
        step.input(Compare::INPUT_RIGHT, &steps[0]).input(Compare::INPUT_LEFT, &steps[1])
    });
    assert_eq!(output(&ratchet, flow, last).await, "2 and 1");
    worker.stop().await;
}

pub async fn w_07_inputs_of_two_types_need_no_names(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("types");
    let steps = places(&mut flow, &[1, 2]);
    let charge = flow.step("charge", Charge {}, |step| step.after(&steps[0]));
    let last = flow.step("settle", Settle {}, |step| {
        step.wait_for(&charge).wait_for(&steps[0]).wait_for(&steps[1])
    });
    assert_eq!(output(&ratchet, flow, last).await, "paid 1 for 2 orders");
    worker.stop().await;
}

async fn edges(flow: &GroupHandle) -> Vec<EdgeTrigger> {
    let view = flow.view().await.expect("reads").expect("is there");
    view.edges.into_iter().map(|edge| edge.when).collect()
}

pub async fn w_07_a_bound_input_does_not_change_the_edges(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("conditional");
    let order = flow.step("order", Place { amount: 500 }, |step| step);
    let twice = flow.step("twice", Double {}, |step| step.after_if(&order, IS_BIG));
    let last = flow.step("compare", Compare {}, |step| {
        step.input(Compare::INPUT_LEFT, &order).input(Compare::INPUT_RIGHT, &twice)
    });
    let id = last.job_id().expect("a job");
    let flow = flow.await.expect("submits");
    ended(&flow).await;
    assert_eq!(ratchet.handle::<Compare>(id).wait().await.expect("succeeds"), "500 and 1000");
    let edges = edges(&flow).await;
    let conditions = edges.iter().filter(|when| matches!(when, EdgeTrigger::Condition(_)));
    assert_eq!((conditions.count(), edges.len()), (1, 3), "{edges:?}");
    worker.stop().await;
}

pub async fn w_07_otherwise_takes_the_output(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    for (amount, big, small) in [
        (500, JobState::Succeeded, JobState::Canceled),
        (5, JobState::Canceled, JobState::Succeeded),
    ] {
        let mut flow = ratchet.workflow("order");
        let order = flow.step("order", Place { amount }, |step| step);
        let charge = flow.step("charge", Charge {}, |step| step.after_if(&order, IS_BIG));
        let double = flow.step("double", Double {}, |step| step.otherwise(&order));
        let ids = [charge.job_id(), double.job_id()];
        let flow = flow.await.expect("submits");
        assert_eq!(ended(&flow).await.state, GroupState::Succeeded);
        let mut states = Vec::new();
        for id in ids.into_iter().flatten() {
            let job = ratchet.jobs().get(id).await.expect("reads").expect("is there");
            states.push(job.state);
        }
        assert_eq!(states, [big, small]);
    }
    assert!(fixture.stage().notes().contains(&"double 5".to_owned()));
    worker.stop().await;
}

async fn refused(flow: Workflow<'_>) -> GraphError {
    match flow.await {
        Err(SubmitError::Graph(error)) => error,
        other => panic!("it should be refused, not {other:?}"),
    }
}

pub async fn w_07_mistakes_of_bindings_are_typed_errors(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;

    let mut flow = ratchet.workflow("twice");
    let steps = places(&mut flow, &[1, 2, 3]);
    flow.step("compare", Compare {}, |step| {
        step.input(Compare::INPUT_LEFT, &steps[0])
            .input(Compare::INPUT_RIGHT, &steps[1])
            .input(Compare::INPUT_LEFT, &steps[2])
    });
    let twice = refused(flow).await;
    let expected = GraphError::InputBoundTwice { step: "compare".into(), argument: "left".into() };
    assert_eq!(twice, expected);

    let mut flow = ratchet.workflow("once");
    let steps = places(&mut flow, &[1]);
    flow.step("compare", Compare {}, |step| step.input(Compare::INPUT_LEFT, &steps[0]));
    let unbound = refused(flow).await;
    assert!(
        matches!(&unbound, GraphError::NoInput { argument, .. } if argument == "right"),
        "{unbound}"
    );

    let mut flow = ratchet.workflow("not at all");
    let steps = places(&mut flow, &[1, 2]);
    flow.step("compare", Compare {}, |step| step.wait_for(&steps[0]).wait_for(&steps[1]));
    let unbound = refused(flow).await;
    assert!(
        matches!(&unbound, GraphError::NoInput { why, .. } if why.contains("INPUT_LEFT")),
        "{unbound}"
    );

    let mut flow = ratchet.workflow("any");
    let steps = places(&mut flow, &[1, 2]);
    flow.step("compare", Compare {}, |step| {
        step.input(Compare::INPUT_LEFT, &steps[0]).input(Compare::INPUT_RIGHT, &steps[1]).any()
    });
    let missing = refused(flow).await;
    assert!(
        matches!(&missing, GraphError::NoInput { why, .. } if why.contains("any of its parents")),
        "{missing}"
    );

    let mut other = ratchet.workflow("other");
    let elsewhere = places(&mut other, &[1]);
    let mut flow = ratchet.workflow("foreign");
    flow.step("collect", Collect {}, |step| step.input_all(Collect::INPUT_ORDERS, &elsewhere));
    let foreign = refused(flow).await;
    assert!(matches!(&foreign, GraphError::UnknownStep { .. }), "{foreign}");

    let mut flow = ratchet.workflow("types");
    let steps = places(&mut flow, &[1]);
    flow.step("mark", Mark::ok("mark"), |step| step);
    flow.step("collect", Collect {}, |step| step.after(&steps[0]).after_named("mark"));
    let types = refused(flow).await;
    assert!(
        matches!(&types, GraphError::TypeMismatch { parent, .. } if parent == "mark"),
        "{types}"
    );

    let mut flow = ratchet.workflow("otherwise");
    let steps = places(&mut flow, &[1]);
    flow.step("charge", Charge {}, |step| step.otherwise(&steps[0]));
    let unconditional = refused(flow).await;
    let expected =
        GraphError::OtherwiseWithoutCondition { step: "charge".into(), parent: "place 1".into() };
    assert_eq!(unconditional, expected);
}

/// A parent whose output was not kept must not be left out of the list.
pub async fn w_07_a_lost_output_of_a_list_is_a_failure(fixture: EngineFixture) {
    let builder =
        fixture.builder().jobs(super::jobs::all()).config(|config| config.output_limit = 12);
    let (ratchet, worker) = crate::engine::fixture::start(builder).await;
    let mut flow = ratchet.workflow("lost");
    let steps = places(&mut flow, &[1, 1000]);
    let last = flow.step("collect", Collect {}, |step| step.after(&steps[0]).after(&steps[1]));
    let id = last.job_id().expect("a job");
    let flow = flow.await.expect("submits");
    assert_eq!(ended(&flow).await.state, GroupState::Failed);
    let job = ratchet.jobs().get(id).await.expect("reads").expect("is there");
    let message = job.envelope.expect("it failed").failure.message;
    assert!(message.contains("was not kept"), "{message}");
    worker.stop().await;
}
