//! Rates per concurrency key: how many jobs of a key start within a period.

use std::collections::HashMap;
use std::time::Duration;

use ratchet_store::model::{
    Claimed, Gate, JobId, NewJob, QueueLimits, QueueRecord, QueueUpdate, Rate,
};
use tokio::task::JoinSet;

use super::declared_rules::newest;
use crate::World;
use crate::fixture::{JobExt, Node, RunExt, secs};

fn each_minute(jobs: u32) -> QueueLimits {
    let mut limits = QueueLimits::default();
    limits.rate_per_key = Some(Rate { jobs, per: secs(60) });
    limits
}

async fn order(world: &World, order: QueueUpdate) -> bool {
    world.store.update_queue("default", order).await.expect("is applied")
}

async fn limit(world: &World, limits: QueueLimits) {
    assert!(order(world, QueueUpdate::Limit(limits)).await);
}

async fn declare(world: &World, node: &Node, limits: QueueLimits) -> bool {
    let declarations = node.declarations.clone();
    order(world, QueueUpdate::Declare { declarations, limits }).await
}

/// Returns jobs of a key, which is hardly limited in how many run at once.
fn keyed(world: &World, count: usize, key: &str) -> Vec<NewJob> {
    world.jobs(count).into_iter().map(|job| job.at_most(1000, key)).collect()
}

async fn record(world: &World) -> QueueRecord {
    world.store.queues().await.expect("queues are listed").pop().expect("the queue has rules")
}

pub async fn q_06_a_rate_per_key_holds_over_the_cluster(world: &World) {
    limit(world, each_minute(3)).await;
    let ids = world.submit_all(keyed(world, 9, "acme")).await;
    let (one, two) = (world.node().await, world.node().await);
    assert_eq!(one.claim_ids(2).await, ids[..2]);
    world.pass(secs(30)).await;
    assert_eq!(two.claim_ids(9).await, ids[2..3]);
    assert!(one.claim(9).await.is_empty());
    world.pass(secs(31)).await;
    assert_eq!(one.claim_ids(9).await, ids[3..5], "two left the window");
    world.pass(secs(31)).await;
    assert_eq!(two.claim_ids(9).await, ids[5..6], "and then one");
    world.pass(secs(61)).await;
    assert_eq!(one.claim_ids(9).await, ids[6..], "the rest");
    assert!(two.claim(9).await.is_empty());
}

pub async fn q_06_a_rate_per_key_holds_under_load(world: &World) {
    limit(world, each_minute(3)).await;
    let keys = ["a", "b", "c", "d", "e"];
    for key in keys {
        world.submit_all(keyed(world, 20, key)).await;
    }
    let mut claimers = JoinSet::new();
    for _ in 0..8 {
        let node = world.node().await;
        claimers.spawn(async move {
            let mut mine = Vec::new();
            for _ in 0..10 {
                mine.extend(node.claim(2).await);
            }
            mine
        });
    }
    let mut claimed = claimers.join_all().await.concat();
    // A claim leaves out rows that another one is examining.
    claimed.extend(world.node().await.claim(100).await);
    let mut starts = HashMap::new();
    for run in &claimed {
        let key = run.spec.concurrency.as_ref().expect("has a key").key.clone();
        *starts.entry(key).or_insert(0) += 1;
    }
    assert_eq!(starts, keys.map(|key| (key.to_owned(), 3)).into());
}

pub async fn q_06_a_key_that_waits_for_its_rate_holds_up_no_other_job(world: &World) {
    limit(world, each_minute(1)).await;
    let busy = world.submit_all(keyed(world, 300, "busy")).await;
    world.pass(secs(1)).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(5).await, busy[..1]);
    let plain = world.submit(world.job()).await;
    let other = world.submit_all(keyed(world, 2, "other")).await;
    assert_eq!(node.claim_ids(5).await, [plain, other[0]]);
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(5).await, [busy[1], other[1]]);
}

pub async fn q_06_jobs_without_a_key_have_no_rate(world: &World) {
    limit(world, each_minute(1)).await;
    let ids = world.submit_all(world.jobs(5)).await;
    assert_eq!(world.node().await.claim_ids(9).await, ids);
}

pub async fn q_06_the_rate_of_a_key_belongs_to_its_queue(world: &World) {
    limit(world, each_minute(1)).await;
    let there = keyed(world, 3, "k").into_iter().map(|job| job.queue("other")).collect();
    let there = world.submit_all(there).await;
    let here = world.submit_all(keyed(world, 3, "k")).await;
    let node = world.node().await.serving(&["default", "other"]);
    let claimed = node.claim_ids(9).await;
    assert_eq!(claimed[..1], here[..1]);
    assert_eq!(claimed[1..], there);
}

