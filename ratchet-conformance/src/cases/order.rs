//! Jobs that run in order: the jobs of a key start in the order of their submits, one at a time.

use ratchet_store::model::{AfterFailure, JobId, JobState, NewJob, Priority};

use ratchet_store::rules::{Explanation, Waiting};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, days, secs};

fn ordered(world: &World) -> NewJob {
    world.job().in_order("account", AfterFailure::Hold)
}

fn skipping(world: &World) -> NewJob {
    world.job().in_order("account", AfterFailure::Skip)
}

/// Submits jobs that run in order.
async fn submit(world: &World, count: usize) -> Vec<JobId> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(world.submit(ordered(world)).await);
    }
    ids
}

pub async fn q_07_jobs_of_a_key_run_in_the_order_of_their_submits(world: &World) {
    let node = world.node().await;
    let batch: Vec<_> = (0..3).map(|_| ordered(world)).collect();
    let mut ids = world.submit_all(batch).await;
    ids.extend(submit(world, 3).await);
    for id in ids {
        let run = node.claim(10).await;
        assert_eq!(run.iter().map(ratchet_store::model::Claimed::id).collect::<Vec<_>>(), [id]);
        assert!(node.claim(10).await.is_empty(), "one at a time");
        world.apply(run[0].succeed()).await;
    }
}

pub async fn q_07_neither_priority_nor_delay_changes_the_order(world: &World) {
    let node = world.node().await;
    let first = world.submit(ordered(world).due_in(secs(60)).priority(Priority::Low)).await;
    let second = world.submit(ordered(world).priority(Priority::Critical)).await;
    assert!(node.claim(10).await.is_empty(), "the first job is not due");
    world.pass(secs(61)).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), first);
    world.apply(run.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [second]);
}

pub async fn q_07_delay_counts_from_the_submit(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let next = world.submit(ordered(world).due_in(secs(60))).await;
    world.apply(run.succeed()).await;
    assert!(node.claim(10).await.is_empty(), "it is not due");
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(10).await, [next]);
}

pub async fn q_07_retried_job_keeps_its_turn(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let next = world.submit(ordered(world)).await;
    world.apply(run.retry(secs(60))).await;
    assert!(node.claim(10).await.is_empty(), "the next job waits for the retry");
    world.pass(secs(61)).await;
    let again = node.claim_one().await;
    assert_eq!(again.id(), run.id());
    world.apply(again.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [next]);
}

pub async fn q_07_rescued_and_released_jobs_keep_their_turn(world: &World) {
    let node = world.node().await;
    let mut run = world.run_on(&node, ordered(world)).await;
    submit(world, 1).await;
    for end in [RunExt::release, |run: &_| RunExt::rescue(run, 1)] {
        world.apply(end(&run)).await;
        let again = node.claim_one().await;
        assert_eq!(again.id(), run.id());
        run = again;
    }
}

pub async fn q_07_failure_holds_the_rest_until_it_has_been_retried(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let rest = submit(world, 2).await;
    world.apply(run.fail()).await;
    let late = world.submit(ordered(world)).await;
    assert!(node.claim(10).await.is_empty(), "the failure holds the rest");
    world.retry(run.id()).await;
    for id in [run.id(), rest[0], rest[1], late] {
        let run = node.claim_one().await;
        assert_eq!(run.id(), id);
        world.apply(run.succeed()).await;
    }
}

pub async fn q_07_failed_job_that_is_retried_and_canceled_holds_no_longer(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let rest = submit(world, 1).await;
    world.apply(run.fail()).await;
    world.pause(run.id()).await;
    assert!(node.claim(10).await.is_empty(), "a paused failure holds the rest");
    world.resume(run.id()).await;
    world.retry(run.id()).await;
    world.cancel(run.id()).await;
    assert_eq!(node.claim_ids(10).await, rest);
}

pub async fn q_07_failure_can_be_skipped(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, skipping(world)).await;
    let second = world.submit(skipping(world)).await;
    world.apply(run.fail()).await;
    let third = world.submit(skipping(world)).await;
    let next = node.claim_one().await;
    assert_eq!(next.id(), second);
    world.retry(run.id()).await;
    assert!(node.claim(10).await.is_empty(), "one at a time, even after a manual retry");
    world.apply(next.fail()).await;
    let mut rest = Vec::new();
    for _ in 0..2 {
        let next = node.claim_one().await;
        world.apply(next.succeed()).await;
        rest.push(next.id());
    }
    rest.sort_unstable();
    assert_eq!(rest, [run.id(), third]);
}

