//! Chains, batches and workflows that are inserted with the settlement of a run.

use ratchet_store::model::{
    EdgeTrigger, GraphKey, GroupKind, GroupState, Inserted, JobState, NewGraph, Settled,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, Sketch};

/// Creates a chain of two steps. If `key` is given, the second step has that business key.
fn chain(world: &World, key: Option<&str>) -> NewGraph {
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    let second = match key {
        Some(key) => world.job().key(key),
        None => world.job(),
    };
    let second = sketch.add(Some(chain), second);
    sketch.edge(first, second, EdgeTrigger::Success);
    sketch.finish()
}

pub async fn s_08_graph_comes_with_the_success(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let graph = chain(world, None);
    let (id, steps) = (graph.groups[0].id, [graph.jobs[0].id, graph.jobs[1].id]);
    let applied = world.apply(run.succeed().bringing(vec![graph])).await;
    assert_eq!(applied.spawned, steps);
    assert!(applied.dropped_graphs.is_empty());
    assert_eq!(world.tally(id).await, [0, 0, 0, 0, 2]);
    assert_eq!(world.group(id).await.queued_at, world.get(steps[0]).await.queued_at);
    assert_eq!(node.claim_ids(5).await, [steps[0]], "the second waits for it");
}

pub async fn s_08_stale_run_brings_no_graph(world: &World) {
    let run = world.run(world.job()).await;
    world.cancel(run.id()).await;
    let graph = chain(world, None);
    let (id, first) = (graph.groups[0].id, graph.jobs[0].id);
    assert_eq!(
        world.stale(run.succeed().bringing(vec![graph])).await,
        Some(JobState::Canceled),
        "its job has moved on"
    );
    assert_eq!(world.store.group(id).await.expect("reads"), None);
    assert_eq!(world.find(first).await, None);
}

pub async fn s_08_refused_graph_is_dropped_whole_with_a_warning(world: &World) {
    let run = world.run(world.job()).await;
    world.submit(world.job().key("taken")).await;
    let mut refused = chain(world, Some("taken"));
    refused.key = Some(GraphKey::new(None, "once"));
    let (good, child) = (chain(world, None), world.job());
    let spawned = [child.id, good.jobs[0].id, good.jobs[1].id];
    let graphs = vec![refused.clone(), good.clone()];
    let applied = world.apply(run.succeed().spawning(vec![child]).bringing(graphs)).await;
    assert_eq!(world.get(spawned[1]).await.due, world.get(spawned[0]).await.due, "one instant");
    assert_eq!((applied.state, applied.spawned.as_slice()), (JobState::Succeeded, &spawned[..]));
    let [dropped] = applied.dropped_graphs.as_slice() else { panic!("one is dropped") };
    assert_eq!((dropped.id, dropped.kind), (refused.groups[0].id, GroupKind::Chain));
    assert!(dropped.why.contains("taken"), "{dropped}");
    let warnings = world.get(run.id()).await.warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("taken"), "{warnings:?}");
    assert_eq!(world.store.group(refused.groups[0].id).await.expect("reads"), None);
    assert_eq!(world.find(refused.jobs[0].id).await, None);
    assert_eq!(world.tally(good.groups[0].id).await, [0, 0, 0, 0, 2]);
    // The idempotency key of the rejected graph must still be free.
    let mut again = chain(world, None);
    again.key = refused.key;
    assert_eq!(world.store.insert_graph(again).await.expect("inserted").original, None);
}

pub async fn s_08_repeated_graph_is_neither_there_nor_dropped(world: &World) {
    let node = world.node().await;
    let keyed = || {
        let mut graph = chain(world, None);
        graph.key = Some(GraphKey::new(None, "once"));
        graph
    };
    let run = world.run_on(&node, world.job()).await;
    world.store.insert_graph(keyed()).await.expect("inserted");
    let again = keyed();
    let id = again.groups[0].id;
    let applied = world.apply(run.succeed().bringing(vec![again])).await;
    assert_eq!((applied.spawned.len(), applied.dropped_graphs.len()), (0, 0));
    assert_eq!(world.store.group(id).await.expect("reads"), None);
    assert_eq!(world.get(run.id()).await.warnings.len(), 0);
}

pub async fn s_08_key_freed_by_a_run_is_there_for_its_graph(world: &World) {
    let run = world.run(world.job().key("one")).await;
    let graph = chain(world, Some("one"));
    let second = graph.jobs[1].id;
    let applied = world.apply(run.succeed().bringing(vec![graph])).await;
    assert_eq!(applied.dropped_graphs, []);
    assert_eq!(world.state(second).await, JobState::Pending);
}

pub async fn s_08_empty_batch_of_a_run_ends_with_it(world: &World) {
    let run = world.run(world.job()).await;
    let mut sketch = Sketch::new();
    let batch = sketch.group(world, GroupKind::Batch);
    let callback = sketch.add(None, world.job());
    sketch.step(callback, |step| step.reports = Some(batch));
    sketch.edge(batch, callback, EdgeTrigger::Always);
    let applied = world.apply(run.succeed().bringing(vec![sketch.finish()])).await;
    assert_eq!(world.group_state(batch).await, GroupState::Succeeded);
    assert_eq!(applied.effects.released, [callback], "and that is reported");
    assert_eq!(applied.effects.groups[0].state, GroupState::Succeeded);
}

pub async fn s_08_step_of_a_graph_may_bring_another(world: &World) {
    let node = world.node().await;
    let (outer, steps) = world.chain(2).await;
    let first = node.claim_one().await;
    let graph = chain(world, None);
    let inner = graph.groups[0].id;
    let second = graph.jobs[1].id;
    let mut settlements = vec![first.succeed().bringing(vec![graph])];
    let other = world.run_on(&node, world.job()).await;
    settlements.push(other.succeed());
    let settled = world.settle_all(settlements).await;
    let Settled::Applied(applied) = &settled[0] else { panic!("applied") };
    assert_eq!(applied.effects.released, [steps[1]]);
    assert_eq!(world.tally(outer).await, [1, 0, 0, 0, 2]);
    for _ in 0..3 {
        world.apply(node.claim_one().await.succeed()).await;
    }
    assert_eq!(world.group_state(outer).await, GroupState::Succeeded);
    assert_eq!(world.group_state(inner).await, GroupState::Succeeded);
    assert_eq!(world.state(second).await, JobState::Succeeded);
    let again = world.try_submit(world.job()).await.expect("goes on");
    assert!(matches!(again, Inserted::Created(_)));
}