pub async fn q_06_retries_count_against_the_rate_of_their_key(world: &World) {
    limit(world, each_minute(2)).await;
    let node = world.node().await;
    let run = world.run_on(&node, keyed(world, 1, "k").remove(0)).await;
    world.apply(run.retry(secs(0))).await;
    let again = node.claim_one().await;
    world.apply(again.retry(secs(0))).await;
    assert!(node.claim(1).await.is_empty(), "a third start within the minute");
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(1).await, [run.id()]);
}

pub async fn q_06_a_claim_says_when_the_rate_of_a_key_lets_a_job_start(world: &World) {
    limit(world, each_minute(2)).await;
    let node = world.node().await;
    world.submit_all(keyed(world, 2, "k")).await;
    assert_eq!(node.claim(9).await.len(), 2);
    let idle = node.ask(node.request(9)).await;
    assert_eq!(idle.next_due, None, "no job waits, so no claim is needed");
    world.submit_all(keyed(world, 1, "k")).await;
    for _ in 0..2 {
        let reply = node.ask(node.request(9)).await;
        let wait = reply.next_due.expect("a job waits");
        assert!(reply.jobs.is_empty());
        assert!(wait > secs(50) && wait <= secs(60) + Duration::from_millis(1), "{wait:?}");
        world.pass(secs(1)).await;
    }
    let other = world.node().await;
    assert!(other.ask(other.request(9)).await.next_due.is_some(), "every claimer gets the time");
    world.pass(secs(60)).await;
    assert_eq!(other.claim(9).await.len(), 1);
    assert_eq!(node.ask(node.request(9)).await.next_due, None);
}

pub async fn q_06_the_starts_of_a_key_count_when_their_node_has_left(world: &World) {
    limit(world, each_minute(1)).await;
    let ids = world.submit_all(keyed(world, 2, "k")).await;
    let node = world.mortal(secs(10)).await;
    assert_eq!(node.claim_ids(9).await, ids[..1]);
    world.pass(secs(11)).await;
    for orphan in world.orphans().await {
        world.apply(orphan.claimed.rescue(1)).await;
    }
    let next = world.node().await;
    assert!(next.claim(9).await.is_empty(), "the start counts");
    world.pass(secs(50)).await;
    assert_eq!(next.claim_ids(9).await, ids[1..], "the other one was due earlier");
}

pub async fn q_06_both_limits_of_a_key_hold(world: &World) {
    limit(world, each_minute(3)).await;
    let jobs = world.jobs(6).into_iter().map(|job| job.at_most(2, "k")).collect();
    let ids = world.submit_all(jobs).await;
    let node = world.node().await;
    let runs = node.claim(9).await;
    assert_eq!(runs.iter().map(Claimed::id).collect::<Vec<_>>(), ids[..2], "two at once");
    world.apply(runs[0].succeed()).await;
    assert_eq!(node.claim_ids(9).await, ids[2..3]);
    world.apply(runs[1].succeed()).await;
    assert!(node.claim(9).await.is_empty(), "three have started");
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[3..4], "one still runs");
}

pub async fn q_06_the_rates_of_queue_and_key_hold_together(world: &World) {
    let mut limits = each_minute(1);
    limits.rate = Some(Rate { jobs: 3, per: secs(60) });
    limit(world, limits).await;
    let mut ids = Vec::new();
    for key in ["a", "b", "c", "d"] {
        ids.extend(world.submit_all(keyed(world, 2, key)).await);
    }
    let node = world.node().await;
    assert_eq!(node.claim_ids(9).await, [ids[0], ids[2], ids[4]]);
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, [ids[1], ids[3], ids[5]]);
    assert!(node.claim(9).await.is_empty());
}

pub async fn q_06_tenants_take_turns_beside_a_rate_per_key(world: &World) {
    let mut limits = each_minute(2);
    limits.fair = true;
    limit(world, limits).await;
    let of = |tenant: &'static str| {
        keyed(world, 4, tenant).into_iter().map(move |job| job.tenant(tenant)).collect()
    };
    let (acme, zeta) = (world.submit_all(of("acme")).await, world.submit_all(of("zeta")).await);
    let node = world.node().await;
    let mut claimed = node.claim_ids(9).await;
    claimed.sort_unstable();
    assert_eq!(claimed, [acme[0], acme[1], zeta[0], zeta[1]]);
    assert!(node.claim(9).await.is_empty());
    world.pass(secs(61)).await;
    assert_eq!(node.claim(9).await.len(), 4);
}

pub async fn q_06_priority_decides_which_job_of_a_key_starts(world: &World) {
    use ratchet_store::model::Priority;
    limit(world, each_minute(1)).await;
    let ids = world.submit_all(keyed(world, 3, "k")).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(9).await, ids[..1]);
    assert!(node.claim(9).await.is_empty(), "the others wait");
    let urgent = keyed(world, 1, "k").remove(0).priority(Priority::Critical);
    let urgent = world.submit(urgent).await;
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, [urgent]);
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[1..2]);
}

