//! Workflows with real handlers.

use ratchet_core::{Event, Filter, JobState, PageRequest, StepOptions, SubmitError};
use ratchet_store::model::GroupState;
use ratchet_store::rules::graph::GraphError;

use super::ended;
use super::jobs::{BREAKS, Charge, Double, IS_BIG, Mark, Place, Summary};
use crate::engine::fixture::{EngineFixture, event};

pub async fn w_04_conditions_choose_the_branch(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    for (amount, expected) in [(500, "charge 500"), (5, "otherwise")] {
        let mut flow = ratchet.workflow("order");
        let order = flow.step("order", Place { amount }, StepOptions::first_match);
        flow.step("charge", Charge {}, |step| step.after_if(&order, IS_BIG));
        flow.step("otherwise", Mark::ok("otherwise"), |step| step.after(&order));
        let flow = flow.await.expect("submits");
        let record = ended(&flow).await;
        assert_eq!((record.state, record.counts.skipped), (GroupState::Succeeded, 1));
        assert_eq!(fixture.stage().notes().last().map(String::as_str), Some(expected));
    }
    worker.stop().await;
}

pub async fn w_04_fan_in_takes_outputs_by_name(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("order");
    let order = flow.step("order", Place { amount: 7 }, |step| step);
    let charge = flow.step("charge", Charge {}, |step| step.after(&order));
    let last = flow.step("summary", Summary {}, |step| step.after(&charge).after(&order));
    let id = last.job_id().expect("a job");
    let flow = flow.await.expect("submits");
    assert_eq!(ended(&flow).await.state, GroupState::Succeeded);
    let summary = ratchet.handle::<Summary>(id).wait().await.expect("succeeds");
    assert_eq!(summary, "paid 7 of 7");
    worker.stop().await;
}

pub async fn w_04_refund_runs_when_shipping_fails(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("order");
    let charge = flow.first("charge", Mark::ok("charge"));
    let ship = flow.step("ship", Mark::failing("ship"), |step| step.after(&charge));
    flow.step("refund", Mark::ok("refund"), |step| step.after_failure(&ship));
    flow.step("thanks", Mark::ok("thanks"), |step| step.after(&ship));
    flow.step("archive", Mark::ok("archive"), |step| step.after_end(&ship));
    let flow = flow.await.expect("submits");
    let record = ended(&flow).await;
    assert_eq!((record.state, record.counts.succeeded), (GroupState::Failed, 3));
    let mut notes = fixture.stage().notes();
    notes.sort();
    assert_eq!(notes, ["archive", "charge", "refund", "ship"]);
    worker.stop().await;
}

pub async fn w_04_any_takes_the_output_of_the_one_that_succeeded(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("fallback");
    let main = flow.step("main", Mark::failing("main"), |step| step);
    let order = flow.step("backup", Place { amount: 3 }, |step| step.after_failure(&main));
    let twice = flow.step("twice", Double {}, |step| step.after(&order));
    let charge = flow.step("charge", Charge {}, |step| step.after(&twice).after(&order).any());
    let id = charge.job_id().expect("a job");
    let flow = flow.await.expect("submits");
    ended(&flow).await;
    let job = ratchet.jobs().get(id).await.expect("reads").expect("is there");
    assert_eq!(job.state, JobState::Succeeded);
    assert_eq!(job.run, 1, "once");
    worker.stop().await;
}

async fn refused(flow: ratchet_core::Workflow<'_>) -> GraphError {
    match flow.await {
        Err(SubmitError::Graph(error)) => error,
        other => panic!("it should be refused, not {other:?}"),
    }
}

pub async fn w_04_mistakes_are_typed_errors_and_nothing_is_inserted(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let empty = refused(ratchet.workflow("empty")).await;
    assert!(matches!(&empty, GraphError::Empty { name, .. } if name == "empty"), "{empty}");

    let mut flow = ratchet.workflow("twice");
    flow.step("a", Mark::ok("a"), |step| step);
    flow.step("a", Mark::ok("a"), |step| step);
    let twice = refused(flow).await;
    assert!(matches!(&twice, GraphError::DuplicateStep { step, .. } if step == "a"), "{twice}");

    let mut flow = ratchet.workflow("unknown");
    flow.step("a", Mark::ok("a"), |step| step.after_named("b"));
    let unknown = refused(flow).await;
    assert!(
        matches!(&unknown, GraphError::UnknownStep { step, wanted, .. } if step == "a" && wanted == "b"),
        "{unknown}"
    );

    let mut flow = ratchet.workflow("circle");
    flow.step("a", Mark::ok("a"), |step| step.after_named("c"));
    flow.step("b", Mark::ok("b"), |step| step.after_named("a"));
    flow.step("c", Mark::ok("c"), |step| step.after_named("b"));
    let circle = refused(flow).await;
    assert!(matches!(&circle, GraphError::Cycle { steps } if steps.len() == 3), "{circle}");

    let mut flow = ratchet.workflow("types");
    flow.step("mark", Mark::ok("a"), |step| step);
    flow.step("charge", Charge {}, |step| step.after_named("mark"));
    let types = refused(flow).await;
    assert!(
        matches!(&types, GraphError::TypeMismatch { step, parent, .. } if step == "charge" && parent == "mark"),
        "{types}"
    );

    let mut flow = ratchet.workflow("alone");
    flow.step("charge", Charge {}, |step| step);
    let alone = refused(flow).await;
    assert!(
        matches!(&alone, GraphError::NoInput { argument, .. } if argument == "order"),
        "{alone}"
    );

    let mut flow = ratchet.workflow("which");
    let a = flow.step("a", Place { amount: 1 }, |step| step);
    let b = flow.step("b", Place { amount: 2 }, |step| step);
    flow.step("charge", Charge {}, |step| step.after(&a).after(&b));
    let which = refused(flow).await;
    assert!(matches!(&which, GraphError::NoInput { .. }), "{which}");

    let page = ratchet.jobs().list(&Filter::any(), PageRequest::default()).await.expect("reads");
    assert!(page.jobs.is_empty(), "nothing is half-inserted");
}

