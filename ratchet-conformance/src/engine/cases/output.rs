//! The output of a job.

use std::time::Duration;

use ratchet_core::{JobState, WaitError};

use crate::engine::fixture::{EngineFixture, history};
use crate::engine::script::{BlockPanic, OddOutput, Script, Step};

const TIMEOUT: Duration = Duration::from_secs(30);

pub async fn l_08_the_output_is_typed_again(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    assert_eq!(job.wait_for(TIMEOUT).await.expect("succeeds"), "done");
    worker.stop().await;
}

pub async fn l_08_an_oversized_output_is_a_warning(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Big(64 * 1024 + 1)]).await;
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(record.output, None);
    assert!(
        record.warnings[0].contains("65539 bytes, the limit is 65536"),
        "{:?}",
        record.warnings
    );
    let lost = job.wait_for(TIMEOUT).await.expect_err("not kept");
    assert!(matches!(lost, WaitError::OutputNotKept { .. }), "{lost}");
    worker.stop().await;
}

pub async fn l_08_an_unserializable_output_is_a_warning(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(OddOutput {}).await.expect("enqueues");
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert!(record.warnings[0].contains("cannot be written as JSON"), "{:?}", record.warnings);
    worker.stop().await;
}

pub async fn l_08_waiting_tells_failure_cancel_and_time_apart(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let failing = ratchet.enqueue(Script::of([Step::Fatal])).await.expect("enqueues");
    assert!(matches!(failing.wait_for(TIMEOUT).await, Err(WaitError::Failed(_))));
    let slow = fixture.play(&ratchet, [Step::Gate]).await;
    assert!(matches!(
        slow.wait_for(Duration::from_millis(30)).await,
        Err(WaitError::TimedOut { .. })
    ));
    slow.cancel().await.expect("cancels");
    assert!(matches!(slow.wait_for(TIMEOUT).await, Err(WaitError::Canceled(_))));
    worker.stop().await;
}

pub async fn l_07_every_run_is_timed(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Error("once".into()), Step::Ok]).await;
    let record = fixture.ended(&ratchet, job.id()).await;
    let lines = history(&ratchet, job.id()).await;
    assert_eq!(
        lines.iter().map(|line| (line.run, line.attempt)).collect::<Vec<_>>(),
        [(1, 1), (2, 2)]
    );
    assert!(
        lines.iter().all(|line| line.node == worker.node() && line.started_at <= line.finished_at)
    );
    assert!(record.queued_at <= record.started_at.expect("started"));
    assert_eq!(record.finished_at, Some(lines[1].finished_at));
    assert_eq!(
        (record.queue_wait, record.duration),
        (Some(lines[1].queue_wait), Some(lines[1].duration))
    );
    worker.stop().await;
}

pub async fn x_02_a_panic_on_a_blocking_thread_is_caught(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(BlockPanic {}).await.expect("enqueues");
    let record = fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let message = record.envelope.expect("an envelope").failure.message;
    assert!(message.contains("on a thread") && message.contains("script.rs:"), "{message}");
    worker.stop().await;
}
