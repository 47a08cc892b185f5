//! Jobs enqueued by jobs.

use ratchet_core::{Event, Filter, JobState, PageRequest, Ratchet, SubmitError};

use crate::engine::fixture::{EngineFixture, event};
use crate::engine::script::{Script, Step};
use crate::fixture::trace_context;

async fn children(ratchet: &Ratchet) -> usize {
    ratchet
        .jobs()
        .list(&Filter::any().tag("child"), PageRequest::default())
        .await
        .expect("reads")
        .jobs
        .len()
}

pub async fn s_08_children_come_with_the_success(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Spawn(3)]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(children(&ratchet).await, 3, "there is no gap");
    worker.stop().await;
}

pub async fn s_08_a_failed_attempt_leaves_no_children(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::SpawnAndFail(3)]))
        .max_retries(1)
        .await
        .expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    assert_eq!(children(&ratchet).await, 0);
    worker.stop().await;
}

pub async fn s_08_a_taken_key_drops_that_child_with_a_warning(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let holder =
        ratchet.enqueue(Script::of([Step::Gate])).business_key("taken").await.expect("enqueues");
    let job = fixture.play(&ratchet, [Step::SpawnKeyed("taken".into())]).await;
    let warned = event(
        &mut events,
        |event| matches!(event, Event::Warning { job: it, .. } if it.id == job.id()),
    )
    .await;
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(children(&ratchet).await, 1, "its neighbour lives");
    assert!(
        record.warnings.iter().any(|warning| warning.contains("taken")),
        "{:?} {warned:?}",
        record.warnings
    );
    fixture.stage().open_gate();
    fixture.until(&ratchet, holder.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn s_08_a_run_that_is_over_takes_no_children(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::LeakContext]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    let late = fixture.stage().leaked();
    let error = late.enqueue(Script::of([Step::Ok])).await.expect_err("too late");
    assert!(matches!(error, SubmitError::RunOver(id) if id == job.id()), "{error}");
    worker.stop().await;
}

pub async fn s_14_children_and_graphs_inherit_tenant_and_correlation_id(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for step in [Step::Spawn(2), Step::SpawnBatch(3), Step::SpawnKeyed("k".to_owned())] {
        let parent = ratchet.enqueue(Script::of([step])).tenant("acme").correlation_id("request-1");
        let parent = parent.await.expect("enqueues");
        fixture.until(&ratchet, parent.id(), JobState::Succeeded).await;
    }
    let found = async |filter: Filter| {
        let page = ratchet.jobs().list(&filter, PageRequest::default()).await.expect("reads");
        page.jobs.len()
    };
    assert_eq!(found(Filter::any()).await, 3 + 2 + 3 + 2);
    assert_eq!(found(Filter::any().tenant("acme").correlation_id("request-1")).await, 10);
    worker.stop().await;
}

pub async fn s_14_children_callbacks_and_graphs_inherit_the_trace_context(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let context = trace_context();
    for step in [Step::Spawn(2), Step::SpawnBatch(3)] {
        let parent = ratchet.enqueue(Script::of([step])).trace_context(context.clone());
        let parent = parent.on_success(Script::of([Step::Ok])).await.expect("enqueues");
        fixture.until(&ratchet, parent.id(), JobState::Succeeded).await;
    }
    let page = ratchet.jobs().list(&Filter::any(), PageRequest::default()).await.expect("reads");
    let traced = page.jobs.iter().filter(|job| job.spec.trace.as_deref() == Some(&context)).count();
    // Two parents, two callbacks, two children, three members of a batch.
    assert_eq!((page.jobs.len(), traced), (9, 9));
    worker.stop().await;
}
