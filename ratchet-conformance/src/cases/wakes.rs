//! Wake-ups: hints that there may be work or that a job has ended.

use ratchet_store::Wake;
use ratchet_store::model::{BreakerUpdate, QueueLimits, QueueUpdate};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, hours, secs};

fn work(queue: &str) -> Wake {
    Wake::Work { queue: queue.to_owned() }
}

/// Runs `act` and waits for the expected wake-up. It may arrive with a delay.
async fn wakes<T>(world: &World, wanted: Wake, act: impl Future<Output = T>) -> T {
    let mut wakes = match &wanted {
        Wake::Finished(_) => world.store.subscribe_completions(),
        _ => world.store.subscribe_wakeups(),
    };
    let done = act.await;
    if !world.sends_wakes() {
        return done;
    }
    let heard = async { while wakes.recv().await.as_ref() != Ok(&wanted) {} };
    let heard = tokio::time::timeout(secs(10), heard).await;
    assert!(heard.is_ok(), "no {wanted:?}");
    done
}

pub async fn s_09_due_job_wakes_its_queue(world: &World) {
    let job = world.job().queue("letters");
    wakes(world, work("letters"), world.submit(job)).await;
}

pub async fn s_09_every_queue_of_a_batch_is_woken(world: &World) {
    let mut heard = world.store.subscribe_wakeups();
    let jobs = vec![world.job().queue("a"), world.job().queue("b"), world.job().queue("a")];
    wakes(world, work("b"), world.submit_all(jobs)).await;
    assert!(!world.sends_wakes() || World::drain(&mut heard).contains(&work("a")));
}

pub async fn s_09_refused_batch_wakes_nobody(world: &World) {
    world.submit(world.job().key("taken")).await;
    let mut heard = world.store.subscribe_wakeups();
    let refused = vec![world.job().queue("refused"), world.job().key("taken")];
    world.insert(refused).await.expect_err("the key is taken");
    wakes(world, work("after"), world.submit(world.job().queue("after"))).await;
    assert!(!World::drain(&mut heard).contains(&work("refused")));
}

pub async fn s_09_retry_without_delay_wakes(world: &World) {
    let run = world.run(world.job()).await;
    wakes(world, work("default"), world.apply(run.retry(secs(0)))).await;
}

pub async fn s_09_release_wakes(world: &World) {
    let run = world.run(world.job()).await;
    wakes(world, work("default"), world.apply(run.release())).await;
}

pub async fn s_09_child_wakes_its_queue(world: &World) {
    let run = world.run(world.job()).await;
    let child = world.job().queue("children");
    wakes(world, work("children"), world.apply(run.succeed().spawning(vec![child]))).await;
}

pub async fn s_09_commands_that_make_work_wake(world: &World) {
    let id = world.submit(world.job()).await;
    world.pause(id).await;
    wakes(world, work("default"), world.resume(id)).await;
    let later = world.submit(world.job().queue("q").due_in(hours(1))).await;
    let now = ratchet_store::model::Due::Now;
    wakes(world, work("q"), world.reschedule(later, now)).await;
    let run = world.node().await.claim_one().await;
    world.apply(run.fail()).await;
    wakes(world, work("default"), world.retry(run.id())).await;
}

pub async fn l_08_every_end_is_told(world: &World) {
    let run = world.run(world.job()).await;
    wakes(world, Wake::Finished(run.id()), world.apply(run.succeed())).await;
    let run = world.run(world.job()).await;
    wakes(world, Wake::Finished(run.id()), world.apply(run.fail())).await;
    let id = world.submit(world.job()).await;
    wakes(world, Wake::Finished(id), world.cancel(id)).await;
}

pub async fn l_04_canceled_run_is_told(world: &World) {
    let run = world.run(world.job()).await;
    wakes(world, Wake::Canceled(run.token), world.cancel(run.id())).await;
}

pub async fn s_09_resuming_a_queue_wakes(world: &World) {
    let order = |order| world.store.update_queue("default", order);
    order(QueueUpdate::Pause).await.expect("is applied");
    wakes(world, Wake::Unblocked, order(QueueUpdate::Resume)).await.expect("is applied");
}

pub async fn s_09_closing_a_breaker_wakes(world: &World) {
    let order = |order| world.store.update_breaker("pay", order);
    order(BreakerUpdate::Open(None)).await.expect("is applied");
    wakes(world, Wake::Unblocked, order(BreakerUpdate::Close)).await.expect("is applied");
}

pub async fn s_09_the_end_of_a_run_wakes_a_full_queue(world: &World) {
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(1);
    let limited = world.store.update_queue("default", QueueUpdate::Limit(limits)).await;
    limited.expect("is applied");
    let run = world.run(world.job()).await;
    world.submit(world.job()).await;
    wakes(world, work("default"), world.apply(run.succeed())).await;
}

pub async fn s_09_the_end_of_a_late_handler_wakes_a_full_queue(world: &World) {
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(1);
    let limited = world.store.update_queue("default", QueueUpdate::Limit(limits)).await;
    limited.expect("is applied");
    let run = world.run(world.job()).await;
    world.apply(run.fail().lingering()).await;
    world.submit(world.job()).await;
    wakes(world, work("default"), world.release_holds(run.token)).await;
}
