//! Workers that serve some queues, and workers that stop by themselves.

use std::time::Duration;

use ratchet_core::{Completion, JobState, StartError, Stopped};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::{Script, Step};

async fn count(ratchet: &ratchet_core::Ratchet, state: JobState) -> u64 {
    ratchet.jobs().counts().await.expect("reads").state(state)
}

pub async fn c_08_a_worker_serves_only_its_queues(fixture: EngineFixture) {
    let builder = fixture.builder().only_queues(["a", "b"]).except_queues(["b"]);
    let (ratchet, worker) = start(builder).await;
    assert_eq!(worker.queues(), ["a"]);
    let mut ids = Vec::new();
    for queue in ["b", "default", "a"] {
        let job = ratchet.enqueue(Script::of([Step::Ok])).queue(queue).await.expect("enqueues");
        ids.push(job.id());
    }
    fixture.until(&ratchet, ids[2], JobState::Succeeded).await;
    worker.stop().await;
    assert_eq!(count(&ratchet, JobState::Pending).await, 2);
}

pub async fn c_08_a_worker_serves_all_queues_but_some(fixture: EngineFixture) {
    let builder = fixture.builder().queue("extra", |queue| queue).except_queues(["default"]);
    let (ratchet, worker) = start(builder).await;
    assert!(worker.queues().contains(&"extra".to_owned()));
    assert!(!worker.queues().contains(&"default".to_owned()));
    worker.stop().await;
    let queues = ratchet.nodes().list().await.expect("reads");
    assert!(queues.is_empty());
    let none = fixture.builder().except_queues(worker.queues().to_vec()).except_queues(["default"]);
    let none = none.build().await.expect("builds").start().await;
    assert!(matches!(none, Err(StartError::NoQueues)));
}

pub async fn c_08_a_draining_worker_runs_what_is_due_and_stops(fixture: EngineFixture) {
    let ratchet = fixture.builder().drain_and_exit().concurrency(3).build().await.expect("builds");
    for _ in 0..10 {
        fixture.play(&ratchet, [Step::Spawn(2)]).await;
    }
    let later = ratchet.enqueue(Script::of([Step::Ok])).delay(Duration::from_hours(10)).await;
    let later = later.expect("enqueues");
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::Drained));
    assert_eq!(worker.stats().succeeded, 30, "children are due too");
    assert_eq!(count(&ratchet, JobState::Succeeded).await, 30);
    assert_eq!(later.status().await.expect("reads"), Some(JobState::Pending));
    assert!(ratchet.nodes().list().await.expect("reads").is_empty(), "it has left");
}

pub async fn c_08_a_draining_worker_without_work_stops_at_once(fixture: EngineFixture) {
    let (_, worker) = start(fixture.builder().drain_and_exit()).await;
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::Drained));
    assert_eq!(worker.stats().claimed, 0);
}

pub async fn c_08_a_draining_worker_fires_due_schedules_first(fixture: EngineFixture) {
    let ratchet = fixture.builder().drain_and_exit().build().await.expect("builds");
    let job = Script::of([Step::Ok]);
    ratchet.schedules().declare("every-minute", "* * * * *", job).await.expect("declares");
    fixture.advance(Duration::from_secs(61)).await;
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::Drained));
    assert_eq!(count(&ratchet, JobState::Succeeded).await, 1);
}

pub async fn c_08_a_worker_claims_once(fixture: EngineFixture) {
    let ratchet = fixture.builder().run_once(3).build().await.expect("builds");
    for _ in 0..5 {
        fixture.play(&ratchet, [Step::Spawn(1)]).await;
    }
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::RanOnce));
    assert_eq!((worker.stats().claimed, worker.stats().succeeded), (3, 3));
    assert_eq!(count(&ratchet, JobState::Pending).await, 2 + 3, "children wait");
}

pub async fn c_08_a_worker_that_claims_once_leaves_what_its_runs_submit(fixture: EngineFixture) {
    let ratchet = fixture.builder().run_once(10).build().await.expect("builds");
    for _ in 0..2 {
        fixture.play(&ratchet, [Step::Spawn(2)]).await;
    }
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::RanOnce));
    assert_eq!(worker.stats().claimed, 2);
    assert_eq!(count(&ratchet, JobState::Pending).await, 4);
}

pub async fn c_08_a_worker_stops_after_a_number_of_jobs(fixture: EngineFixture) {
    let ratchet = fixture.builder().max_jobs(4).concurrency(3).build().await.expect("builds");
    for _ in 0..10 {
        fixture.play(&ratchet, [Step::Ok]).await;
    }
    let worker = ratchet.start().await.expect("starts");
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::MaxJobs));
    assert_eq!((worker.stats().claimed, worker.stats().succeeded), (4, 4));
    assert_eq!(count(&ratchet, JobState::Pending).await, 6);
}

pub async fn c_08_a_worker_stops_after_a_time(fixture: EngineFixture) {
    let builder = fixture.builder().max_time(Duration::from_millis(100));
    let (ratchet, worker) = start(builder.shutdown_grace(Duration::ZERO)).await;
    let job = fixture.play(&ratchet, [Step::Hang]).await;
    assert_eq!(worker.stopped().await, Stopped::Completed(Completion::MaxTime));
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Pending), "it is given back");
}

pub async fn c_08_a_draining_worker_can_be_stopped(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().drain_and_exit().max_jobs(100)).await;
    if worker.stats().claimed == 0 {
        // It may have stopped by itself already. Either way it stops.
        let _ = fixture.play(&ratchet, [Step::Ok]).await;
    }
    worker.stop().await;
    eventually("it has left", async || {
        ratchet.nodes().list().await.is_ok_and(|nodes| nodes.is_empty())
    })
    .await;
}
