//! Jobs spawned by the settlement of another job.

use ratchet_store::model::{Filter, JobState, Settled};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, hours, secs};

pub async fn s_08_children_come_with_the_success(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let children = vec![world.job().named("bill"), world.job().due_in(hours(1))];
    let ids = [children[0].id, children[1].id];
    let applied = world.apply(run.succeed().spawning(children)).await;
    assert_eq!(applied.spawned, ids);
    assert!(applied.dropped.is_empty());
    assert_eq!(world.state(ids[1]).await, JobState::Pending);
    assert_eq!(node.claim_ids(5).await, [ids[0]]);
}

pub async fn d_06_children_come_with_the_failure(world: &World) {
    let run = world.run(world.job()).await;
    let callback = world.job().named("bill");
    let id = callback.id;
    let applied = world.apply(run.fail().spawning(vec![callback])).await;
    assert_eq!((applied.state, applied.spawned), (JobState::Failed, vec![id]));
    assert_eq!(world.state(id).await, JobState::Pending);
}

pub async fn s_08_taken_key_drops_that_child_only(world: &World) {
    let run = world.run(world.job()).await;
    world.submit(world.job().key("taken")).await;
    let children = vec![world.job(), world.job().named("bill").key("taken"), world.job()];
    let ids: Vec<_> = children.iter().map(|child| child.id).collect();
    let applied = world.apply(run.succeed().spawning(children)).await;
    assert_eq!(applied.state, JobState::Succeeded);
    assert_eq!(applied.spawned, [ids[0], ids[2]]);
    assert_eq!(applied.dropped.len(), 1);
    assert_eq!((applied.dropped[0].id, applied.dropped[0].name.as_str()), (ids[1], "bill"));
    assert_eq!(world.find(ids[1]).await, None);
    assert_eq!(world.state(ids[2]).await, JobState::Pending);
}

pub async fn s_08_dropped_child_is_a_warning_on_its_parent(world: &World) {
    let run = world.run(world.job()).await;
    world.submit(world.job().key("taken")).await;
    world.apply(run.succeed().spawning(vec![world.job().named("bill").key("taken")])).await;
    let warnings = world.get(run.id()).await.warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("bill") && warnings[0].contains("taken"), "{warnings:?}");
}

pub async fn s_08_mismatched_child_is_dropped(world: &World) {
    let run = world.run(world.job()).await;
    world.submit(world.job().idempotent("once").payload(b"1")).await;
    let child = world.job().idempotent("once").payload(b"2");
    let applied = world.apply(run.succeed().spawning(vec![child])).await;
    assert_eq!((applied.spawned.len(), applied.dropped.len()), (0, 1));
    assert_eq!(world.get(run.id()).await.warnings.len(), 1);
}

pub async fn s_08_repeated_child_is_no_conflict(world: &World) {
    let run = world.run(world.job()).await;
    let original = world.submit(world.job().idempotent("once")).await;
    let child = world.job().idempotent("once");
    let applied = world.apply(run.succeed().spawning(vec![child])).await;
    assert_eq!((applied.spawned.len(), applied.dropped.len()), (0, 0));
    assert!(world.get(run.id()).await.warnings.is_empty());
    assert_eq!(world.list(Filter::any()).await, [original, run.id()]);
}

pub async fn s_08_child_may_take_its_parents_key(world: &World) {
    let run = world.run(world.job().key("order")).await;
    let child = world.job().key("order");
    let id = child.id;
    let applied = world.apply(run.succeed().spawning(vec![child])).await;
    assert_eq!(applied.spawned, [id]);
}

pub async fn s_08_child_may_take_a_neighbours_key(world: &World) {
    let node = world.node().await;
    let parent = world.run_on(&node, world.job()).await;
    let holder = world.run_on(&node, world.job().key("order")).await;
    let child = world.job().key("order");
    let id = child.id;
    let batch = vec![parent.succeed().spawning(vec![child]), holder.succeed()];
    let settled = world.settle_all(batch).await;
    match &settled[0] {
        Settled::Applied(applied) => assert_eq!(applied.spawned, [id]),
        other => panic!("{other:?}"),
    }
}

pub async fn s_08_two_children_of_one_key(world: &World) {
    let run = world.run(world.job()).await;
    let children = vec![world.job().key("order"), world.job().key("order")];
    let ids = [children[0].id, children[1].id];
    let applied = world.apply(run.succeed().spawning(children)).await;
    assert_eq!((applied.spawned, applied.dropped[0].id), (vec![ids[0]], ids[1]));
}

pub async fn s_08_lingering_parent_keeps_its_key_from_its_child(world: &World) {
    let run = world.run(world.job().key("order")).await;
    let child = world.job().key("order");
    let applied = world.apply(run.fail().lingering().spawning(vec![child])).await;
    assert_eq!(applied.dropped.len(), 1);
}

pub async fn s_08_child_is_due_by_the_stores_clock(world: &World) {
    let run = world.run(world.job()).await;
    let child = world.job().due_in(secs(60));
    let id = child.id;
    let applied = world.apply(run.succeed().spawning(vec![child])).await;
    assert_eq!(world.get(id).await.due, applied.at + secs(60));
}