pub async fn q_06_canceled_jobs_of_a_key_hold_up_none_behind_them(world: &World) {
    limit(world, each_minute(1)).await;
    let ids = world.submit_all(keyed(world, 30, "k")).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(9).await, ids[..1]);
    for id in &ids[1..25] {
        world.cancel(*id).await;
    }
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[25..26]);
    // A claim has seen the next ones, and they are canceled before they start.
    for id in &ids[26..29] {
        world.cancel(*id).await;
    }
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[29..]);
}

pub async fn q_06_a_paused_job_leaves_the_line_of_its_key(world: &World) {
    limit(world, each_minute(1)).await;
    let ids = world.submit_all(keyed(world, 4, "k")).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(9).await, ids[..1]);
    world.pause(ids[1]).await;
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[2..3]);
    world.resume(ids[1]).await;
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[1..2]);
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[3..]);
}

pub async fn q_06_a_rate_per_key_that_is_no_longer_declared_frees_all_jobs(world: &World) {
    let shop = newest(world, "shop", 1).await;
    assert!(declare(world, &shop, each_minute(1)).await);
    assert!(!declare(world, &shop, each_minute(1)).await, "nothing changes");
    let ids = world.submit_all(keyed(world, 50, "k")).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(99).await, ids[..1]);
    let next = newest(world, "shop", 2).await;
    assert!(declare(world, &next, QueueLimits::default()).await);
    let mut rest = node.claim_ids(20).await;
    rest.extend(node.claim_ids(99).await);
    assert_eq!(rest, ids[1..]);
    assert!(declare(world, &next, each_minute(1)).await);
    let again = world.submit_all(keyed(world, 2, "k")).await;
    assert_eq!(node.claim_ids(9).await, again[..1], "no earlier claim counts");
}

pub async fn q_06_what_an_operator_sets_replaces_the_declared_rate_per_key(world: &World) {
    let shop = newest(world, "shop", 1).await;
    assert!(declare(world, &shop, each_minute(1)).await);
    let ids = world.submit_all(keyed(world, 20, "k")).await;
    let node = world.node().await;
    assert_eq!(node.claim_ids(9).await, ids[..1]);
    limit(world, each_minute(4)).await;
    assert_eq!(node.claim_ids(9).await, ids[1..4], "one has started already");
    let rules = record(world).await.rules;
    assert_eq!((rules.limits, rules.set_by_operator), (each_minute(4), Some(each_minute(4))));
    assert_eq!(rules.declared[0].limits, each_minute(1));
    assert!(order(world, QueueUpdate::Reset).await);
    assert!(node.claim(9).await.is_empty());
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(9).await, ids[4..5]);
}

pub async fn q_06_keys_that_have_used_up_their_rate_are_counted(world: &World) {
    limit(world, each_minute(1)).await;
    world.submit_all(keyed(world, 2, "a")).await;
    world.submit_all(keyed(world, 1, "b")).await;
    let node = world.node().await;
    assert_eq!(node.claim(9).await.len(), 2);
    let listed = record(world).await;
    assert_eq!((listed.full_keys, listed.gate), (2, Gate::Open { most: u32::MAX }));
    world.pass(secs(61)).await;
    assert_eq!(record(world).await.full_keys, 0);
    assert_eq!(node.claim(9).await.len(), 1);
    assert!(node.try_lead(secs(600)).await, "what counts no more is removed");
    assert_eq!(record(world).await.full_keys, 1);
    assert!(node.claim(9).await.is_empty());
}

pub async fn q_06_every_job_of_many_keys_starts_in_time(world: &World) {
    limit(world, each_minute(2)).await;
    let mut waiting: HashMap<String, Vec<JobId>> = HashMap::new();
    for key in 0..12 {
        let key = format!("key-{key}");
        waiting.insert(key.clone(), world.submit_all(keyed(world, 7, &key)).await);
    }
    let (one, two) = (world.node().await, world.node().await);
    for minute in 0..4 {
        for node in [&one, &two, &one, &two] {
            for run in node.claim(7).await {
                let key = &run.spec.concurrency.as_ref().expect("has a key").key;
                let line = waiting.get_mut(key).expect("is one of them");
                assert_eq!(run.id(), line.remove(0), "in order");
                world.apply(run.succeed()).await;
            }
        }
        let left: usize = waiting.values().map(Vec::len).sum();
        assert_eq!(left, 12 * 7_usize.saturating_sub(2 * (minute + 1)), "minute {minute}");
        world.pass(secs(61)).await;
    }
}
