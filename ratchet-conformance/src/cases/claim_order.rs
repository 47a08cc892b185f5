//! The order in which jobs are claimed.

use ratchet_core::Priority;
use ratchet_store::model::Due;

use crate::World;
use crate::fixture::{JobExt, RunExt, hours, mins, secs};

pub async fn c_02_older_comes_first(world: &World) {
    let first = world.submit(world.job()).await;
    world.pass(secs(1)).await;
    let second = world.submit(world.job()).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(2).await, [first, second]);
}

pub async fn c_02_due_time_counts_not_submit_time(world: &World) {
    let submitted_first = world.submit(world.job().due_in(secs(20))).await;
    let due_first = world.submit(world.job().due_in(secs(10))).await;
    world.pass(secs(30)).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(2).await, [due_first, submitted_first]);
}

pub async fn c_02_higher_priority_comes_first(world: &World) {
    let mut wanted = Vec::new();
    for priority in Priority::ALL {
        wanted.insert(0, world.submit(world.job().priority(priority)).await);
    }
    assert_eq!(world.node().await.claim_ids(10).await, wanted);
}

pub async fn c_02_old_low_work_overtakes_new_high_work(world: &World) {
    let old = world.submit(world.job().priority(Priority::Normal)).await;
    world.pass(mins(16)).await;
    let new = world.submit(world.job().priority(Priority::High)).await;
    assert_eq!(world.node().await.claim_ids(2).await, [old, new]);
}

pub async fn c_02_a_level_is_worth_its_interval(world: &World) {
    let old = world.submit(world.job().priority(Priority::Normal)).await;
    world.pass(mins(14)).await;
    let new = world.submit(world.job().priority(Priority::High)).await;
    assert_eq!(world.node().await.claim_ids(2).await, [new, old]);
}

pub async fn c_02_ageing_can_be_switched_off(world: &World) {
    let old = world.submit(world.job().unaged().priority(Priority::Low)).await;
    world.pass(hours(1000)).await;
    let new = world.submit(world.job().unaged().priority(Priority::High)).await;
    assert_eq!(world.node().await.claim_ids(2).await, [new, old]);
}

pub async fn c_02_equal_jobs_are_ordered_by_id(world: &World) {
    let now = world.now().await;
    let (a, b, c) = (world.job().due_at(now), world.job().due_at(now), world.job().due_at(now));
    let wanted = [a.id, b.id, c.id];
    world.submit_all(vec![c, a, b]).await;
    assert_eq!(world.node().await.claim_ids(3).await, wanted);
}

pub async fn c_02_room_takes_the_first_and_leaves_the_rest(world: &World) {
    let low = world.submit(world.job().priority(Priority::Low)).await;
    let high = world.submit(world.job().priority(Priority::High)).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(1).await, [high]);
    assert_eq!(node.claim_ids(1).await, [low]);
}

pub async fn c_02_order_spans_job_names(world: &World) {
    let mut wanted = Vec::new();
    for name in ["mail", "bill", "mail", "bill"] {
        world.pass(secs(1)).await;
        wanted.push(world.submit(world.job().named(name)).await);
    }
    assert_eq!(world.node().await.claim_ids(4).await, wanted);
}

pub async fn c_02_retried_job_queues_by_its_new_due_time(world: &World) {
    let retried = world.run(world.job()).await;
    let waiting = world.submit(world.job().due_in(secs(5))).await;
    world.apply(retried.retry(secs(10))).await;
    world.pass(secs(20)).await;
    assert_eq!(world.node().await.claim_ids(2).await, [waiting, retried.id()]);
}

pub async fn c_02_rescheduled_job_queues_by_its_new_due_time(world: &World) {
    let moved = world.submit(world.job()).await;
    let other = world.submit(world.job().due_in(secs(5))).await;
    world.reschedule(moved, Due::In(secs(10))).await;
    world.pass(secs(20)).await;
    assert_eq!(world.node().await.claim_ids(2).await, [other, moved]);
}

pub async fn c_02_released_job_keeps_its_place(world: &World) {
    let released = world.run(world.job()).await;
    world.pass(secs(1)).await;
    let other = world.submit(world.job()).await;
    world.pass(secs(1)).await;
    world.apply(released.release()).await;
    assert_eq!(world.node().await.claim_ids(2).await, [released.id(), other]);
}
