//! The rules that programs declare in their code, beside those that operators set.

use ratchet_store::model::{
    BreakerChange, BreakerRecord, BreakerSample, BreakerSettings, BreakerState, BreakerUpdate,
    CallResult, Claimed, Gate, QueueLimits, QueueRecord, QueueUpdate, Settlement,
};

use super::nodes::version_of;
use crate::World;
use crate::fixture::{JobExt, Node, RunExt, secs};

fn at_once(limit: u32) -> QueueLimits {
    let mut limits = QueueLimits::default();
    limits.concurrency = Some(limit);
    limits
}

/// Joins a node of a program in a version, which becomes the newest.
pub(super) async fn newest(world: &World, program: &str, fingerprint: u64) -> Node {
    let node = version_of(world, program, fingerprint).await;
    assert!(node.try_declare().await, "no other node has this version");
    node
}

async fn order(world: &World, order: QueueUpdate) -> bool {
    world.store.update_queue("default", order).await.expect("is applied")
}

async fn declare(world: &World, node: &Node, limits: QueueLimits) -> bool {
    let declarations = node.declarations.clone();
    order(world, QueueUpdate::Declare { declarations, limits }).await
}

async fn queue(world: &World) -> Option<QueueRecord> {
    world.store.queues().await.expect("queues are listed").pop()
}

pub async fn q_06_declared_limits_apply_until_the_program_declares_others(world: &World) {
    let shop = newest(world, "shop", 1).await;
    assert!(declare(world, &shop, at_once(2)).await);
    assert!(!declare(world, &shop, at_once(2)).await, "nothing changes");
    world.submit_all(world.jobs(5)).await;
    let claimer = world.node().await;
    assert_eq!(claimer.claim(9).await.len(), 2);
    let next = newest(world, "shop", 2).await;
    assert!(declare(world, &next, at_once(3)).await);
    assert_eq!(claimer.claim(9).await.len(), 1);
    let last = newest(world, "shop", 3).await;
    assert!(declare(world, &last, QueueLimits::default()).await);
    assert_eq!(queue(world).await, None, "nothing is declared");
    assert_eq!(claimer.claim(9).await.len(), 2);
}

pub async fn q_06_an_older_version_changes_no_limits(world: &World) {
    let old = newest(world, "shop", 1).await;
    assert!(declare(world, &old, at_once(2)).await);
    let new = newest(world, "shop", 2).await;
    assert!(declare(world, &new, QueueLimits::default()).await);
    let restarted = version_of(world, "shop", 1).await;
    assert!(!restarted.try_declare().await);
    for stale in [&old, &restarted] {
        assert!(!declare(world, stale, at_once(2)).await);
    }
    let unknown = world.stranger();
    assert!(!declare(world, &unknown, at_once(2)).await, "it has never declared");
    assert_eq!(queue(world).await, None);
}

pub async fn q_06_limits_of_another_program_remain(world: &World) {
    let (shop, mail) = (newest(world, "shop", 1).await, newest(world, "mail", 1).await);
    assert!(declare(world, &shop, at_once(4)).await && declare(world, &mail, at_once(3)).await);
    let rules = queue(world).await.expect("is limited").rules;
    let programs: Vec<_> =
        rules.declared.iter().map(|it| (it.program.as_str(), it.limits)).collect();
    assert_eq!(programs, [("mail", at_once(3)), ("shop", at_once(4))]);
    assert_eq!(rules.limits, at_once(3), "the lower limit applies");
    let next = newest(world, "mail", 2).await;
    assert!(declare(world, &next, QueueLimits::default()).await);
    assert_eq!(queue(world).await.expect("is limited").rules.limits, at_once(4));
}

pub async fn q_06_what_an_operator_sets_stays_until_it_is_reset(world: &World) {
    let shop = newest(world, "shop", 1).await;
    assert!(declare(world, &shop, at_once(1)).await);
    assert!(order(world, QueueUpdate::Limit(at_once(3))).await);
    assert!(order(world, QueueUpdate::Pause).await);
    let next = newest(world, "shop", 2).await;
    assert!(declare(world, &next, at_once(2)).await);
    assert!(order(world, QueueUpdate::Resume).await, "a declaration does not resume a queue");
    let rules = queue(world).await.expect("is limited").rules;
    assert_eq!((rules.limits, rules.set_by_operator), (at_once(3), Some(at_once(3))));
    assert_eq!(rules.declared[0].limits, at_once(2));
    world.submit_all(world.jobs(5)).await;
    let claimer = world.node().await;
    assert_eq!(claimer.claim(9).await.len(), 3);
    assert!(order(world, QueueUpdate::Reset).await && !order(world, QueueUpdate::Reset).await);
    let record = queue(world).await.expect("is limited");
    assert_eq!((record.rules.limits, record.rules.set_by_operator), (at_once(2), None));
    assert_eq!(record.gate, Gate::Full { limit: 2 });
}

