//! Workflows: steps connected by edges.

use ratchet_store::model::{
    CancelCause, EdgeTrigger, GroupId, GroupKind, GroupState, JobId, JobState, Vertex,
};

use ratchet_store::rules::Explanation;

use crate::World;
use crate::fixture::{RunExt, Sketch};

use JobState::{Canceled, Failed, Pending, Succeeded};

/// Creates a workflow of `N` steps without edges.
fn steps<const N: usize>(world: &World) -> (Sketch, GroupId, [JobId; N]) {
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    let ids = std::array::from_fn(|_| sketch.add(Some(flow), world.job()));
    (sketch, flow, ids)
}

pub async fn w_04_fan_out_releases_every_branch(world: &World) {
    let node = world.node().await;
    let (mut sketch, _, [root, a, b, c]) = steps(world);
    for child in [a, b, c] {
        sketch.edge(root, child, EdgeTrigger::Success);
    }
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [a, b, c]);
}

pub async fn w_04_fan_in_waits_for_all(world: &World) {
    let node = world.node().await;
    let (mut sketch, flow, [a, b, join]) = steps(world);
    sketch.edge(a, join, EdgeTrigger::Success);
    sketch.edge(b, join, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let runs = node.claim(5).await;
    world.apply(runs[0].succeed()).await;
    assert!(node.claim(5).await.is_empty());
    let applied = world.apply(runs[1].succeed()).await;
    assert_eq!(applied.effects.released, [join]);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(flow).await, GroupState::Succeeded);
}

pub async fn w_04_fan_in_of_one_commit_fires_once(world: &World) {
    let node = world.node().await;
    let (mut sketch, _, [a, b, join]) = steps(world);
    sketch.edge(a, join, EdgeTrigger::Success);
    sketch.edge(b, join, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let runs = node.claim(5).await;
    world.settle_all(runs.iter().map(RunExt::succeed).collect()).await;
    assert_eq!(node.claim_ids(5).await, [join]);
}

pub async fn w_04_after_any_begins_with_the_first_and_only_once(world: &World) {
    let node = world.node().await;
    let (mut sketch, flow, [a, b, join]) = steps(world);
    sketch.edge(a, join, EdgeTrigger::Success);
    sketch.edge(b, join, EdgeTrigger::Success);
    sketch.any(join);
    world.insert_graph(sketch).await;
    let runs = node.claim(5).await;
    world.apply(runs[1].succeed()).await;
    world.apply(node.claim_one().await.succeed()).await;
    let late = world.apply(runs[0].succeed()).await;
    assert!(late.effects.released.is_empty());
    assert!(node.claim(5).await.is_empty());
    assert_eq!(world.get(join).await.run, 1);
    assert_eq!(world.tally(flow).await, [3, 0, 0, 0, 3]);
}

pub async fn w_04_after_any_survives_one_failure_and_not_all(world: &World) {
    let node = world.node().await;
    for (fail, expected) in [(1, Pending), (2, Canceled)] {
        let (mut sketch, _, [a, b, join]) = steps(world);
        sketch.edge(a, join, EdgeTrigger::Success);
        sketch.edge(b, join, EdgeTrigger::Success);
        sketch.any(join);
        world.insert_graph(sketch).await;
        let runs = node.claim(5).await;
        world.apply(runs[0].fail()).await;
        assert_eq!(world.state(join).await, Pending);
        assert!(!world.get(join).await.is_claimable());
        world.apply(if fail == 2 { runs[1].fail() } else { runs[1].succeed() }).await;
        assert_eq!(world.state(join).await, expected);
        let left = node.claim(5).await;
        world.settle_all(left.iter().map(RunExt::succeed).collect()).await;
    }
}

pub async fn w_04_failure_edge_fires_for_good_failures_only(world: &World) {
    let node = world.node().await;
    let (mut sketch, flow, [charge, ship, refund]) = steps(world);
    sketch.edge(charge, ship, EdgeTrigger::Success);
    sketch.edge(charge, refund, EdgeTrigger::Failure);
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.retry(std::time::Duration::ZERO)).await;
    let run = node.claim_one().await;
    assert_eq!(run.id(), charge, "a retry fires nothing");
    world.apply(run.fail()).await;
    assert_eq!(world.states(&[ship, refund]).await, [Canceled, Pending]);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(flow).await, GroupState::Failed);
    assert_eq!(world.tally(flow).await, [1, 1, 1, 0, 3]);
}

