//! The job context: values passed to a handler, and progress, logs and checkpoints written by it.

use ratchet_core::JobState;
use ratchet_store::model::Progress;

use crate::engine::fixture::{EngineFixture, eventually};
use crate::engine::script::{Script, Step};

pub async fn x_05_checkpoint_progress_and_log_outlive_the_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet
        .enqueue(Script::of([Step::Checkpoint(1), Step::Checkpoint(2), Step::Ok]))
        .await
        .expect("enqueues");
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(fixture.stage().notes(), ["checkpoint None", "checkpoint Some(1)"]);
    assert_eq!(record.progress, Some(Progress { percent: 40.0, message: "part one".to_owned() }));
    assert_eq!(record.checkpoint, Some(2.into()));
    let logs = ratchet.jobs().logs(job.id()).await.expect("reads");
    assert_eq!(
        logs.iter().map(|line| (line.run, line.message.as_str())).collect::<Vec<_>>(),
        [(1, "a line"), (2, "a line")]
    );
    worker.stop().await;
}

pub async fn x_05_progress_is_seen_while_the_run_goes_on(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::ProgressThenGate]).await;
    eventually("it is seen", async || {
        let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("exists");
        record.state == JobState::Running
            && record.progress.is_some_and(|progress| progress.message == "half")
    })
    .await;
    fixture.stage().let_one_pass();
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(
        ratchet.jobs().logs(job.id()).await.expect("reads").len(),
        1,
        "no line is written twice"
    );
    worker.stop().await;
}

pub async fn x_05_keys_are_stable_or_unique_as_promised(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::TellKeys, Step::TellKeys, Step::Ok]).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    let notes = fixture.stage().notes();
    let id = job.id();
    assert_eq!(
        notes,
        [format!("{id}:1 {id}:0:1 1/5 default"), format!("{id}:1 {id}:0:2 2/5 default")]
    );
    worker.stop().await;
}
