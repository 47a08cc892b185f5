//! Due times: a job must not be claimed before it is due.

use std::time::Duration;

use ratchet_store::model::Due;

use crate::World;
use crate::fixture::{JobExt, hours, mins, secs};

pub async fn c_05_not_before_its_time(world: &World) {
    world.submit(world.job().due_in(hours(1))).await;
    let node = world.node().await;
    world.pass(mins(59)).await;
    assert!(node.claim(10).await.is_empty());
}

pub async fn c_05_claimable_when_due(world: &World) {
    let id = world.submit(world.job().due_in(hours(1))).await;
    let node = world.node().await;
    world.pass(hours(1)).await;
    assert_eq!(node.claim_ids(10).await, [id]);
}

pub async fn c_05_instant_in_the_past_is_due(world: &World) {
    world.pass(hours(1)).await;
    let past = world.now().await - hours(1);
    let id = world.submit(world.job().due_at(past)).await;
    assert_eq!(world.node().await.claim_ids(10).await, [id]);
}

pub async fn c_05_future_jobs_do_not_block_due_ones(world: &World) {
    let future = world.jobs(200).into_iter().map(|job| job.due_in(hours(1))).collect();
    world.submit_all(future).await;
    let due = world.submit(world.job()).await;
    assert_eq!(world.node().await.claim_ids(10).await, [due]);
}

fn is_close(reported: Option<Duration>, wanted: Duration) -> bool {
    reported.is_some_and(|reported| reported <= wanted && wanted < reported + secs(20))
}

pub async fn c_05_time_to_the_next_job_is_told(world: &World) {
    let node = world.node().await;
    world.submit(world.job().due_in(hours(3))).await;
    world.submit(world.job().named("bill").due_in(hours(2))).await;
    world.pass(hours(1)).await;
    let next = node.ask(node.request(5)).await.next_due;
    assert!(is_close(next, hours(1)), "{next:?}");
}

pub async fn c_05_jobs_with_options_of_their_own_fall_due(world: &World) {
    let own = |n: u32| {
        let mut job = world.job().due_in(secs(60 + u64::from(n % 3) * 60));
        job.spec.options.max_retries = n;
        job
    };
    let jobs = world.submit_all((0..9).map(own).collect()).await;
    let node = world.node().await;
    let next = node.ask(node.request(5)).await.next_due;
    assert!(is_close(next, secs(60)), "{next:?}");
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(10).await, [jobs[0], jobs[3], jobs[6]]);
    world.pass(secs(120)).await;
    assert_eq!(node.claim_ids(10).await, [jobs[1], jobs[4], jobs[7], jobs[2], jobs[5], jobs[8]]);
}

pub async fn c_05_next_due_speaks_of_known_jobs_only(world: &World) {
    let node = world.node().await;
    world.submit(world.job().named("strange").due_in(hours(1))).await;
    assert_eq!(node.ask(node.request(5)).await.next_due, None);
    world.submit(world.job().due_in(hours(5))).await;
    let next = node.ask(node.request(5)).await.next_due;
    assert!(is_close(next, hours(5)), "{next:?}");
}

pub async fn c_05_next_due_speaks_of_served_queues_only(world: &World) {
    world.submit(world.job().queue("other").due_in(hours(1))).await;
    let node = world.node().await;
    assert_eq!(node.ask(node.request(5)).await.next_due, None);
}

pub async fn c_05_next_due_forgets_jobs_that_went_away(world: &World) {
    let node = world.node().await;
    let canceled = world.submit(world.job().due_in(hours(1))).await;
    let paused = world.submit(world.job().due_in(hours(1))).await;
    world.cancel(canceled).await;
    world.pause(paused).await;
    assert_eq!(node.ask(node.request(5)).await.next_due, None);
}

pub async fn l_01_reschedule_to_later_hides_a_job(world: &World) {
    let id = world.submit(world.job()).await;
    world.reschedule(id, Due::In(hours(1))).await;
    let node = world.node().await;
    assert!(node.claim(10).await.is_empty());
    world.pass(hours(1)).await;
    assert_eq!(node.claim_ids(10).await, [id]);
}

pub async fn l_01_reschedule_to_now_makes_it_claimable(world: &World) {
    let id = world.submit(world.job().due_in(hours(9))).await;
    world.reschedule(id, Due::Now).await;
    assert_eq!(world.node().await.claim_ids(10).await, [id]);
}

pub async fn l_01_reschedule_changes_nothing_else(world: &World) {
    let id = world.submit(world.job().due_in(hours(9))).await;
    let mut wanted = world.get(id).await;
    let instant = world.now().await + hours(2);
    world.reschedule(id, Due::At(instant)).await;
    wanted.due = instant;
    wanted.version += 1;
    assert_eq!(world.get(id).await, wanted);
}
