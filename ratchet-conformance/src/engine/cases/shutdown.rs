//! Graceful and immediate shutdown.

use std::time::Duration;

use ratchet_core::JobState;
use ratchet_store::model::AttemptOutcome;

use crate::engine::fixture::{EngineFixture, eventually, outcomes, start};
use crate::engine::script::Step;

pub async fn x_07_what_runs_may_finish_and_nothing_more_is_claimed(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let running = fixture.play(&ratchet, [Step::Gate]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    let stopping = tokio::spawn({
        let worker = worker.clone();
        async move { worker.stop().await }
    });
    eventually("it is stopping", async || !worker.readiness().ok).await;
    let late = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.stage().let_one_pass();
    stopping.await.expect("stops");
    assert_eq!(running.status().await.expect("reads"), Some(JobState::Succeeded));
    assert_eq!(late.status().await.expect("reads"), Some(JobState::Pending));
    assert!(
        ratchet.nodes().list().await.expect("reads").iter().all(|node| !node.alive),
        "it has signed off"
    );
}

pub async fn x_07_after_the_grace_time_the_rest_is_given_back_unharmed(fixture: EngineFixture) {
    let (ratchet, worker) =
        start(fixture.builder().shutdown_grace(Duration::from_millis(50))).await;
    let hung = fixture.play(&ratchet, [Step::Hang]).await;
    let polite = fixture.play(&ratchet, [Step::Listen]).await;
    eventually("they run", async || fixture.stage().running() == 2).await;
    worker.stop().await;
    for job in [hung, polite] {
        let record = job.record().await.expect("reads").expect("exists");
        assert_eq!(
            (record.state, record.attempts, record.crashes, record.deferrals),
            (JobState::Pending, 0, 0, 0)
        );
        assert_eq!(outcomes(&ratchet, job.id()).await, [AttemptOutcome::Released]);
    }
}

pub async fn x_07_a_stop_at_once_waits_for_nobody(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().shutdown_grace(Duration::from_hours(1))).await;
    let job = fixture.play(&ratchet, [Step::Hang]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    let patient = tokio::spawn({
        let worker = worker.clone();
        async move { worker.stop().await }
    });
    eventually("it is stopping", async || !worker.readiness().ok).await;
    worker.stop_now().await;
    patient.await.expect("stops too");
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Pending));
    assert!(
        fixture.stage().running() == 0
            && ratchet.jobs().counts().await.expect("reads").state(JobState::Running) == 0
    );
}

pub async fn p_04_a_graceful_restart_never_charges_a_crash(fixture: EngineFixture) {
    let mut id = None;
    for _ in 0..12 {
        let (ratchet, worker) = start(fixture.builder().shutdown_grace(Duration::ZERO)).await;
        let id = *id.get_or_insert(if let Some(id) = id {
            id
        } else {
            fixture.play(&ratchet, [Step::Hang]).await.id()
        });
        eventually("it runs", async || fixture.stage().running() == 1).await;
        worker.stop().await;
        let record = ratchet.jobs().get(id).await.expect("reads").expect("exists");
        assert_eq!((record.state, record.crashes, record.attempts), (JobState::Pending, 0, 0));
    }
}

pub async fn x_07_a_stuck_handler_does_not_keep_a_worker_from_stopping(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().shutdown_grace(Duration::ZERO)).await;
    let job = fixture.play(&ratchet, [Step::Block]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    worker.stop().await;
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Pending));
    assert_eq!(ratchet.jobs().get(job.id()).await.expect("reads").expect("exists").crashes, 0);
    fixture.stage().open_gate();
}
