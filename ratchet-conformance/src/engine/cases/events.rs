//! Events: their order, their content, and slow subscribers.

use ratchet_core::{Event, JobState};

use crate::engine::fixture::{EngineFixture, event, eventually};
use crate::engine::script::{Script, Step};

fn kind(event: &Event) -> String {
    let debug = format!("{event:?}");
    debug.split([' ', '{']).next().unwrap_or_default().to_owned()
}

pub async fn v_01_the_life_of_a_job_is_told_in_order(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let steps = [Step::Error("once".into()), Step::Snooze, Step::Reject, Step::Fatal];
    let job = fixture.play(&ratchet, steps).await;
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let mut reported = Vec::new();
    loop {
        let event = event(&mut events, |event| event.job_id() == Some(job.id())).await;
        reported.push(kind(&event));
        if matches!(event, Event::DeadLettered { .. }) {
            break;
        }
    }
    let expected = [
        "Submitted",
        "Started",
        "Failed",
        "Retrying",
        "Started",
        "Snoozed",
        "Started",
        "Rejected",
        "Started",
        "Failed",
        "DeadLettered",
    ];
    assert_eq!(reported, expected);
    worker.stop().await;
}

pub async fn v_01_failed_says_whether_it_will_be_retried(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    let job = ratchet
        .enqueue(Script::of([Step::Error("x".into())]))
        .max_retries(1)
        .await
        .expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let mut will_retry = Vec::new();
    while will_retry.len() < 2 {
        if let Event::Failed { will_retry: again, .. } =
            event(&mut events, |event| matches!(event, Event::Failed { .. })).await
        {
            will_retry.push(again);
        }
    }
    assert_eq!(will_retry, [true, false]);
    worker.stop().await;
}

pub async fn v_01_a_slow_subscriber_blocks_nobody_and_is_counted(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut slow = ratchet.events();
    ratchet.enqueue_many((0..3000).map(|_| Script::of([Step::Ok]))).await.expect("enqueues");
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 3000)
    })
    .await;
    assert!(slow.next().await.is_some());
    assert!(ratchet.lagged_events() > 0);
    worker.stop().await;
}