pub async fn w_04_branch_not_taken_is_no_failure(world: &World) {
    let node = world.node().await;
    let (mut sketch, flow, [charge, refund, mail]) = steps(world);
    sketch.edge(charge, refund, EdgeTrigger::Failure);
    sketch.edge(refund, mail, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.succeed()).await;
    for id in [refund, mail] {
        let step = world.get(id).await;
        assert_eq!((step.state, step.canceled), (Canceled, Some(CancelCause::NotTaken)));
        assert_eq!(step.root_cause, Some(Vertex::Job(charge)));
    }
    assert_eq!(world.tally(flow).await, [1, 0, 0, 2, 3]);
    assert_eq!(world.group_state(flow).await, GroupState::Succeeded);
}

pub async fn w_04_always_fires_for_both_ends(world: &World) {
    let node = world.node().await;
    for fail in [false, true] {
        let (mut sketch, _, [work, clean]) = steps(world);
        sketch.edge(work, clean, EdgeTrigger::Always);
        world.insert_graph(sketch).await;
        let run = node.claim_one().await;
        world.apply(if fail { run.fail() } else { run.succeed() }).await;
        let next = node.claim_one().await;
        assert_eq!(next.id(), clean);
        world.apply(next.succeed()).await;
    }
}

pub async fn w_04_condition_decides_by_its_answer(world: &World) {
    let node = world.node().await.knowing(&[("mail", 1), ("?big", 1), ("?small", 1)]);
    let (mut sketch, _, [order, review, ship]) = steps(world);
    sketch.edge(order, review, EdgeTrigger::Condition("big".to_owned()));
    sketch.edge(order, ship, EdgeTrigger::Condition("small".to_owned()));
    world.insert_graph(sketch).await;
    let mut settlement = node.claim_one().await.succeed();
    settlement.condition_results = vec![("big".to_owned(), true), ("small".to_owned(), false)];
    world.apply(settlement).await;
    assert_eq!(world.states(&[review, ship]).await, [Pending, Canceled]);
    assert_eq!(node.claim_ids(5).await, [review]);
}

pub async fn w_04_job_is_left_for_who_can_judge_its_conditions(world: &World) {
    let ignorant = world.node().await;
    let (mut sketch, _, [order, review]) = steps(world);
    sketch.edge(order, review, EdgeTrigger::Condition("big".to_owned()));
    world.insert_graph(sketch).await;
    let plain = world.submit(world.job()).await;
    assert_eq!(ignorant.claim_ids(5).await, [plain], "it does not hold up the others");
    let knowing = world.node().await.knowing(&[("mail", 1), ("?big", 1)]);
    assert_eq!(knowing.claim_ids(5).await, [order]);
}

pub async fn w_04_first_match_fires_one_edge(world: &World) {
    let node = world.node().await.knowing(&[("mail", 1), ("?a", 1), ("?b", 1)]);
    let (mut sketch, _, [order, a, b, otherwise]) = steps(world);
    sketch.edge(order, a, EdgeTrigger::Condition("a".to_owned()));
    sketch.edge(order, b, EdgeTrigger::Condition("b".to_owned()));
    sketch.edge(order, otherwise, EdgeTrigger::Success);
    sketch.step(order, |step| step.first_match = true);
    world.insert_graph(sketch).await;
    let mut settlement = node.claim_one().await.succeed();
    settlement.condition_results = vec![("a".to_owned(), false), ("b".to_owned(), true)];
    world.apply(settlement).await;
    assert_eq!(world.states(&[a, b, otherwise]).await, [Canceled, Pending, Canceled]);
    assert_eq!(world.get(otherwise).await.canceled, Some(CancelCause::NotTaken));
}

pub async fn w_04_cancel_fires_no_edge(world: &World) {
    let node = world.node().await;
    let (mut sketch, flow, [work, then, clean, refund]) = steps(world);
    sketch.edge(work, then, EdgeTrigger::Success);
    sketch.edge(work, clean, EdgeTrigger::Always);
    sketch.edge(work, refund, EdgeTrigger::Failure);
    world.insert_graph(sketch).await;
    world.cancel(work).await;
    for id in [then, clean, refund] {
        let step = world.get(id).await;
        assert_eq!((step.state, step.canceled), (Canceled, Some(CancelCause::UpstreamCanceled)));
        assert_eq!(step.root_cause, Some(Vertex::Job(work)));
    }
    assert_eq!(world.group_state(flow).await, GroupState::Canceled);
    assert!(node.claim(5).await.is_empty());
}

pub async fn w_04_diamond_fails_as_a_whole(world: &World) {
    let node = world.node().await;
    let (mut sketch, flow, [root, a, b, join, last]) = steps(world);
    for (from, to) in [(root, a), (root, b), (a, join), (b, join), (join, last)] {
        sketch.edge(from, to, EdgeTrigger::Success);
    }
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.succeed()).await;
    let runs = node.claim(5).await;
    world.apply(runs[0].fail()).await;
    assert_eq!(world.states(&[b, join, last]).await, [JobState::Running, Canceled, Canceled]);
    assert_eq!(world.group_state(flow).await, GroupState::Running, "a branch still runs");
    world.apply(runs[1].succeed()).await;
    assert_eq!(world.states(&[root, a, b]).await, [Succeeded, Failed, Succeeded]);
    assert_eq!(world.tally(flow).await, [2, 1, 2, 0, 5]);
}

