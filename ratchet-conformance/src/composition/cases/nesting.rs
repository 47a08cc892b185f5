//! Nested groups.

use ratchet_store::model::{
    CancelCause, Claimed, EdgeTrigger, GroupId, GroupKind, GroupState, JobId, JobState, Vertex,
};

use crate::World;
use crate::fixture::{RunExt, Sketch};

use JobState::{Canceled, Pending};

/// Submits a chain of a job, a batch and a job. Returns the chain, the batch, and the jobs in order.
async fn chain_with_a_batch(
    world: &World,
    children: usize,
) -> (GroupId, GroupId, JobId, Vec<JobId>, JobId) {
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let batch = sketch.group_in(world, GroupKind::Batch, Some(chain));
    let first = sketch.add(Some(chain), world.job());
    let inside: Vec<_> = (0..children).map(|_| sketch.add(Some(batch), world.job())).collect();
    let last = sketch.add(Some(chain), world.job());
    sketch.edge(first, batch, EdgeTrigger::Success);
    sketch.edge(batch, last, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    (chain, batch, first, inside, last)
}

pub async fn w_03_batch_as_a_step_begins_in_its_turn(world: &World) {
    let node = world.node().await;
    let (_, batch, first, inside, _) = chain_with_a_batch(world, 2).await;
    assert_eq!(world.group_state(batch).await, GroupState::Waiting);
    let run = node.claim(5).await;
    assert_eq!(run.iter().map(Claimed::id).collect::<Vec<_>>(), [first]);
    let applied = world.apply(run[0].succeed()).await;
    assert_eq!(applied.effects.released, inside);
}

pub async fn w_01_what_follows_a_batch_waits_for_all_of_it(world: &World) {
    let node = world.node().await;
    let (chain, batch, _, inside, last) = chain_with_a_batch(world, 2).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(batch).await, GroupState::Running);
    let runs = node.claim(5).await;
    assert_eq!(runs.iter().map(Claimed::id).collect::<Vec<_>>(), inside);
    world.apply(runs[0].succeed()).await;
    assert!(node.claim(5).await.is_empty());
    world.apply(runs[1].succeed()).await;
    assert_eq!(world.group_state(batch).await, GroupState::Succeeded);
    let run = node.claim_one().await;
    assert_eq!(run.id(), last);
    world.apply(run.succeed()).await;
    assert_eq!(world.group_state(chain).await, GroupState::Succeeded);
    assert_eq!(world.tally(chain).await, [3, 0, 0, 0, 3], "the batch counts as one");
}

pub async fn w_01_failed_child_of_a_batch_fails_the_chain(world: &World) {
    let node = world.node().await;
    let (chain, batch, _, inside, last) = chain_with_a_batch(world, 2).await;
    world.apply(node.claim_one().await.succeed()).await;
    let runs = node.claim(5).await;
    world.apply(runs[0].fail()).await;
    assert_eq!(world.state(last).await, Pending, "the other child still runs");
    world.apply(runs[1].succeed()).await;
    let step = world.get(last).await;
    assert_eq!((step.state, step.canceled), (Canceled, Some(CancelCause::UpstreamFailed)));
    assert_eq!(step.root_cause, Some(Vertex::Job(inside[0])), "it goes back to the job");
    assert_eq!(world.group_state(batch).await, GroupState::Failed);
    assert_eq!(world.group_state(chain).await, GroupState::Failed);
    assert_eq!(world.tally(chain).await, [1, 1, 1, 0, 3]);
}

pub async fn w_01_failure_before_a_batch_cancels_all_of_it(world: &World) {
    let node = world.node().await;
    let (chain, batch, first, inside, last) = chain_with_a_batch(world, 2).await;
    world.apply(node.claim_one().await.fail()).await;
    for id in inside.iter().chain([&last]) {
        let step = world.get(*id).await;
        assert_eq!((step.state, step.canceled), (Canceled, Some(CancelCause::UpstreamFailed)));
        assert_eq!(step.root_cause, Some(Vertex::Job(first)));
    }
    assert_eq!(world.group_state(batch).await, GroupState::Canceled);
    assert_eq!(world.tally(batch).await, [0, 0, 2, 0, 2]);
    assert_eq!(world.group_state(chain).await, GroupState::Failed);
    assert_eq!(world.tally(chain).await, [0, 1, 2, 0, 3]);
}

pub async fn w_03_empty_batch_as_a_step_is_passed_through(world: &World) {
    let node = world.node().await;
    let (chain, batch, _, _, last) = chain_with_a_batch(world, 0).await;
    assert_eq!(world.group_state(batch).await, GroupState::Waiting);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(batch).await, GroupState::Succeeded);
    let run = node.claim_one().await;
    assert_eq!(run.id(), last);
    world.apply(run.succeed()).await;
    assert_eq!(world.group_state(chain).await, GroupState::Succeeded);
}

pub async fn w_03_chains_as_children_of_a_batch(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let batch = sketch.group(world, GroupKind::Batch);
    let mut chains = Vec::new();
    for _ in 0..2 {
        let chain = sketch.group_in(world, GroupKind::Chain, Some(batch));
        let a = sketch.add(Some(chain), world.job());
        let b = sketch.add(Some(chain), world.job());
        sketch.edge(a, b, EdgeTrigger::Success);
        chains.push((chain, a, b));
    }
    world.insert_graph(sketch).await;
    let runs = node.claim(5).await;
    assert_eq!(runs.iter().map(Claimed::id).collect::<Vec<_>>(), [chains[0].1, chains[1].1]);
    world.apply(runs[0].fail()).await;
    assert_eq!(world.state(chains[0].2).await, Canceled);
    assert_eq!(world.tally(batch).await, [0, 1, 0, 0, 2]);
    world.apply(runs[1].succeed()).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.tally(batch).await, [1, 1, 0, 0, 2]);
    assert_eq!(world.group_state(batch).await, GroupState::Failed);
}

pub async fn w_04_groups_three_deep(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    let chain = sketch.group_in(world, GroupKind::Chain, Some(flow));
    let batch = sketch.group_in(world, GroupKind::Batch, Some(chain));
    let first = sketch.add(Some(flow), world.job());
    let child = sketch.add(Some(batch), world.job());
    let after_batch = sketch.add(Some(chain), world.job());
    let last = sketch.add(Some(flow), world.job());
    sketch.edge(first, chain, EdgeTrigger::Success);
    sketch.edge(batch, after_batch, EdgeTrigger::Success);
    sketch.edge(chain, last, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    for id in [first, child, after_batch, last] {
        let run = node.claim(5).await;
        assert_eq!(run.iter().map(Claimed::id).collect::<Vec<_>>(), [id]);
        world.apply(run[0].succeed()).await;
    }
    for group in [flow, chain, batch] {
        assert_eq!(world.group_state(group).await, GroupState::Succeeded);
    }
}
