//! How much a worker takes.

use ratchet_core::JobState;

use crate::engine::bench::{Bench, eventually, start};
use crate::engine::script::{Script, Step};

pub async fn c_03_a_worker_takes_no_more_than_it_has_room_for(bench: Bench) {
    let (ratchet, worker) = start(bench.builder().concurrency(5)).await;
    for _ in 0..20 {
        bench.play(&ratchet, [Step::Gate]).await;
    }
    eventually("it is full", async || bench.stage().running() == 5).await;
    assert_eq!(ratchet.counts().await.expect("reads").state(JobState::Running), 5);
    bench.stage().open_gate();
    eventually("all are done", async || {
        ratchet.counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 20)
    })
    .await;
    assert_eq!(bench.stage().most_at_once(), 5);
    worker.stop().await;
}

pub async fn q_01_a_queue_has_a_limit_of_its_own(bench: Bench) {
    let (ratchet, worker) =
        start(bench.builder().queue("narrow", |queue| queue.concurrency(1))).await;
    for _ in 0..4 {
        ratchet.enqueue(Script::of([Step::Gate])).queue("narrow").await.expect("enqueues");
    }
    eventually("one runs", async || bench.stage().running() == 1).await;
    let other = bench.play(&ratchet, [Step::Ok]).await;
    bench.until(&ratchet, other.id(), JobState::Succeeded).await;
    assert_eq!(ratchet.counts().await.expect("reads").on("narrow", JobState::Running), 1);
    bench.stage().open_gate();
    eventually("all are done", async || {
        ratchet.counts().await.is_ok_and(|counts| counts.on("narrow", JobState::Succeeded) == 4)
    })
    .await;
    worker.stop().await;
}

pub async fn q_02_a_concurrency_key_limits_runs(bench: Bench) {
    let (ratchet, worker) = bench.start().await;
    for _ in 0..6 {
        ratchet
            .enqueue(Script::of([Step::Gate]))
            .concurrency_key("account-1", 2)
            .await
            .expect("enqueues");
    }
    eventually("two run", async || bench.stage().running() == 2).await;
    let other = bench.play(&ratchet, [Step::Ok]).await;
    bench.until(&ratchet, other.id(), JobState::Succeeded).await;
    bench.stage().open_gate();
    eventually("all are done", async || {
        ratchet.counts().await.is_ok_and(|counts| counts.state(JobState::Succeeded) == 7)
    })
    .await;
    assert!(bench.stage().most_at_once() <= 3, "two of the key and the other");
    worker.stop().await;
}