pub async fn w_04_canceled_step_remembers_why_whatever_happens_later(world: &World) {
    let node = world.node().await;
    let (mut sketch, _, [first, second, last]) = steps(world);
    sketch.edge(first, last, EdgeTrigger::Failure);
    sketch.edge(second, last, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    // One edge is dead; the other one fires afterwards.
    for _ in 0..2 {
        world.apply(node.claim_one().await.succeed()).await;
        let step = world.get(last).await;
        assert_eq!((step.state, step.canceled), (Canceled, Some(CancelCause::NotTaken)));
        assert_eq!(step.root_cause, Some(Vertex::Job(first)));
    }
}

pub async fn w_07_otherwise_fires_if_no_condition_holds(world: &World) {
    let node = world.node().await.knowing(&[("mail", 1), ("?a", 1), ("?b", 1)]);
    for (a_holds, b_holds, expected) in [
        (false, false, [Canceled, Canceled, Pending]),
        (true, false, [Pending, Canceled, Canceled]),
        (true, true, [Pending, Pending, Canceled]),
    ] {
        for otherwise_first in [false, true] {
            let (mut sketch, flow, [order, a, b, otherwise]) = steps(world);
            if otherwise_first {
                sketch.edge(order, otherwise, EdgeTrigger::Otherwise);
            }
            sketch.edge(order, a, EdgeTrigger::Condition("a".to_owned()));
            sketch.edge(order, b, EdgeTrigger::Condition("b".to_owned()));
            if !otherwise_first {
                sketch.edge(order, otherwise, EdgeTrigger::Otherwise);
            }
            world.insert_graph(sketch).await;
            let mut settlement = node.claim_one().await.succeed();
            settlement.condition_results =
                vec![("a".to_owned(), a_holds), ("b".to_owned(), b_holds)];
            world.apply(settlement).await;
            assert_eq!(world.states(&[a, b, otherwise]).await, expected, "{a_holds} {b_holds}");
            let left = node.claim(5).await;
            world.settle_all(left.iter().map(RunExt::succeed).collect()).await;
            assert_eq!(world.group_state(flow).await, GroupState::Succeeded);
        }
    }
}

pub async fn w_07_otherwise_does_not_fire_after_a_failure(world: &World) {
    let node = world.node().await.knowing(&[("mail", 1), ("?a", 1)]);
    let (mut sketch, _, [order, a, otherwise]) = steps(world);
    sketch.edge(order, a, EdgeTrigger::Condition("a".to_owned()));
    sketch.edge(order, otherwise, EdgeTrigger::Otherwise);
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.fail()).await;
    let step = world.get(otherwise).await;
    assert_eq!((step.state, step.canceled), (Canceled, Some(CancelCause::UpstreamFailed)));
    // The branches are decided again after a retry.
    world.retry(order).await;
    assert_eq!(world.state(otherwise).await, Pending);
    let mut settlement = node.claim_one().await.succeed();
    settlement.condition_results = vec![("a".to_owned(), false)];
    world.apply(settlement).await;
    assert_eq!(node.claim_ids(5).await, [otherwise]);
}

pub async fn w_07_join_over_a_branch_not_taken_says_so(world: &World) {
    let node = world.node().await.knowing(&[("mail", 1), ("?big", 1)]);
    let (mut sketch, flow, [order, review, pack, join]) = steps(world);
    sketch.edge(order, review, EdgeTrigger::Condition("big".to_owned()));
    sketch.edge(order, pack, EdgeTrigger::Success);
    sketch.edge(review, join, EdgeTrigger::Success);
    sketch.edge(pack, join, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let mut settlement = node.claim_one().await.succeed();
    settlement.condition_results = vec![("big".to_owned(), false)];
    let effects = world.apply(settlement).await.effects;
    let canceled = |id| effects.canceled.iter().find(|member| member.job == id).expect("canceled");
    assert!(canceled(join).is_untaken_join(), "{effects:?}");
    assert!(!canceled(review).is_untaken_join(), "it is the branch itself");
    let context = world.store.claim_context(join).await.expect("reads").expect("is there");
    let expected =
        Explanation::BranchNotTaken { root: Some(Vertex::Job(order)), parents: 2, dead: 1 };
    assert_eq!(context.explain(5), expected);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(flow).await, GroupState::Succeeded);
}