pub async fn q_07_canceled_job_passes_the_turn_when_it_comes(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let rest = submit(world, 3).await;
    world.cancel(rest[0]).await;
    world.cancel(rest[2]).await;
    let late = world.submit(ordered(world)).await;
    world.apply(run.retry(secs(60))).await;
    assert!(node.claim(10).await.is_empty(), "the turn has not come");
    world.pass(secs(61)).await;
    let run = node.claim_one().await;
    world.apply(run.succeed()).await;
    let next = node.claim_one().await;
    assert_eq!(next.id(), rest[1]);
    assert!(node.claim(10).await.is_empty());
    world.apply(next.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [late]);
}

pub async fn q_07_canceled_run_passes_the_turn_when_its_handler_has_ended(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let rest = submit(world, 1).await;
    world.cancel(run.id()).await;
    assert!(node.claim(10).await.is_empty(), "its handler may still be running");
    world.release_holds(run.token).await;
    assert_eq!(node.claim_ids(10).await, rest);
}

pub async fn q_07_paused_job_holds_the_rest(world: &World) {
    let node = world.node().await;
    let ids = submit(world, 3).await;
    world.pause(ids[0]).await;
    world.pause(ids[1]).await;
    assert!(node.claim(10).await.is_empty());
    world.resume(ids[0]).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), ids[0]);
    world.apply(run.succeed()).await;
    assert!(node.claim(10).await.is_empty(), "its turn has come, but it is paused");
    world.resume(ids[1]).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), ids[1]);
    world.apply(run.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [ids[2]]);
}

pub async fn q_07_other_keys_and_other_jobs_do_not_wait(world: &World) {
    let node = world.node().await;
    world.run_on(&node, ordered(world)).await;
    submit(world, 1).await;
    let other = world.submit(world.job().in_order("other", AfterFailure::Hold)).await;
    let plain = world.submit(world.job()).await;
    assert_eq!(node.claim_ids(10).await, [other, plain]);
}

pub async fn q_07_ended_jobs_hold_up_no_later_submit(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    world.apply(run.succeed()).await;
    let run = world.run_on(&node, ordered(world)).await;
    world.apply(run.succeed()).await;
    world.pass(days(2)).await;
    assert_eq!(world.purge(JobState::Succeeded, days(1)).await, 2);
    world.run_on(&node, ordered(world)).await;
}

pub async fn q_07_purge_keeps_what_the_order_needs(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let failed = world.submit(ordered(world)).await;
    let canceled = world.submit(ordered(world)).await;
    let last = world.submit(ordered(world)).await;
    world.cancel(canceled).await;
    world.apply(run.succeed()).await;
    world.apply(node.claim_one().await.fail()).await;
    world.pass(days(2)).await;
    assert_eq!(world.purge(JobState::Failed, days(1)).await, 0, "it holds the rest");
    assert_eq!(world.purge(JobState::Canceled, days(1)).await, 0, "its turn has not come");
    world.retry(failed).await;
    world.apply(node.claim_one().await.succeed()).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), last);
    assert_eq!(world.purge(JobState::Canceled, days(1)).await, 1);
}

pub async fn q_07_children_of_a_run_join_the_order(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let waiting = submit(world, 1).await;
    let child = ordered(world);
    let id = child.id;
    let applied = world.apply(run.succeed().spawning(vec![child])).await;
    assert_eq!(applied.spawned, [id]);
    let next = node.claim_one().await;
    assert_eq!(next.id(), waiting[0]);
    world.apply(next.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [id]);
}

pub async fn q_07_waiting_job_is_explained(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, ordered(world)).await;
    let waiting = submit(world, 1).await;
    let before = world.get(waiting[0]).await;
    assert!(!before.is_claimable());
    let context = world.store.claim_context(waiting[0]).await.expect("the store answers");
    let explained = context.expect("the job exists").explain(2);
    let turn = Waiting::NotItsTurn { key: "account".to_owned(), follows: run.id() };
    let Explanation::Waits(reasons) = explained else { panic!("it waits: {explained:?}") };
    assert!(reasons.contains(&turn), "{reasons:?}");
    node.claim(10).await;
    assert_eq!(world.get(waiting[0]).await, before, "waiting uses no attempt");
}
