//! Rules that apply to a whole queue: pause, cluster-wide concurrency, rate.

use std::time::Duration;

use ratchet_store::model::{Command, Gate, Placement, QueueLimits, QueueUpdate, Rate};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, hours, secs};

async fn order(world: &World, order: QueueUpdate) -> bool {
    world.store.update_queue("default", order).await.expect("is applied")
}

async fn at_once(world: &World, limit: u32) {
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(limit);
    assert!(order(world, QueueUpdate::Limit(limits)).await);
}

async fn in_a_minute(world: &World, jobs: u32) {
    let mut limits = QueueLimits::default();
    limits.rate = Some(Rate { jobs, per: secs(60) });
    assert!(order(world, QueueUpdate::Limit(limits)).await);
}

pub async fn q_01_a_paused_queue_gives_nothing(world: &World) {
    let job = world.submit(world.job()).await;
    let other = world.submit(world.job().queue("other")).await;
    let node = world.node().await.serving(&["default", "other"]);
    assert!(order(world, QueueUpdate::Pause).await);
    assert!(!order(world, QueueUpdate::Pause).await);
    assert_eq!(node.claim_ids(10).await, [other]);
    assert!(order(world, QueueUpdate::Resume).await);
    assert!(!order(world, QueueUpdate::Resume).await);
    assert_eq!(node.claim_ids(10).await, [job]);
}

pub async fn q_01_what_runs_goes_on_when_a_queue_is_paused(world: &World) {
    let run = world.run(world.job()).await;
    order(world, QueueUpdate::Pause).await;
    world.apply(run.succeed()).await;
}

pub async fn q_03_a_paused_queue_uses_nothing(world: &World) {
    let job = world.submit(world.job()).await;
    order(world, QueueUpdate::Pause).await;
    let before = world.get(job).await;
    world.node().await.claim(10).await;
    assert_eq!(world.get(job).await, before);
}

pub async fn q_01_concurrency_holds_over_the_cluster(world: &World) {
    at_once(world, 3).await;
    let ids = world.submit_all(world.jobs(10)).await;
    let (one, two) = (world.node().await, world.node().await);
    assert_eq!(one.claim_ids(2).await, ids[..2]);
    let third = two.claim(10).await;
    assert_eq!(third.len(), 1);
    assert!(one.claim(10).await.is_empty());
    world.apply(third[0].succeed()).await;
    assert_eq!(one.claim_ids(10).await, ids[3..4]);
}

pub async fn q_01_every_end_of_a_run_makes_room(world: &World) {
    at_once(world, 1).await;
    let node = world.node().await;
    let mut run = world.run_on(&node, world.job()).await;
    let ends =
        [RunExt::release, |run: &_| RunExt::retry(run, secs(0)), |run: &_| RunExt::rescue(run, 1)];
    for end in ends {
        world.apply(end(&run)).await;
        run = node.claim_one().await;
    }
    world.apply(run.fail()).await;
    world.run_on(&node, world.job()).await;
}

pub async fn q_01_a_lingering_run_keeps_its_place_in_the_queue(world: &World) {
    at_once(world, 1).await;
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.fail().lingering()).await;
    let next = world.submit(world.job()).await;
    assert!(node.claim(10).await.is_empty());
    world.release_holds(run.token).await;
    assert_eq!(node.claim_ids(10).await, [next]);
}

pub async fn q_01_a_lingering_run_stays_in_the_queue_that_it_was_claimed_from(world: &World) {
    at_once(world, 1).await;
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.retry(hours(1)).lingering()).await;
    let elsewhere = Placement::default().queue("elsewhere");
    world.command(Command::Move(run.id(), elsewhere)).await.expect("moves");
    let queues = world.store.queues().await.expect("reads");
    let running: Vec<_> =
        queues.iter().map(|queue| (queue.queue.as_str(), queue.running)).collect();
    assert_eq!(running, [("default", 1)]);
    let next = world.submit(world.job()).await;
    assert!(node.claim(10).await.is_empty());
    world.release_holds(run.token).await;
    assert_eq!(node.claim_ids(10).await, [next]);
}

