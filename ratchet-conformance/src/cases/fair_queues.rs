//! Fair queues: the tenants take turns.

use ratchet_store::model::{JobId, NewJob, Priority, QueueLimits, QueueUpdate};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

/// Makes the default queue fair, with a limit on running jobs if one is given.
async fn fair(world: &World, concurrency: Option<u32>) {
    let mut limits = QueueLimits::default();
    (limits.fair, limits.concurrency) = (true, concurrency);
    world.store.update_queue("default", QueueUpdate::Limit(limits)).await.expect("is applied");
}

/// Submits jobs of a tenant.
async fn submit(world: &World, tenant: &str, count: usize) -> Vec<JobId> {
    world.submit_all((0..count).map(|_| world.job().tenant(tenant)).collect::<Vec<NewJob>>()).await
}

/// Returns these ids in the order of the queue.
fn in_order<const N: usize>(mut ids: [JobId; N]) -> [JobId; N] {
    ids.sort_unstable();
    ids
}

pub async fn q_07_a_backlog_delays_another_tenant_by_one_turn(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    let backlog = submit(world, "acme", 50).await;
    let other = submit(world, "zeta", 2).await;
    assert_eq!(node.claim_ids(2).await, [backlog[0], other[0]]);
    assert_eq!(node.claim_ids(3).await, [backlog[1], backlog[2], other[1]]);
    let third = submit(world, "beta", 1).await;
    assert_eq!(node.claim_ids(1).await, third, "it is its turn after `acme`");
    assert_eq!(node.claim_ids(99).await, backlog[3..], "nothing is left behind");
}

pub async fn q_07_turns_continue_with_the_next_claim(world: &World) {
    fair(world, None).await;
    let (one, two) = (world.node().await, world.node().await);
    let jobs =
        [submit(world, "a", 5).await, submit(world, "b", 5).await, submit(world, "c", 5).await];
    let mut claimed = Vec::new();
    for node in [&one, &two, &one, &two, &one, &two] {
        claimed.extend(node.claim_ids(1).await);
    }
    assert_eq!(
        claimed,
        [jobs[0][0], jobs[1][0], jobs[2][0], jobs[0][1], jobs[1][1], jobs[2][1]],
        "the turns belong to the queue, not to a node"
    );
}

pub async fn q_07_every_tenant_has_a_turn(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    submit(world, "t00", 100).await;
    let mut one_each = Vec::new();
    for number in 1..60 {
        one_each.extend(submit(world, &format!("t{number:02}"), 1).await);
    }
    let mut claimed = Vec::new();
    for _ in 0..9 {
        claimed.extend(node.claim_ids(7).await);
    }
    one_each.retain(|id| !claimed.contains(id));
    assert!(one_each.is_empty(), "{} tenants had no turn among 63 jobs", one_each.len());
}

pub async fn q_07_turns_spare_jobs_that_cannot_run(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    let held = world.run_on(&node, world.job().tenant("acme").at_most(1, "disk")).await;
    let blocked = world.submit(world.job().tenant("acme").at_most(1, "disk")).await;
    let acme = submit(world, "acme", 2).await;
    let zeta = submit(world, "zeta", 2).await;
    assert_eq!(node.claim_ids(2).await, [acme[0], zeta[0]]);
    world.apply(held.succeed()).await;
    assert_eq!(node.claim_ids(2).await, [blocked, zeta[1]]);
    assert_eq!(node.claim_ids(2).await, acme[1..]);
}

pub async fn q_07_priorities_order_the_jobs_of_a_tenant(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    let low = world.submit(world.job().tenant("acme").priority(Priority::Low)).await;
    let urgent = world.submit(world.job().tenant("acme").priority(Priority::Critical)).await;
    let other = world.submit(world.job().tenant("zeta").priority(Priority::Low)).await;
    assert_eq!(node.claim_ids(1).await, [urgent]);
    assert_eq!(node.claim_ids(1).await, [other], "its turn, although its priority is low");
    assert_eq!(node.claim_ids(1).await, [low]);
}

pub async fn q_07_jobs_without_a_tenant_keep_their_places(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    let first = world.submit(world.job()).await;
    let acme = submit(world, "acme", 3).await;
    let last = world.submit(world.job()).await;
    assert_eq!(node.claim_ids(2).await, in_order([first, acme[0]]));
    assert_eq!(node.claim_ids(1).await, [acme[1]], "an older job of a tenant is before it");
    assert_eq!(node.claim_ids(1).await, [acme[2]]);
    assert_eq!(node.claim_ids(2).await, [last]);
}

pub async fn q_07_turns_respect_the_limits_of_the_queue(world: &World) {
    fair(world, Some(3)).await;
    let node = world.node().await;
    let acme = submit(world, "acme", 5).await;
    let zeta = submit(world, "zeta", 5).await;
    let runs = node.claim(10).await;
    let ids: Vec<_> = runs.iter().map(ratchet_store::model::Claimed::id).collect();
    assert_eq!(ids, [acme[0], acme[1], zeta[0]]);
    for run in &runs[..2] {
        world.apply(run.succeed()).await;
    }
    assert_eq!(node.claim_ids(10).await, [acme[2], zeta[1]]);
}

pub async fn q_07_jobs_that_return_take_part(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    let delayed = world.submit(world.job().tenant("beta").due_in(secs(30))).await;
    let retried = world.run_on(&node, world.job().tenant("zeta")).await;
    submit(world, "acme", 50).await;
    world.apply(retried.retry(secs(30))).await;
    world.pass(secs(31)).await;
    let claimed = node.claim_ids(3).await;
    assert!(claimed.contains(&delayed) && claimed.contains(&retried.id()), "{claimed:?}");
}

pub async fn q_07_a_queue_that_is_no_longer_fair_has_its_order(world: &World) {
    fair(world, None).await;
    let node = world.node().await;
    let acme = submit(world, "acme", 4).await;
    let zeta = submit(world, "zeta", 2).await;
    assert_eq!(node.claim_ids(2).await, [acme[0], zeta[0]]);
    world.store.update_queue("default", QueueUpdate::Reset).await.expect("is applied");
    assert_eq!(node.claim_ids(9).await, [acme[1], acme[2], acme[3], zeta[1]]);
}
