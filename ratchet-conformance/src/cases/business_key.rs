//! Business keys: at most one live job holds a key.

use ratchet_store::model::{Command, CommandError, InsertError, Inserted, JobId, NewJob};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

fn order(world: &World) -> NewJob {
    world.job().key("order")
}

/// Returns the holder of the key, found by submitting a job with the same key.
async fn holder(world: &World) -> Option<JobId> {
    match world.try_submit(order(world).queue("elsewhere")).await {
        Ok(Inserted::Created(_)) => None,
        Err(InsertError::BusinessKeysTaken(taken)) => Some(taken[0].holder),
        answer => panic!("{answer:?}"),
    }
}

pub async fn s_04_second_submit_is_refused_with_the_holder(world: &World) {
    let first = world.submit(order(world)).await;
    let second = order(world);
    let id = second.id;
    match world.try_submit(second).await {
        Err(InsertError::BusinessKeysTaken(taken)) => {
            assert_eq!(taken.len(), 1);
            assert_eq!((taken[0].job, taken[0].key.as_str()), (id, "order"));
            assert_eq!(taken[0].holder, first);
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(world.find(id).await, None);
}

pub async fn s_04_holder_is_returned_if_asked_for(world: &World) {
    let first = world.submit(order(world)).await;
    let second = order(world).or_holder();
    let id = second.id;
    assert_eq!(world.try_submit(second).await.expect("no error"), Inserted::Holder(first));
    assert_eq!(world.find(id).await, None);
}

pub async fn s_04_key_belongs_to_its_tenant(world: &World) {
    world.submit(order(world)).await;
    world.submit(order(world).tenant("a")).await;
    world.submit(order(world).tenant("b")).await;
    world.try_submit(order(world).tenant("b")).await.expect_err("taken within the tenant");
}

pub async fn s_04_key_is_held_while_running(world: &World) {
    let run = world.run(order(world)).await;
    assert_eq!(holder(world).await, Some(run.id()));
}

pub async fn s_04_key_is_held_while_paused(world: &World) {
    let id = world.submit(order(world)).await;
    world.pause(id).await;
    assert_eq!(holder(world).await, Some(id));
}

pub async fn s_04_key_is_held_between_attempts(world: &World) {
    let run = world.run(order(world)).await;
    world.apply(run.retry(secs(10))).await;
    assert_eq!(holder(world).await, Some(run.id()));
}

pub async fn s_04_key_is_freed_by_success(world: &World) {
    world.succeeded(order(world)).await;
    assert_eq!(holder(world).await, None);
}

pub async fn s_04_key_is_freed_by_failure(world: &World) {
    world.failed(order(world)).await;
    assert_eq!(holder(world).await, None);
}

pub async fn s_04_key_is_freed_by_cancel(world: &World) {
    world.canceled(order(world)).await;
    assert_eq!(holder(world).await, None);
}

pub async fn s_04_orphan_does_not_hold_it_for_ever(world: &World) {
    let node = world.mortal(secs(15)).await;
    let run = world.run_on(&node, order(world)).await;
    world.pass(secs(15)).await;
    let orphan = world.orphans().await.remove(0).claimed;
    assert_eq!(holder(world).await, Some(run.id()));
    world.apply(orphan.fail()).await;
    assert_eq!(holder(world).await, None);
}

pub async fn l_02_paused_failed_job_holds_no_key(world: &World) {
    world.paused_failed(order(world)).await;
    assert_eq!(holder(world).await, None);
}

pub async fn s_04_manual_retry_takes_the_key_again(world: &World) {
    let id = world.failed(order(world)).await;
    world.retry(id).await;
    assert_eq!(holder(world).await, Some(id));
}

pub async fn s_04_manual_retry_is_refused_while_it_is_taken(world: &World) {
    let id = world.failed(order(world)).await;
    let new = world.submit(order(world)).await;
    let before = world.get(id).await;
    match world.command(Command::Retry(id)).await {
        Err(CommandError::BusinessKeyTaken { job, key, holder }) => {
            assert_eq!((job, key.as_str(), holder), (id, "order", new));
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(world.get(id).await, before);
}

pub async fn s_04_end_of_an_old_holder_leaves_the_new_one_alone(world: &World) {
    let old = world.paused_failed(order(world)).await;
    let new = world.submit(order(world)).await;
    world.resume(old).await;
    world.pause(old).await;
    assert_eq!(holder(world).await, Some(new));
}
