//! The rules that a program declares in its code: several versions of it over one store.

use std::time::Duration;

use ratchet_core::{BreakerDef, BreakerSettings, Job, QueueConfig, QueueLimits, Ratchet, Worker};
use ratchet_store::model::{BreakerRecord, QueueRules};

use crate::engine::fixture::{EngineFixture, start};
use crate::engine::script::Script;

/// Starts a node of the program `shop` that declares these rules for the queue `mail`.
async fn shop(
    fixture: &EngineFixture,
    rules: impl FnOnce(QueueConfig) -> QueueConfig,
) -> (Ratchet, Worker) {
    start(fixture.builder().program("shop").queue("mail", rules)).await
}

fn slowly(queue: QueueConfig) -> QueueConfig {
    queue.rate(1, Duration::from_secs(1))
}

fn unlimited(queue: QueueConfig) -> QueueConfig {
    queue.concurrency(5)
}

async fn rules(ratchet: &Ratchet) -> Option<QueueRules> {
    ratchet.queues().list().await.expect("reads").pop().map(|record| record.rules)
}

pub async fn q_06_a_limit_that_is_no_longer_declared_is_removed(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, slowly).await;
    let declared = rules(&ratchet).await.expect("is limited");
    assert!(declared.limits.rate.is_some() && declared.declared[0].program == "shop");
    let (_, other) = start(fixture.builder().program("cron")).await;
    assert_eq!(rules(&ratchet).await, Some(declared), "another program declares nothing");
    let (_, new) = shop(&fixture, unlimited).await;
    assert_eq!(rules(&ratchet).await, None);
    let (_, restarted) = shop(&fixture, slowly).await;
    assert_eq!(rules(&ratchet).await, None, "an older version restarted");
    for worker in [old, new, restarted] {
        worker.stop().await;
    }
    let (_, back) = shop(&fixture, slowly).await;
    assert!(rules(&ratchet).await.is_some(), "the program was rolled back");
    back.stop().await;
    other.stop().await;
}

pub async fn q_06_limits_of_an_operator_outlive_deployments(fixture: EngineFixture) {
    let (ratchet, old) = shop(&fixture, slowly).await;
    let mut few = QueueLimits::default();
    few.concurrency = Some(2);
    assert!(ratchet.queues().limit("mail", few).await.expect("limits"));
    let (_, new) = shop(&fixture, |queue| queue.cluster_concurrency(9)).await;
    let both = rules(&ratchet).await.expect("is limited");
    assert_eq!((both.limits, both.set_by_operator), (few, Some(few)));
    assert_eq!(both.declared[0].limits.concurrency, Some(9));
    assert!(ratchet.queues().reset("mail").await.expect("resets"));
    let reset = rules(&ratchet).await.expect("is limited");
    assert_eq!((reset.limits.concurrency, reset.set_by_operator), (Some(9), None));
    for worker in [old, new] {
        worker.stop().await;
    }
}

/// Starts a node of the program `shop` whose only job has this breaker.
async fn with_breaker(fixture: &EngineFixture, breaker: Option<BreakerDef>) -> (Ratchet, Worker) {
    let mut job = Script::JOB;
    (job.def.name, job.def.breaker) = ("shop.tax", breaker);
    start(fixture.builder().program("shop").jobs([job])).await
}

async fn tax(ratchet: &Ratchet) -> BreakerRecord {
    ratchet.breakers().get("tax").await.expect("reads").expect("is declared")
}

pub async fn q_06_breakers_are_declared_by_the_newest_version(fixture: EngineFixture) {
    let mut three = BreakerDef::new("tax");
    three.probes = Some(3);
    let mut four = three;
    four.probes = Some(4);
    let (ratchet, old) = with_breaker(&fixture, Some(three)).await;
    assert_eq!(tax(&ratchet).await.breaker.settings.probes, 3);
    let (_, new) = with_breaker(&fixture, Some(four)).await;
    let (_, restarted) = with_breaker(&fixture, Some(three)).await;
    assert_eq!(tax(&ratchet).await.breaker.settings.probes, 4, "an older version restarted");
    let mut set = BreakerSettings::default();
    set.probes = 0;
    let refused = ratchet.breakers().set("tax", set).await.expect_err("no probe would close it");
    assert!(refused.to_string().contains("`probes` must be at least 1"), "{refused}");
    set.probes = 9;
    ratchet.breakers().set("tax", set).await.expect("sets");
    let (_, without) = with_breaker(&fixture, None).await;
    let breaker = tax(&ratchet).await.breaker;
    assert_eq!((breaker.settings, breaker.set_by_operator), (set, Some(set)));
    assert_eq!(breaker.declared, [], "the newest version does not declare it");
    ratchet.breakers().reset("tax").await.expect("resets");
    assert_eq!(tax(&ratchet).await.breaker.set_by_operator, None);
    for worker in [old, new, restarted, without] {
        worker.stop().await;
    }
}
