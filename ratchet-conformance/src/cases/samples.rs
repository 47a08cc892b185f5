//! Samples of queues, deploys, and the oldest due job of each queue.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    BlockedBy, BreakerUpdate, Declarations, DeployMark, GaugeRow, Priority, QueueLimits,
    QueueUpdate, Rate, StatsQuery, StatsTier,
};

use crate::World;
use crate::fixture::{JobExt, Node, days, hours, mins, secs};

fn sample(queue: &str, at: Timestamp, depth: u64, age: Duration) -> GaugeRow {
    let mut row = GaugeRow::new(0, queue, at);
    (row.depth, row.running, row.paused, row.failed) = (depth, 1, 2, 3);
    row.blocked_by = (depth > 5).then_some(BlockedBy::Rate);
    row.oldest_age = age;
    row
}

async fn write(world: &World, node: &Node, rows: Vec<GaugeRow>) -> bool {
    world.store.write_gauges(node.id, rows).await.expect("samples are written")
}

async fn leader(world: &World) -> Node {
    let node = world.node().await;
    assert!(node.try_lead(days(9000)).await, "no other node leads");
    node
}

/// Returns the query for everything that a tier contains.
async fn everything(world: &World, tier: StatsTier) -> StatsQuery {
    let mut query = StatsQuery::new(tier, world.now().await, world.now().await);
    (query.from, query.until) = (0, i64::MAX);
    query
}

async fn gauges(world: &World, tier: StatsTier) -> Vec<GaugeRow> {
    let query = everything(world, tier).await;
    world.store.stats(&query).await.expect("samples are read").gauges
}

/// Returns the time, in microseconds, as databases store it.
async fn now(world: &World) -> Timestamp {
    let now = world.now().await;
    Timestamp::from_microsecond(now.as_microsecond()).expect("in range")
}

pub async fn m_03_a_sample_is_kept_in_every_tier(world: &World) {
    let leader = leader(world).await;
    // The beginning of an hour, so that the samples are in one slot of ten minutes.
    let hour = StatsTier::Hour.slot_of(now(world).await) - 3;
    let start = StatsTier::Hour.start_of(hour);
    let first = sample("a", start, 9, secs(500));
    let second = sample("a", start + mins(1), 2, secs(10));
    let other = sample("b", start, 4, secs(0));
    assert!(write(world, &leader, vec![first.clone(), other.clone()]).await);
    assert!(write(world, &leader, vec![second.clone()]).await);
    assert!(write(world, &leader, vec![second.clone()]).await, "repeating it is harmless");
    assert!(write(world, &leader, Vec::new()).await);
    let with_slot = |row: &GaugeRow, tier: StatsTier, at| {
        let mut row = row.clone();
        row.slot = tier.slot_of(at);
        row
    };
    let minute = StatsTier::Minute;
    let expected = [
        with_slot(&first, minute, start),
        with_slot(&other, minute, start),
        with_slot(&second, minute, start + mins(1)),
    ];
    assert_eq!(gauges(world, minute).await, expected);
    for tier in [StatsTier::TenMinutes, StatsTier::Hour, StatsTier::Day] {
        let mut kept = with_slot(&second, tier, start);
        kept.oldest_age = first.oldest_age;
        assert_eq!(gauges(world, tier).await, [kept, with_slot(&other, tier, start)], "{tier:?}");
    }
    let mut query = everything(world, StatsTier::Day).await;
    query.queue = Some("b".to_owned());
    let history = world.store.stats(&query).await.expect("samples are read");
    assert_eq!(history.gauges, [with_slot(&other, StatsTier::Day, start)]);
}

pub async fn m_03_only_the_leader_writes_samples(world: &World) {
    let (first, second) = (world.node().await, world.node().await);
    let row = sample("a", now(world).await, 1, secs(1));
    assert!(!write(world, &first, vec![row.clone()]).await, "no node leads");
    assert!(first.try_lead(secs(60)).await);
    assert!(!write(world, &second, vec![row.clone()]).await, "another node leads");
    assert_eq!(gauges(world, StatsTier::Minute).await, []);
    assert!(write(world, &first, vec![row.clone()]).await);
    world.pass(secs(61)).await;
    assert!(!write(world, &first, vec![row]).await, "its leadership has ended");
    assert_eq!(gauges(world, StatsTier::Minute).await.len(), 1);
}

pub async fn m_03_old_samples_are_deleted(world: &World) {
    let leader = leader(world).await;
    let row = sample("a", now(world).await, 1, secs(1));
    assert!(write(world, &leader, vec![row]).await);
    for (pass, kept) in [
        (hours(47), 4),
        (hours(2), 3),
        (days(13), 2),
        (days(77), 1),
        (days(1000), 1),
        (days(10), 0),
    ] {
        world.pass(pass).await;
        world.store.purge_stats(100).await.expect("samples are purged");
        let mut count = 0;
        for tier in StatsTier::ALL {
            count += gauges(world, tier).await.len();
        }
        assert_eq!(count, kept, "after another {pass:?}");
    }
}

/// Joins a node with a version of a program.
async fn deploy(world: &World, program: &str, version: &str) -> Node {
    let mut node = world.stranger();
    node.declarations = Declarations { program: program.to_owned(), fingerprint: 0 };
    let mut info = node.info();
    version.clone_into(&mut info.binary_version);
    world.store.join(info, days(10_000)).await.expect("a node can join");
    node
}

async fn deploys(world: &World) -> Vec<DeployMark> {
    let query = everything(world, StatsTier::Day).await;
    world.store.stats(&query).await.expect("deploys are read").deploys
}

async fn versions(world: &World) -> Vec<(String, String)> {
    let marks = deploys(world).await;
    marks.into_iter().map(|mark| (mark.program, mark.binary_version)).collect()
}

