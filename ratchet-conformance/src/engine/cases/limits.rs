//! Limits on the number of jobs that a worker claims and a queue accepts.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{AfterFailure, Explanation, JobHandle, JobState, SubmitError, Waiting};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::{Script, Step};

pub async fn c_03_a_worker_takes_no_more_than_it_has_room_for(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().concurrency(5)).await;
    for _ in 0..20 {
        fixture.play(&ratchet, [Step::Gate]).await;
    }
    eventually("it is full", async || fixture.stage().running() == 5).await;
    assert_eq!(ratchet.jobs().counts().await.expect("reads").state(JobState::Running), 5);
    fixture.stage().open_gate();
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 20)
    })
    .await;
    assert_eq!(fixture.stage().most_at_once(), 5);
    worker.stop().await;
}

pub async fn c_03_with_company_a_worker_asks_for_all_it_may_run(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().concurrency(6)).await;
    for (competing, jobs) in [(false, 3), (true, 6), (false, 3)] {
        fixture.switches().competing.store(competing, Ordering::SeqCst);
        eventually("alone one half, so that the other can run", async || {
            // The worker only checks for competing claimers if some jobs end while others wait.
            let several = (0..12).map(|_| Script::of([Step::Ok]));
            ratchet.enqueue_many(several).await.expect("enqueues");
            fixture.switches().asked.load(Ordering::SeqCst) == jobs
        })
        .await;
    }
    worker.stop().await;
}

pub async fn c_03_jobs_do_not_wait_for_a_look_around(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().concurrency(2)).await;
    for _ in 0..20 {
        fixture.play(&ratchet, [Step::Gate]).await;
    }
    let hanging = fixture.switches().looking.lock().await;
    fixture.stage().open_gate();
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 20)
    })
    .await;
    assert!(fixture.switches().looks.load(Ordering::SeqCst) > 0, "it has looked around");
    drop(hanging);
    worker.stop().await;
}

/// A worker of three queues, of which one has all the jobs. No poll comes to its help.
async fn drains_one_queue(fixture: EngineFixture, concurrency: u32) {
    const HOUR: Duration = Duration::from_hours(1);
    let builder = fixture
        .builder()
        .concurrency(concurrency)
        .config(|config| config.poll_interval = (HOUR, HOUR))
        .queue("empty", |queue| queue.weight(3))
        .queue("narrow", |queue| queue.concurrency(1));
    let ratchet = builder.build().await.expect("builds");
    let several = (0..40).map(|_| Script::of([Step::Ok]));
    ratchet.enqueue_many(several.clone()).await.expect("enqueues");
    for script in several.take(10) {
        ratchet.enqueue(script).queue("narrow").await.expect("enqueues");
    }
    let worker = ratchet.start().await.expect("starts");
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 50)
    })
    .await;
    worker.stop().await;
}

pub async fn c_02_a_worker_of_several_queues_drains_one_without_polling(fixture: EngineFixture) {
    drains_one_queue(fixture, 8).await;
}

pub async fn c_02_a_worker_with_one_place_drains_each_queue_without_polling(
    fixture: EngineFixture,
) {
    drains_one_queue(fixture, 1).await;
}

pub async fn q_01_a_queue_has_a_limit_of_its_own(fixture: EngineFixture) {
    let (ratchet, worker) =
        start(fixture.builder().queue("narrow", |queue| queue.concurrency(1))).await;
    for _ in 0..4 {
        ratchet.enqueue(Script::of([Step::Gate])).queue("narrow").await.expect("enqueues");
    }
    eventually("one runs", async || fixture.stage().running() == 1).await;
    let other = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, other.id(), JobState::Succeeded).await;
    assert_eq!(ratchet.jobs().counts().await.expect("reads").on("narrow", JobState::Running), 1);
    fixture.stage().open_gate();
    eventually("all are done", async || {
        ratchet
            .jobs()
            .counts()
            .await
            .is_ok_and(|counts| counts.on("narrow", JobState::Succeeded) == 4)
    })
    .await;
    worker.stop().await;
}

