//! Retrying a failed step also reopens the steps that were canceled because of it.

use ratchet_store::model::{
    Claimed, Command, CommandError, CommandReply, EdgeTrigger, Filter, GroupKind, GroupState,
    JobState,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, Sketch};

use JobState::{Canceled, Failed, Pending, Succeeded};

pub async fn w_01_retry_reopens_what_was_canceled(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(4).await;
    world.apply(node.claim_one().await.succeed()).await;
    world.apply(node.claim_one().await.fail()).await;
    let reply = world.retry(ids[1]).await;
    let CommandReply::MovedWithGraph { from, to, effects } = reply else { panic!("{reply:?}") };
    assert_eq!((from, to), (Failed, Pending));
    assert_eq!(effects.reopened, ids[2..]);
    assert_eq!(world.states(&ids).await, [Succeeded, Pending, Pending, Pending]);
    let group = world.group(chain).await;
    assert_eq!(
        (group.state, group.finished_at, group.root_cause),
        (GroupState::Running, None, None)
    );
    assert_eq!(world.tally(chain).await, [1, 0, 0, 0, 4]);
    for id in &ids[1..] {
        let run = node.claim(5).await;
        assert_eq!(run.iter().map(Claimed::id).collect::<Vec<_>>(), [*id]);
        world.apply(run[0].succeed()).await;
    }
    assert_eq!(world.group_state(chain).await, GroupState::Succeeded);
    assert_eq!(world.tally(chain).await, [4, 0, 0, 0, 4]);
}

pub async fn w_01_reopened_step_is_as_it_was(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    let before = world.get(ids[1]).await;
    world.apply(node.claim_one().await.fail()).await;
    world.retry(ids[0]).await;
    let mut after = world.get(ids[1]).await;
    assert_eq!(after.version, before.version + 2, "canceled and opened again");
    after.version = before.version;
    assert_eq!(after, before);
}

pub async fn w_01_retry_can_fail_and_be_retried_again(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(3).await;
    for _ in 0..3 {
        world.apply(node.claim_one().await.fail()).await;
        assert_eq!(world.states(&ids).await, [Failed, Canceled, Canceled]);
        assert_eq!(world.tally(chain).await, [0, 1, 2, 0, 3]);
        world.retry(ids[0]).await;
        assert_eq!(world.tally(chain).await, [0, 0, 0, 0, 3]);
    }
}

pub async fn w_01_redrive_reopens_too(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    world.apply(node.claim_one().await.fail()).await;
    let redriven = world.redrive(Filter::any(), 10).await;
    assert_eq!(redriven.retried, [ids[0]]);
    assert_eq!(world.states(&ids).await, [Pending, Pending]);
}

pub async fn w_01_step_canceled_by_hand_stays_canceled(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(3).await;
    world.cancel(ids[2]).await;
    world.apply(node.claim_one().await.fail()).await;
    world.retry(ids[0]).await;
    assert_eq!(world.states(&ids).await, [Pending, Pending, Canceled]);
    assert_eq!(world.tally(chain).await, [0, 0, 1, 0, 3]);
}

pub async fn w_01_other_failures_still_hold_a_step_back(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    let [a, b, join] = std::array::from_fn(|_| sketch.add(Some(flow), world.job()));
    sketch.edge(a, join, EdgeTrigger::Success);
    sketch.edge(b, join, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    for run in node.claim(5).await {
        world.apply(run.fail()).await;
    }
    world.retry(a).await;
    assert_eq!(world.state(join).await, Canceled, "b has failed too");
    world.retry(b).await;
    assert_eq!(world.state(join).await, Pending);
    let runs = node.claim(5).await;
    world.settle_all(runs.iter().map(RunExt::succeed).collect()).await;
    assert_eq!(node.claim_ids(5).await, [join]);
}

pub async fn w_01_order_of_the_retries_does_not_matter(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    let [a, b, join] = std::array::from_fn(|_| sketch.add(Some(flow), world.job()));
    sketch.edge(a, join, EdgeTrigger::Success);
    sketch.edge(b, join, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    for run in node.claim(5).await {
        world.apply(run.fail()).await;
    }
    world.retry(b).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.state(join).await, Canceled);
    world.retry(a).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [join]);
    assert_eq!(world.tally(flow).await, [2, 0, 0, 0, 3]);
}