fn version(program: &str, version: &str) -> (String, String) {
    (program.to_owned(), version.to_owned())
}

pub async fn m_03_a_new_version_is_marked_once(world: &World) {
    let before = now(world).await;
    deploy(world, "shop", "1").await;
    deploy(world, "shop", "1").await;
    deploy(world, "shop", "").await;
    deploy(world, "mill", "1").await;
    world.pass(secs(1)).await;
    deploy(world, "shop", "2").await;
    let expected = [version("shop", "1"), version("mill", "1"), version("shop", "2")];
    assert_eq!(versions(world).await, expected);
    let marks = deploys(world).await;
    assert!(marks[0].at >= before && marks[2].at >= marks[0].at + secs(1));
    let mut query = StatsQuery::new(StatsTier::Minute, marks[0].at, marks[0].at);
    (query.from, query.until) = (0, StatsTier::Minute.slot_of(before));
    assert_eq!(world.store.stats(&query).await.expect("deploys are read").deploys, []);
    world.pass(days(401)).await;
    world.store.purge_stats(100).await.expect("deploys are purged");
    assert_eq!(deploys(world).await, []);
}

pub async fn m_03_a_restart_during_a_deploy_is_not_marked(world: &World) {
    let old = deploy(world, "shop", "1").await;
    let new = deploy(world, "shop", "2").await;
    let restarted = deploy(world, "shop", "1").await;
    assert_eq!(versions(world).await, [version("shop", "1"), version("shop", "2")]);
    restarted.leave().await;
    old.leave().await;
    deploy(world, "shop", "1").await;
    assert_eq!(versions(world).await.last(), Some(&version("shop", "1")), "it is rolled back");
    new.leave().await;
}

async fn oldest(world: &World) -> BTreeMap<String, Timestamp> {
    world.store.oldest_due().await.expect("queues are sampled")
}

/// Returns how long ago the oldest job of the queue `default` became due, in minutes.
async fn minutes(world: &World) -> Option<u64> {
    let due = *oldest(world).await.get("default")?;
    let age = now(world).await.duration_since(due);
    Some(Duration::try_from(age).expect("it is due").as_secs() / 60)
}

pub async fn m_03_the_oldest_due_job_of_each_queue(world: &World) {
    assert_eq!(oldest(world).await, BTreeMap::new());
    world.submit(world.job().due_in(mins(5))).await;
    assert_eq!(minutes(world).await, None, "it is not due");
    world.pass(mins(7)).await;
    assert_eq!(minutes(world).await, Some(2), "no claim has noticed it");
    world.submit(world.job()).await;
    world.submit(world.job().queue("other")).await;
    assert_eq!(oldest(world).await.len(), 2);
    assert_eq!(minutes(world).await, Some(2));
    world.pass(mins(4)).await;
    let node = world.node().await;
    assert_eq!(node.claim(1).await.len(), 1);
    assert_eq!(minutes(world).await, Some(4), "the next one");
    let paused = world.store.update_queue("default", QueueUpdate::Pause).await;
    assert!(paused.expect("it can be paused"));
    world.pass(mins(3)).await;
    assert_eq!(minutes(world).await, Some(7), "jobs of a paused queue grow older");
    world.store.update_queue("default", QueueUpdate::Resume).await.expect("it can be resumed");
    assert_eq!(node.claim(9).await.len(), 1);
    assert_eq!(minutes(world).await, None, "running jobs do not wait");
    assert_eq!(oldest(world).await.len(), 1);
}

pub async fn m_03_the_oldest_due_job_may_have_any_priority(world: &World) {
    // Without aging, a level of priority is worth a century. With aging, levels overlap.
    for unaged in [true, false] {
        let mut ids = Vec::new();
        for priority in Priority::ALL {
            let job = world.job().priority(priority);
            ids.push(world.submit(if unaged { job.unaged() } else { job }).await);
            world.pass(mins(10)).await;
        }
        for (number, id) in (0..).zip(ids) {
            assert_eq!(minutes(world).await, Some(50 - 10 * number), "unaged: {unaged}");
            world.cancel(id).await;
        }
        assert_eq!(minutes(world).await, None);
    }
}

pub async fn m_03_a_job_held_back_by_the_rate_of_its_key_is_still_the_oldest(world: &World) {
    let mut limits = QueueLimits::default();
    limits.rate_per_key = Some(Rate { jobs: 1, per: mins(10) });
    let limited = world.store.update_queue("default", QueueUpdate::Limit(limits)).await;
    assert!(limited.expect("it can be limited"));
    for _ in 0..3 {
        world.submit(world.job().at_most(1000, "acme")).await;
    }
    let node = world.node().await;
    assert_eq!(node.claim(9).await.len(), 1);
    assert!(node.claim(9).await.is_empty());
    world.pass(mins(3)).await;
    assert_eq!(minutes(world).await, Some(3));
}

pub async fn m_03_a_job_that_is_held_back_is_still_the_oldest(world: &World) {
    let node = world.node().await;
    let held = |job| [world.job().at_most(1, "key"), world.job().service("pay"), job];
    let running = world.run_on(&node, world.job().at_most(1, "key")).await;
    world.store.update_breaker("pay", BreakerUpdate::Open(None)).await.expect("it can be opened");
    for job in held(world.job().named("strange")) {
        let id = world.submit(job).await;
        world.pass(mins(2)).await;
        for _ in 0..3 {
            assert!(node.claim(9).await.is_empty());
        }
        assert_eq!(minutes(world).await, Some(2));
        world.cancel(id).await;
        assert_eq!(minutes(world).await, None);
    }
    assert_eq!(running.spec.queue, "default");
}
