//! Jobs enqueued by jobs.

use ratchet_core::{Event, Filter, JobState, PageRequest, Ratchet, SubmitError};

use crate::engine::bench::{Bench, event};
use crate::engine::script::{Script, Step};

async fn children(ratchet: &Ratchet) -> usize {
    ratchet
        .list(&Filter::any().tag("child"), PageRequest::default())
        .await
        .expect("reads")
        .jobs
        .len()
}

pub async fn s_08_children_come_with_the_success(bench: Bench) {
    let (ratchet, worker) = bench.start().await;
    let job = bench.play(&ratchet, [Step::Spawn(3)]).await;
    bench.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(children(&ratchet).await, 3, "there is no gap");
    worker.stop().await;
}

pub async fn s_08_a_failed_attempt_leaves_no_children(bench: Bench) {
    let (ratchet, worker) = bench.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::SpawnAndFail(3)]))
        .max_retries(1)
        .await
        .expect("enqueues");
    bench.until(&ratchet, job.id(), JobState::Failed).await;
    assert_eq!(children(&ratchet).await, 0);
    worker.stop().await;
}

pub async fn s_08_a_taken_key_drops_that_child_with_a_warning(bench: Bench) {
    let (ratchet, worker) = bench.start().await;
    let mut events = ratchet.events();
    let holder =
        ratchet.enqueue(Script::of([Step::Gate])).business_key("taken").await.expect("enqueues");
    let job = bench.play(&ratchet, [Step::SpawnKeyed("taken".into())]).await;
    let warned = event(
        &mut events,
        |event| matches!(event, Event::Warning { job: it, .. } if it.id == job.id()),
    )
    .await;
    let record = bench.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(children(&ratchet).await, 1, "its neighbour lives");
    assert!(
        record.warnings.iter().any(|warning| warning.contains("taken")),
        "{:?} {warned:?}",
        record.warnings
    );
    bench.stage().open_gate();
    bench.until(&ratchet, holder.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn s_08_a_run_that_is_over_takes_no_children(bench: Bench) {
    let (ratchet, worker) = bench.start().await;
    let job = bench.play(&ratchet, [Step::LeakContext]).await;
    bench.until(&ratchet, job.id(), JobState::Succeeded).await;
    let late = bench.stage().leaked();
    let error = late.enqueue(Script::of([Step::Ok])).await.expect_err("too late");
    assert!(matches!(error, SubmitError::RunOver(id) if id == job.id()), "{error}");
    worker.stop().await;
}
