//! Chains with real handlers.

use std::sync::atomic::Ordering;

use ratchet_core::{Event, JobState, SubmitError, WaitError};
use ratchet_store::model::{CancelCause, GroupState};

use super::ended;
use super::jobs::{Charge, Double, Mark, Order, Place, Receipt, Tell};
use crate::engine::fixture::{EngineFixture, event, eventually};
use crate::engine::script::{Script, Step};

pub async fn w_02_a_step_takes_what_the_one_before_returned(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let chain = ratchet
        .chain(Place { amount: 5 })
        .then(Double {})
        .then_with(Double {}, |step| step.tag("second"))
        .then(Charge {})
        .named("shop")
        .await
        .expect("submits");
    assert_eq!(chain.wait().await.expect("succeeds"), Receipt("paid 20".to_owned()));
    assert_eq!(fixture.stage().notes(), ["place 5", "double 5", "double 10", "charge 20"]);
    let record = chain.group().record().await.expect("reads").expect("is there");
    assert_eq!((record.name.as_str(), record.counts.succeeded), ("shop", 4));
    worker.stop().await;
}

pub async fn w_01_the_next_step_starts_at_once(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    let chain = ratchet.chain(Mark::ok("a")).then(Mark::ok("b")).await.expect("submits");
    ended(chain.group()).await;
    let reported = event(&mut events, |event| matches!(event, Event::ChainCompleted { .. })).await;
    let Event::ChainCompleted { group } = reported else { unreachable!("matched") };
    assert_eq!(group.id, chain.id());
    worker.stop().await;
}

pub async fn w_01_the_first_step_keeps_its_delay(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut flow = ratchet.workflow("later");
    let first = flow.step("first", Mark::ok("a"), |step| {
        step.options(|enqueue| enqueue.delay(std::time::Duration::from_hours(1)))
    });
    flow.await.expect("submits");
    let record = ratchet.jobs().get(first.job_id().expect("a job")).await.expect("reads");
    let record = record.expect("is there");
    let wait = record.due.duration_since(record.queued_at);
    assert_eq!((record.state, wait.as_secs()), (JobState::Pending, 3600));
    worker.stop().await;
}

pub async fn w_01_failure_is_told_and_a_retry_goes_on(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    let chain = ratchet
        .chain(Mark::ok("a"))
        .then(Mark::failing("b"))
        .then(Mark::ok("c"))
        .await
        .expect("submits");
    let failed = chain.wait().await.expect_err("step two fails");
    let WaitError::Failed(envelope) = failed else { panic!("{failed:?}") };
    assert_eq!(envelope.job_name, "test.mark");
    event(&mut events, |event| {
        matches!(event, Event::Canceled { cause: CancelCause::UpstreamFailed, .. })
    })
    .await;
    event(&mut events, |event| {
        matches!(event, Event::ChainFailed { root_cause: Some(root), .. } if root.job() == Some(envelope.job_id))
    })
    .await;
    ratchet.jobs().retry(envelope.job_id).await.expect("retries");
    assert_eq!(chain.wait().await.expect("goes on"), "c");
    assert_eq!(fixture.stage().notes(), ["a", "b", "b", "c"]);
    worker.stop().await;
}

pub async fn w_02_a_step_on_its_own_is_refused(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let refused = ratchet.enqueue(Charge {}).await.expect_err("it has no order");
    assert!(matches!(refused, SubmitError::NeedsParent { argument: "order", .. }), "{refused}");
    assert!(ratchet.jobs().counts().await.expect("counts").queues.is_empty());
}

pub async fn w_02_output_that_was_not_kept_is_told(fixture: EngineFixture) {
    let builder =
        fixture.builder().jobs(super::jobs::all()).config(|config| config.output_limit = 4);
    let (ratchet, worker) = crate::engine::fixture::start(builder).await;
    let chain = ratchet.chain(Place { amount: 5 }).then(Double {}).await.expect("submits");
    let step = chain.group().members(None, 10).await.expect("reads").remove(1);
    // No attempt can read the output. The clock advances between the attempts.
    let job = fixture.until(&ratchet, step.id, JobState::Failed).await;
    let message = job.envelope.expect("it failed").failure.message;
    assert!(message.contains("was not kept"), "{message}");
    worker.stop().await;
}

pub async fn s_08_callback_of_a_chain_is_told(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    ratchet
        .chain(Mark::failing("a"))
        .then(Mark::ok("b"))
        .named("pair")
        .on_success(Tell { word: "good".to_owned() })
        .on_failure(Tell { word: "bad".to_owned() })
        .await
        .expect("submits");
    eventually("the callback ran", async || {
        fixture.stage().notes() == ["a", "bad: chain pair FAILED 0+1/2"]
    })
    .await;
    worker.stop().await;
}

pub async fn l_05_cancel_of_a_running_step_cancels_the_rest(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let chain =
        ratchet.chain(Script::of([Step::Listen])).then(Mark::ok("never")).await.expect("submits");
    let first = chain.group().members(None, 1).await.expect("reads").remove(0);
    fixture.until(&ratchet, first.id, JobState::Running).await;
    assert!(ratchet.jobs().cancel(first.id).await.expect("cancels"));
    assert_eq!(ended(chain.group()).await.state, GroupState::Canceled);
    eventually("the handler heard", async || fixture.stage().notes() == ["heard"]).await;
    worker.stop().await;
}

pub async fn w_06_whole_chain_is_canceled_and_drawn(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    let chain = ratchet
        .chain(Mark::ok("a"))
        .then(Script::of([Step::Listen]))
        .then(Mark::ok("never"))
        .named("long")
        .await
        .expect("submits");
    let second = chain.group().members(None, 3).await.expect("reads").remove(1);
    fixture.until(&ratchet, second.id, JobState::Running).await;
    let before = chain.group().to_text().await.expect("draws");
    assert_eq!(
        before,
        "chain `long` RUNNING 1/3\n  1. test.mark SUCCEEDED\n  2. test.script RUNNING ← 1. test.mark\n  \
         3. test.mark PENDING (waits) ← 2. test.script\n"
    );
    assert!(chain.group().cancel().await.expect("cancels"));
    assert!(!chain.group().cancel().await.expect("once"), "it has ended");
    event(&mut events, |event| matches!(event, Event::GroupCanceled { .. })).await;
    eventually("the handler heard", async || fixture.stage().notes() == ["a", "heard"]).await;
    let after = chain.group().to_text().await.expect("draws");
    assert!(after.contains("3. test.mark CANCELED (requested)"), "{after}");
    worker.stop().await;
}

pub async fn w_01_step_survives_a_store_outage(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let chain = ratchet
        .chain(Script::of([Step::Gate]))
        .then(Place { amount: 1 })
        .then(Double {})
        .await
        .expect("submits");
    let first = chain.group().members(None, 1).await.expect("reads").remove(0);
    fixture.until(&ratchet, first.id, JobState::Running).await;
    fixture.switches().down.store(true, Ordering::SeqCst);
    fixture.stage().let_one_pass();
    eventually("the run has ended", async || fixture.stage().running() == 0).await;
    fixture.switches().down.store(false, Ordering::SeqCst);
    assert_eq!(chain.wait().await.expect("goes on"), Order { amount: 2 });
    worker.stop().await;
}