pub async fn q_02_a_concurrency_key_limits_runs(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for _ in 0..6 {
        ratchet
            .enqueue(Script::of([Step::Gate]))
            .concurrency_key("account-1", 2)
            .await
            .expect("enqueues");
    }
    eventually("two run", async || fixture.stage().running() == 2).await;
    let other = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, other.id(), JobState::Succeeded).await;
    fixture.stage().open_gate();
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 7)
    })
    .await;
    assert!(fixture.stage().most_at_once() <= 3, "two of the key and the other");
    worker.stop().await;
}

pub async fn q_07_jobs_in_order_run_one_after_the_other(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().concurrency(6)).await;
    let mut jobs = Vec::new();
    for number in 0..6 {
        let fails = (number % 2 == 0).then(|| Step::Error("once".to_owned()));
        let script = Script::of(fails.into_iter().chain([Step::Ok]));
        let job = ratchet.enqueue(script).ordered_by("account-1", AfterFailure::Hold);
        jobs.push(job.await.expect("enqueues"));
    }
    let mut runs = Vec::new();
    for job in &jobs {
        fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
        let attempts = ratchet.jobs().attempts(job.id()).await.expect("reads");
        runs.extend(attempts.iter().map(|run| (run.started_at, job.id())));
    }
    assert_eq!(runs.len(), 9, "three of the six jobs failed once");
    runs.sort_unstable();
    let mut order: Vec<_> = runs.into_iter().map(|(_, job)| job).collect();
    order.dedup();
    assert_eq!(order, jobs.iter().map(JobHandle::id).collect::<Vec<_>>());
    worker.stop().await;
}

pub async fn q_07_jobs_in_order_are_no_steps(fixture: EngineFixture) {
    let ratchet = fixture.builder().build().await.expect("builds");
    let job = || Script::of([Step::Ok]);
    let chain =
        ratchet.chain(job()).then_with(job(), |job| job.ordered_by("a", AfterFailure::Hold));
    let refused = chain.await.err();
    let Some(SubmitError::BadOption { problem, .. }) = refused else { panic!("{refused:?}") };
    assert!(problem.contains("cannot be a step"), "{problem}");
    let shared = ratchet.enqueue(job()).ordered_by("a", AfterFailure::Skip).concurrency_key("a", 2);
    assert!(matches!(shared.await, Err(SubmitError::BadOption { .. })));
}

pub async fn q_01_cluster_limits_are_declared_by_the_worker(fixture: EngineFixture) {
    let limited = || fixture.builder().queue("default", |queue| queue.cluster_concurrency(2));
    let (ratchet, one) = start(limited()).await;
    let (_, two) = start(limited()).await;
    for _ in 0..6 {
        fixture.play(&ratchet, [Step::Gate]).await;
    }
    eventually("two run", async || fixture.stage().running() == 2).await;
    let waiting = fixture.play(&ratchet, [Step::Ok]).await;
    let why = ratchet.jobs().explain(waiting.id()).await.expect("reads").expect("exists");
    let full = Waiting::QueueFull { queue: "default".to_owned(), limit: 2 };
    assert_eq!(why, Explanation::Waits(vec![full]));
    fixture.stage().open_gate();
    eventually("all are done", async || {
        ratchet.jobs().counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 7)
    })
    .await;
    assert_eq!(fixture.stage().most_at_once(), 2);
    one.stop().await;
    two.stop().await;
}

pub async fn q_01_a_rate_is_waited_for(fixture: EngineFixture) {
    let rate = |queue: ratchet_core::QueueConfig| queue.rate(3, Duration::from_mins(1));
    let (ratchet, worker) = start(fixture.builder().queue("default", rate)).await;
    let mut jobs = Vec::new();
    for _ in 0..7 {
        jobs.push(fixture.play(&ratchet, [Step::Ok]).await);
    }
    for job in &jobs {
        fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    }
    let mut started = Vec::new();
    for job in &jobs {
        started.push(
            ratchet.jobs().get(job.id()).await.expect("reads").and_then(|job| job.started_at),
        );
    }
    started.sort_unstable();
    for window in started.windows(4) {
        let span = window[3].expect("ran").duration_since(window[0].expect("ran"));
        assert!(span.as_secs() >= 60, "four within {span:?}");
    }
    worker.stop().await;
}