pub async fn q_01_the_places_of_a_dead_node_are_free_after_its_rescue(world: &World) {
    at_once(world, 2).await;
    world.submit_all(world.jobs(4)).await;
    assert_eq!(world.mortal(secs(10)).await.claim(10).await.len(), 2);
    world.pass(secs(11)).await;
    for orphan in world.orphans().await {
        world.apply(orphan.claimed.rescue(1)).await;
    }
    assert_eq!(world.node().await.claim(10).await.len(), 2);
}

pub async fn q_01_other_queues_are_not_limited(world: &World) {
    at_once(world, 1).await;
    world.submit_all(world.jobs(3)).await;
    let others =
        world.submit_all(world.jobs(3).into_iter().map(|job| job.queue("other")).collect());
    let others = others.await;
    let claimed = world.node().await.serving(&["default", "other"]).claim_ids(10).await;
    assert_eq!(claimed[1..], others);
}

pub async fn q_01_a_rate_holds_over_the_cluster(world: &World) {
    in_a_minute(world, 5).await;
    let ids = world.submit_all(world.jobs(20)).await;
    let (one, two) = (world.node().await, world.node().await);
    assert_eq!(one.claim_ids(3).await, ids[..3]);
    world.pass(secs(30)).await;
    assert_eq!(two.claim_ids(10).await, ids[3..5]);
    assert!(one.claim(10).await.is_empty());
    world.pass(secs(31)).await;
    assert_eq!(one.claim_ids(10).await, ids[5..8], "three left the window");
    world.pass(secs(31)).await;
    assert_eq!(two.claim_ids(10).await, ids[8..10], "and then two");
}

pub async fn q_05_retries_count_against_the_rate(world: &World) {
    in_a_minute(world, 2).await;
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.retry(secs(0))).await;
    let again = node.claim_one().await;
    world.apply(again.retry(secs(0))).await;
    assert!(node.claim(1).await.is_empty(), "a third claim within the minute");
}

pub async fn q_01_the_claim_says_when_the_rate_opens(world: &World) {
    in_a_minute(world, 2).await;
    world.submit_all(world.jobs(3)).await;
    let node = world.node().await;
    let wait = node.ask(node.request(10)).await.next_due.expect("more may come");
    assert!(wait > secs(50) && wait <= secs(60) + Duration::from_millis(1), "{wait:?}");
}

pub async fn q_01_rules_are_listed_and_go(world: &World) {
    at_once(world, 2).await;
    world.run(world.job()).await;
    let queues = world.store.queues().await.expect("queues are listed");
    assert_eq!(queues.len(), 1);
    assert_eq!((queues[0].queue.as_str(), queues[0].running), ("default", 1));
    assert_eq!(queues[0].gate, Gate::Open { most: 1 });
    let none = QueueLimits::default();
    assert!(order(world, QueueUpdate::Limit(none)).await);
    let queues = world.store.queues().await.expect("queues are listed");
    let rules = &queues[0].rules;
    assert_eq!((rules.limits, rules.set_by_operator), (none, Some(none)), "set to no limit");
    assert_eq!(queues[0].gate, Gate::Open { most: u32::MAX });
    assert!(order(world, QueueUpdate::Reset).await);
    assert!(world.store.queues().await.expect("queues are listed").is_empty());
}

pub async fn q_01_an_isolated_job_counts_too(world: &World) {
    in_a_minute(world, 1).await;
    let node = world.node().await;
    let job = world.submit(world.job()).await;
    let run = node.claim_one().await;
    world.apply(run.rescue(2)).await;
    assert!(node.claim_idle(1).await.jobs.is_empty(), "the minute is not over");
    world.pass(secs(61)).await;
    assert_eq!(node.claim_idle(1).await.jobs[0].id(), job);
    world.submit(world.job()).await;
    assert!(node.claim(1).await.is_empty());
}