pub async fn w_04_condition_that_panics_fails_its_step(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("order");
    let order = flow.step("order", Place { amount: 1 }, |step| step);
    flow.step("charge", Charge {}, |step| step.after_if(&order, BREAKS));
    let id = order.job_id().expect("a job");
    let flow = flow.await.expect("submits");
    assert_eq!(ended(&flow).await.state, GroupState::Failed);
    let job = ratchet.jobs().get(id).await.expect("reads").expect("is there");
    let message = job.envelope.expect("it failed").failure.message;
    assert!(message.contains("test.breaks") && message.contains("panicked"), "{message}");
    worker.stop().await;
}

pub async fn w_04_groups_are_steps(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("outer");
    let first = flow.step("first", Mark::ok("first"), |step| step);
    let children = (0..3).map(|_| Mark::ok("child"));
    let rows =
        flow.batch("rows", ratchet.batch("rows").jobs(children), |step| step.wait_for(&first));
    let pair = ratchet.chain(Place { amount: 2 }).then(Charge {}).named("pair");
    let pair = flow.chain("pair", pair, |step| step.wait_for(&rows));
    flow.step("last", Mark::ok("last"), |step| step.after(&pair));
    let flow = flow.await.expect("submits");
    let record = ended(&flow).await;
    assert_eq!((record.state, record.counts.succeeded), (GroupState::Succeeded, 4));
    let expected = ["first", "child", "child", "child", "place 2", "charge 2", "last"];
    assert_eq!(fixture.stage().notes(), expected);
    let drawn = flow.to_text().await.expect("draws");
    for line in ["rows: batch `rows` SUCCEEDED 3/3 ← first", "last SUCCEEDED ← pair"] {
        assert!(drawn.contains(line), "{drawn}");
    }
    worker.stop().await;
}

pub async fn w_06_dot_shows_steps_and_states(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("a \"quoted\" name");
    let a = flow.step("a", Mark::failing("a"), |step| step);
    flow.step("b", Mark::ok("b"), |step| step.after(&a));
    flow.step("c", Mark::ok("c"), |step| step.after_failure(&a));
    let id = a.job_id().expect("a job");
    let flow = flow.await.expect("submits");
    ended(&flow).await;
    let dot = flow.to_dot().await.expect("draws");
    assert!(dot.starts_with("digraph ratchet {") && dot.ends_with("}\n"), "{dot}");
    for part in [
        "workflow a \\\"quoted\\\" name (FAILED)",
        "label=\"a\\nFAILED\"",
        "label=\"b\\nCANCELED (upstream_failed)\"",
        "label=\"failure\"",
        "style=dashed",
    ] {
        assert!(dot.contains(part), "no {part} in {dot}");
    }
    assert_eq!(dot.matches(&format!("\"{id}\" ->")).count(), 2, "{dot}");
    worker.stop().await;
}

pub async fn w_06_svg_shows_steps_and_states(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("a <b> & c");
    let a = flow.step("a", Mark::failing("a"), |step| step);
    flow.step("b", Mark::ok("b"), |step| step.after(&a));
    flow.step("c", Mark::ok("c"), |step| step.after_failure(&a));
    let flow = flow.await.expect("submits");
    ended(&flow).await;
    let svg = flow.to_svg().await.expect("draws");
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"), "{svg}");
    for part in [
        "workflow a &lt;b&gt; &amp; c FAILED 3/3",
        ">FAILED</text>",
        ">CANCELED (upstream_failed)</text>",
        ">SUCCEEDED</text>",
        ">failure</text>",
    ] {
        assert!(svg.contains(part), "no {part} in {svg}");
    }
    assert_eq!(svg.matches("<g>").count(), 3, "{svg}");
    worker.stop().await;
}

pub async fn v_01_end_of_a_workflow_is_told(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    let mut flow = ratchet.workflow("good");
    flow.step("a", Mark::ok("a"), |step| step);
    let good = flow.await.expect("submits");
    let reported =
        event(&mut events, |event| matches!(event, Event::WorkflowCompleted { .. })).await;
    assert!(matches!(reported, Event::WorkflowCompleted { group } if group.id == good.id()));
    let mut flow = ratchet.workflow("bad");
    flow.step("b", Mark::failing("b"), |step| step);
    let bad = flow.await.expect("submits");
    let reported = event(&mut events, |event| matches!(event, Event::WorkflowFailed { .. })).await;
    assert!(matches!(reported, Event::WorkflowFailed { group, .. } if group.id == bad.id()));
    worker.stop().await;
}