pub async fn q_06_the_rate_of_a_key_is_waited_for(fixture: EngineFixture) {
    let each = |queue: ratchet_core::QueueConfig| queue.rate_per_key(2, Duration::from_mins(1));
    let (ratchet, worker) = start(fixture.builder().queue("default", each)).await;
    let mut jobs = Vec::new();
    for number in 0..10 {
        let key = format!("customer-{}", number % 2);
        let job = ratchet.enqueue(Script::of([Step::Ok])).concurrency_key(key, 9);
        jobs.push(job.await.expect("enqueues").id());
    }
    let free = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, free.id(), JobState::Succeeded).await;
    for id in &jobs {
        fixture.until(&ratchet, *id, JobState::Succeeded).await;
    }
    for customer in 0..2 {
        let mut started = Vec::new();
        for id in jobs.iter().skip(customer).step_by(2) {
            let job = ratchet.jobs().get(*id).await.expect("reads").expect("exists");
            started.push(job.started_at.expect("ran"));
        }
        assert!(started.is_sorted(), "in the order of their submits: {started:?}");
        for window in started.windows(3) {
            let span = window[2].duration_since(window[0]);
            assert!(span.as_secs() >= 60, "three within {span:?}");
        }
    }
    let queue = &ratchet.queues().list().await.expect("lists")[0];
    assert!(queue.rules.declared[0].limits.rate_per_key.is_some(), "{queue:?}");
    worker.stop().await;
}

pub async fn q_01_a_queue_can_be_paused_and_resumed(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    ratchet.queues().pause("default").await.expect("pauses");
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    let why = ratchet.jobs().explain(job.id()).await.expect("reads").expect("exists");
    assert_eq!(why.to_string(), "queue `default` is paused");
    assert!(ratchet.queues().list().await.expect("lists")[0].rules.paused);
    ratchet.queues().resume("default").await.expect("resumes");
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn h_03_a_deep_queue_refuses(fixture: EngineFixture) {
    let ratchet = fixture.builder().queue("default", |queue| queue.max_depth(3)).build().await;
    let ratchet = ratchet.expect("builds");
    for _ in 0..3 {
        fixture.play(&ratchet, [Step::Ok]).await;
    }
    let refused = ratchet.enqueue(Script::of([Step::Ok])).await;
    let Err(SubmitError::QueueFull { queue, depth: 3, limit: 3, .. }) = refused else {
        panic!("it is full: {refused:?}");
    };
    assert_eq!(queue, "default");
    let bulk = ratchet.enqueue_many([Script::of([Step::Ok])]).await;
    assert!(matches!(bulk, Err(SubmitError::QueueFull { .. })));
    ratchet.enqueue(Script::of([Step::Ok])).queue("other").await.expect("another queue has room");
    assert_eq!(ratchet.jobs().counts().await.expect("counts").on("default", JobState::Pending), 3);

    // Once another process has drained the queue, submits are accepted again.
    let (other, worker) = fixture.start().await;
    eventually("it is empty", async || {
        other
            .jobs()
            .counts()
            .await
            .is_ok_and(|counts| counts.on("default", JobState::Succeeded) == 3)
    })
    .await;
    worker.stop().await;
    fixture.play(&ratchet, [Step::Ok]).await;
}

pub async fn h_03_a_deep_queue_warns_if_asked(fixture: EngineFixture) {
    let ratchet = fixture.builder().queue("default", |queue| queue.warn_above(2)).build().await;
    let ratchet = ratchet.expect("builds");
    let deep = |warnings: &[String]| warnings.iter().any(|warning| warning.contains("more than 2"));
    for _ in 0..2 {
        assert!(!deep(fixture.play(&ratchet, [Step::Ok]).await.warnings()));
    }
    assert!(deep(fixture.play(&ratchet, [Step::Ok]).await.warnings()));
}
