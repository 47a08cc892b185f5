//! Callbacks: jobs that run when another job has ended.

use std::time::Duration;

use ratchet_core::{Event, Filter, JobState, PageRequest};

use crate::engine::fixture::{EngineFixture, event, eventually, name};
use crate::engine::script::{Fragile, Mourn, Script, Step, Watched};

pub async fn d_06_on_success_learns_the_output(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    ratchet.enqueue(Watched { fail: false }).await.expect("enqueues");
    eventually("the callback ran", async || {
        fixture.stage().notes() == ["cheer Some(7) fail=false attempts=1"]
    })
    .await;
    worker.stop().await;
}

pub async fn d_06_on_failure_runs_once_and_only_at_the_end(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(Watched { fail: true }).await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let expected = ["mourn Some(\"it failed\") fail=true attempts=2"];
    eventually("the callback ran", async || fixture.stage().notes() == expected).await;
    let callbacks = Filter::any().name(name::<Mourn>());
    let page = ratchet.jobs().list(&callbacks, PageRequest::default()).await.expect("reads");
    assert_eq!(page.jobs.len(), 1, "a visible job of its own");
    worker.stop().await;
}

pub async fn d_06_a_callback_fires_once_per_generation(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = ratchet.enqueue(Watched { fail: true }).await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    ratchet.jobs().retry(job.id()).await.expect("retries");
    fixture
        .until_job(&ratchet, job.id(), |job| job.state == JobState::Failed && job.generation == 2)
        .await;
    eventually("both callbacks ran", async || fixture.stage().notes().len() == 2).await;
    worker.stop().await;
}

pub async fn d_06_a_callback_can_be_set_where_the_job_is_enqueued(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let job = ratchet
        .enqueue(Script::of([Step::Ok]))
        .on_success(Script::of([Step::Ok]))
        .tag("parent")
        .await;
    let job = job.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    let follows =
        |event: &Event| matches!(event, Event::Succeeded { job: it, .. } if it.id != job.id());
    event(&mut events, follows).await;
    worker.stop().await;
}

pub async fn d_06_a_failing_callback_changes_nothing_and_is_told(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let job =
        ratchet.enqueue(Script::of([Step::Ok])).on_success(Fragile {}).await.expect("enqueues");
    let reported = event(&mut events, |event| matches!(event, Event::CallbackFailed { .. })).await;
    assert!(matches!(reported, Event::CallbackFailed { parent, .. } if parent == job.id()));
    assert_eq!(
        job.wait_for(Duration::from_secs(30)).await.expect("succeeded all the same"),
        "done"
    );
    worker.stop().await;
}