pub async fn w_04_edge_that_has_fired_does_not_fire_again(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    let [charge, refund, ship] = std::array::from_fn(|_| sketch.add(Some(flow), world.job()));
    sketch.edge(charge, refund, EdgeTrigger::Failure);
    sketch.edge(charge, ship, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.fail()).await;
    world.apply(node.claim_one().await.succeed()).await;
    world.retry(charge).await;
    assert_eq!(world.states(&[charge, refund, ship]).await, [Pending, Succeeded, Pending]);
    world.apply(node.claim_one().await.fail()).await;
    assert_eq!(world.get(refund).await.run, 1, "once");
    assert!(node.claim(5).await.is_empty());
    assert_eq!(world.tally(flow).await, [1, 1, 1, 0, 3]);
}

pub async fn w_03_retried_child_opens_its_batch_and_what_follows(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let batch = sketch.group_in(world, GroupKind::Batch, Some(chain));
    let inner = sketch.group_in(world, GroupKind::Batch, Some(chain));
    let a = sketch.add(Some(batch), world.job());
    let b = sketch.add(Some(batch), world.job());
    let c = sketch.add(Some(inner), world.job());
    let last = sketch.add(Some(chain), world.job());
    sketch.edge(batch, inner, EdgeTrigger::Success);
    sketch.edge(inner, last, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let runs = node.claim(5).await;
    world.settle_all(vec![runs[0].fail(), runs[1].fail()]).await;
    assert_eq!(world.states(&[a, b, c, last]).await, [Failed, Failed, Canceled, Canceled]);
    assert_eq!(world.group_state(chain).await, GroupState::Failed);
    // Retrying either of the two failed children reopens the batch.
    world.retry(b).await;
    assert_eq!(world.states(&[a, b, c, last]).await, [Failed, Pending, Pending, Pending]);
    for group in [chain, batch] {
        assert_eq!(world.group_state(group).await, GroupState::Running);
    }
    assert_eq!(world.group_state(inner).await, GroupState::Waiting);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.states(&[c, last]).await, [Canceled, Canceled], "a has still failed");
    world.retry(a).await;
    for id in [a, c, last] {
        let run = node.claim(5).await;
        assert_eq!(run.iter().map(Claimed::id).collect::<Vec<_>>(), [id]);
        world.apply(run[0].succeed()).await;
    }
    for group in [chain, batch, inner] {
        assert_eq!(world.group_state(group).await, GroupState::Succeeded);
    }
    assert_eq!(world.tally(chain).await, [3, 0, 0, 0, 3]);
}

pub async fn w_01_reopened_step_takes_its_key_again_or_nothing_moves(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    let second = sketch.add(Some(chain), world.job().key("order"));
    sketch.edge(first, second, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.fail()).await;
    let holder = world.submit(world.job().key("order")).await;
    let refused = world.command(Command::Retry(first)).await;
    assert!(
        matches!(refused, Err(CommandError::BusinessKeyTaken { job, holder: it, .. }) if job == second && it == holder),
        "{refused:?}"
    );
    assert_eq!(world.states(&[first, second]).await, [Failed, Canceled]);
    assert_eq!(world.tally(chain).await, [0, 1, 1, 0, 2]);
    world.cancel(holder).await;
    world.retry(first).await;
    let taken = world.try_submit(world.job().key("order")).await;
    assert!(taken.is_err(), "the step holds its key again");
}

pub async fn w_01_paused_failure_is_still_a_failure(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(2).await;
    world.apply(node.claim_one().await.fail()).await;
    world.pause(ids[0]).await;
    assert_eq!(world.group_state(chain).await, GroupState::Failed);
    world.resume(ids[0]).await;
    assert_eq!(world.tally(chain).await, [0, 1, 1, 0, 2]);
    world.retry(ids[0]).await;
    assert_eq!(world.tally(chain).await, [0, 0, 0, 0, 2]);
}
