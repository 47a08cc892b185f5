//! Handlers that block their threads: the engine must keep running.

use std::time::Duration;

use ratchet_core::JobState;

use crate::engine::fixture::{EngineFixture, eventually};
use crate::engine::script::{Block, Script, Step};

/// The number of threads in the runtime of the cases.
const THREADS: usize = 4;

pub async fn x_03_all_but_one_stuck_leave_the_rest_running(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for _ in 0..THREADS - 1 {
        let stuck = ratchet
            .enqueue(Script::of([Step::Block]))
            .timeout(Duration::from_millis(200))
            .max_retries(0);
        let stuck = stuck.await.expect("enqueues");
        fixture.until(&ratchet, stuck.id(), JobState::Failed).await;
    }
    for _ in 0..20 {
        let job = fixture.play(&ratchet, [Step::Ok]).await;
        fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    }
    assert_eq!(worker.stats().runaways, THREADS as u64 - 1);
    assert!(worker.liveness().ok);
    fixture.stage().open_gate();
    eventually("all threads are free", async || worker.stats().runaways == 0).await;
    worker.stop().await;
}

pub async fn h_02_liveness_fails_when_every_thread_is_stuck_and_claiming_stops(
    fixture: EngineFixture,
) {
    let quick = fixture.builder().config(|config| config.stall_after = Duration::from_millis(200));
    // The handlers get their own two threads, so that the threads of the case stay free.
    let handlers = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let ratchet = quick.build().await.expect("builds");
    let worker = ratchet
        .start_on(ratchet_core::DedicatedEngineThread::new(handlers.handle().clone()))
        .await
        .expect("starts");
    assert!(worker.liveness().ok && worker.readiness().ok);
    let mut stuck = Vec::new();
    for _ in 0..2 {
        let job = ratchet
            .enqueue(Script::of([Step::Block]))
            .timeout(Duration::from_millis(100))
            .max_retries(0);
        stuck.push(job.await.expect("enqueues"));
    }
    eventually("liveness fails", async || !worker.liveness().ok).await;
    for job in &stuck {
        fixture.until(&ratchet, job.id(), JobState::Failed).await;
    }
    let waiting = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.advance(Duration::from_mins(1)).await;
    // A claim that was in flight when the last thread was blocked is released; nothing else is claimed.
    fixture.until_job(&ratchet, waiting.id(), |job| job.state == JobState::Pending).await;
    let job = ratchet.jobs().get(waiting.id()).await.expect("reads").expect("exists");
    assert!(job.run <= 1 && job.attempts == 0, "claimed while every thread is stuck: {job:?}");
    assert_eq!(fixture.stage().runs(waiting.id()), 0);
    fixture.stage().open_gate();
    fixture.until(&ratchet, waiting.id(), JobState::Succeeded).await;
    eventually("liveness is back", async || worker.liveness().ok).await;
    worker.stop().await;
    handlers.shutdown_background();
}

pub async fn q_02_thread_that_ends_while_its_timeout_is_settled_frees_its_key(
    fixture: EngineFixture,
) {
    let (ratchet, worker) = fixture.start().await;
    let block = || ratchet.enqueue(Block {}).concurrency_key("one", 1).max_retries(0);
    let settling = fixture.switches().settling.lock().await;
    let first = block().timeout(Duration::from_millis(50)).await.expect("enqueues");
    eventually("it is given up", async || worker.stats().runaways == 1).await;
    fixture.stage().open_gate();
    eventually("its thread is free", async || worker.stats().runaways == 0).await;
    drop(settling);
    fixture.until(&ratchet, first.id(), JobState::Failed).await;
    let second = block().await.expect("enqueues");
    fixture.until(&ratchet, second.id(), JobState::Succeeded).await;
    worker.stop().await;
}
