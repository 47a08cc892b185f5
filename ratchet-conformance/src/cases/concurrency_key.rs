//! Concurrency keys: the number of concurrent runs per key is limited.

use ratchet_store::model::NewJob;

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, secs};

fn single(world: &World) -> NewJob {
    world.job().at_most(1, "gateway")
}

pub async fn q_02_limit_holds_within_a_claim(world: &World) {
    let jobs = world.jobs(5).into_iter().map(|job| job.at_most(2, "gateway")).collect();
    let ids = world.submit_all(jobs).await;
    assert_eq!(world.node().await.claim_ids(10).await, ids[..2]);
}

pub async fn q_02_limit_holds_across_nodes(world: &World) {
    world.submit_all(vec![single(world), single(world)]).await;
    assert_eq!(world.node().await.claim(10).await.len(), 1);
    assert!(world.node().await.claim(10).await.is_empty());
}

pub async fn q_02_limit_holds_across_names_queues_and_tenants(world: &World) {
    world.run(single(world)).await;
    world.submit(single(world).named("bill").tenant("acme")).await;
    world.submit(single(world).queue("other")).await;
    assert!(world.node().await.serving(&["default", "other"]).claim(10).await.is_empty());
}

pub async fn q_02_every_key_has_its_own_limit(world: &World) {
    world.run(single(world)).await;
    let other = world.submit(world.job().at_most(1, "printer")).await;
    assert_eq!(world.node().await.claim_ids(10).await, [other]);
}

pub async fn q_02_every_end_of_a_run_frees_its_slot(world: &World) {
    let node = world.node().await;
    let mut run = world.run_on(&node, single(world)).await;
    let ends =
        [RunExt::release, |run: &_| RunExt::retry(run, secs(0)), |run: &_| RunExt::rescue(run, 1)];
    for end in ends {
        world.apply(end(&run)).await;
        run = node.claim_one().await;
    }
    world.apply(run.fail()).await;
    let next = world.run_on(&node, single(world)).await;
    world.apply(next.succeed()).await;
    world.run_on(&node, single(world)).await;
}

pub async fn q_03_waiting_job_does_not_block_others(world: &World) {
    world.run(single(world)).await;
    world
        .submit_all(world.jobs(100).into_iter().map(|job| job.at_most(1, "gateway")).collect())
        .await;
    world.pass(secs(1)).await;
    let free = world.submit(world.job()).await;
    assert_eq!(world.node().await.claim_ids(1).await, [free]);
}

pub async fn q_03_waiting_uses_no_attempt(world: &World) {
    let node = world.node().await;
    world.run_on(&node, single(world)).await;
    let waiting = world.submit(single(world)).await;
    let before = world.get(waiting).await;
    node.claim(10).await;
    assert_eq!(world.get(waiting).await, before);
}

pub async fn q_02_first_in_order_gets_the_free_slot(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, single(world)).await;
    let first = world.submit(single(world)).await;
    world.pass(secs(1)).await;
    world.submit(single(world)).await;
    world.apply(run.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [first]);
}

pub async fn q_02_canceled_run_keeps_its_slot(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, single(world)).await;
    let waiting = world.submit(single(world)).await;
    world.cancel(run.id()).await;
    assert!(node.claim(10).await.is_empty());
    world.stale(run.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [waiting]);
}

pub async fn q_02_lingering_run_keeps_its_slot(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, single(world)).await;
    world.apply(run.retry(secs(0)).lingering()).await;
    assert!(node.claim(10).await.is_empty());
    world.release_holds(run.token).await;
    assert_eq!(node.claim_ids(10).await, [run.id()]);
}

pub async fn q_02_lingering_run_keeps_its_business_key(world: &World) {
    let run = world.run(world.job().key("order")).await;
    world.apply(run.fail().lingering()).await;
    world.try_submit(world.job().key("order")).await.expect_err("the handler is still running");
    world.release_holds(run.token).await;
    world.submit(world.job().key("order")).await;
}

pub async fn q_02_lingering_run_outlives_the_next_run(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, world.job().key("order")).await;
    world.apply(first.retry(secs(0)).lingering()).await;
    let second = node.claim_one().await;
    world.apply(second.succeed()).await;
    world.try_submit(world.job().key("order")).await.expect_err("the first is still running");
    world.release_holds(first.token).await;
    world.submit(world.job().key("order")).await;
}

pub async fn q_02_end_of_the_node_frees_what_lingers(world: &World) {
    let node = world.mortal(secs(15)).await;
    let run = world.run_on(&node, single(world)).await;
    world.apply(run.fail().lingering()).await;
    let waiting = world.submit(single(world)).await;
    world.pass(secs(15)).await;
    world.orphans().await;
    assert_eq!(world.node().await.claim_ids(10).await, [waiting]);
}

pub async fn q_02_lingering_run_is_not_told_as_canceled(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.fail().lingering()).await;
    let renewed = ratchet_store::model::Heartbeat::Renewed { canceled: Vec::new(), request: None };
    assert_eq!(node.heartbeat(secs(60)).await, renewed);
}

pub async fn q_02_rescue_frees_the_slot(world: &World) {
    let node = world.mortal(secs(15)).await;
    let run = world.run_on(&node, single(world)).await;
    world.pass(secs(15)).await;
    world.apply(run.rescue(1)).await;
    assert_eq!(world.node().await.claim_ids(10).await, [run.id()]);
}