/// Returns settings with which a breaker opens after this many failed calls.
fn after_failures(calls: u32) -> BreakerSettings {
    let mut settings = BreakerSettings::default();
    settings.min_calls = calls;
    settings
}

async fn breaker(world: &World) -> BreakerRecord {
    world.store.breakers().await.expect("breakers are listed").pop().expect("there is one")
}

async fn order_breaker(world: &World, order: BreakerUpdate) -> Option<BreakerChange> {
    world.store.update_breaker("pay", order).await.expect("is applied")
}

async fn declare_breaker(
    world: &World,
    node: &Node,
    settings: Option<BreakerSettings>,
) -> Option<BreakerChange> {
    let declarations = node.declarations.clone();
    order_breaker(world, BreakerUpdate::Declare { declarations, settings }).await
}

/// Settles a run as a failed call, by a worker whose code has these settings.
fn failed(run: &Claimed, settings: BreakerSettings) -> Settlement {
    let mut settlement = run.retry(secs(3600));
    let (service, result) = ("pay".to_owned(), CallResult::Failure);
    settlement.sample = Some(BreakerSample { service, result, probe: run.probe, settings });
    settlement
}

/// Fails runs of a worker of an older version, in whose code one failed call opens the breaker. Returns how many it
/// took to open the breaker.
async fn failures_until_open(world: &World) -> u32 {
    let node = world.node().await;
    for failures in 1..10 {
        let run = world.run_on(&node, world.job().service("pay")).await;
        if world.apply(failed(&run, after_failures(1))).await.breaker.is_some() {
            return failures;
        }
    }
    panic!("the breaker has not opened: {:?}", breaker(world).await);
}

pub async fn q_06_declared_settings_of_a_breaker_apply_to_all_nodes(world: &World) {
    let shop = newest(world, "shop", 1).await;
    declare_breaker(world, &shop, Some(after_failures(3))).await;
    assert_eq!(failures_until_open(world).await, 3);
    order_breaker(world, BreakerUpdate::Close).await;
    order_breaker(world, BreakerUpdate::Set(after_failures(2))).await;
    let next = newest(world, "shop", 2).await;
    declare_breaker(world, &next, Some(after_failures(4))).await;
    declare_breaker(world, &shop, Some(after_failures(5))).await;
    let record = breaker(world).await.breaker;
    assert_eq!(
        (record.settings, record.set_by_operator),
        (after_failures(2), Some(after_failures(2)))
    );
    assert_eq!(record.declared[0].settings, after_failures(4), "the older version is refused");
    assert_eq!(failures_until_open(world).await, 2);
    order_breaker(world, BreakerUpdate::Close).await;
    order_breaker(world, BreakerUpdate::Reset).await;
    assert_eq!(breaker(world).await.breaker.settings, after_failures(4));
    assert_eq!(failures_until_open(world).await, 4);
}

pub async fn q_06_a_breaker_that_is_no_longer_declared_closes(world: &World) {
    let shop = newest(world, "shop", 1).await;
    let mail = newest(world, "mail", 1).await;
    declare_breaker(world, &shop, Some(after_failures(3))).await;
    declare_breaker(world, &mail, Some(after_failures(2))).await;
    assert_eq!(failures_until_open(world).await, 2, "the first program by name");
    let waiting = world.submit(world.job().service("pay")).await;
    let claimer = world.node().await;
    assert!(claimer.claim(9).await.is_empty());
    assert_eq!(declare_breaker(world, &mail, None).await, None, "another program declares it");
    let closed = declare_breaker(world, &shop, None).await;
    assert_eq!(closed, Some(BreakerChange::Closed));
    assert_eq!(breaker(world).await.breaker.declared, []);
    assert_eq!(claimer.claim_ids(9).await, [waiting]);
}

pub async fn q_06_a_breaker_that_an_operator_opened_stays_open(world: &World) {
    let shop = newest(world, "shop", 1).await;
    declare_breaker(world, &shop, Some(after_failures(3))).await;
    order_breaker(world, BreakerUpdate::Open(None)).await;
    assert_eq!(declare_breaker(world, &shop, None).await, None);
    assert_eq!(breaker(world).await.state, BreakerState::Open { until: None });
}
