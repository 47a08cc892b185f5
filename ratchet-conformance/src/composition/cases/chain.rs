//! Chains: steps that run in order.

use ratchet_store::Wake;
use ratchet_store::model::{CancelCause, Claimed, GroupState, JobState, Vertex};
use ratchet_store::rules::{Explanation, Waiting};

use crate::World;
use crate::fixture::{RunExt, SettlementExt, Sketch, hours, secs};
use ratchet_store::model::{EdgeTrigger, GroupKind};

use JobState::{Canceled, Failed, Pending, Succeeded};

pub async fn w_01_steps_run_in_order(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(3).await;
    for id in &ids {
        let run = node.claim(5).await;
        assert_eq!(run.iter().map(Claimed::id).collect::<Vec<_>>(), [*id]);
        assert_eq!(world.group_state(chain).await, GroupState::Running);
        world.apply(run[0].succeed()).await;
    }
    assert!(node.claim(5).await.is_empty());
    assert_eq!(world.group_state(chain).await, GroupState::Succeeded);
    assert_eq!(world.tally(chain).await, [3, 0, 0, 0, 3]);
}

pub async fn w_01_waiting_step_is_pending_and_not_claimable(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    world.pass(hours(5)).await;
    assert_eq!(node.claim_ids(5).await, [ids[0]]);
    let step = world.get(ids[1]).await;
    assert_eq!((step.state, step.is_claimable()), (Pending, false));
    assert_eq!(world.counts().await.state(Pending), 1);
}

// spec: Q-04
pub async fn q_04_a_waiting_step_says_for_what(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    let why = async || {
        let around = world.store.claim_context(ids[1]).await.expect("the store knows");
        around.expect("the step exists").explain(2)
    };
    let waits = Waiting::ParentNotDone { parents: 1, ended: 0 };
    assert_eq!(why().await, Explanation::Waits(vec![waits]));
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(why().await, Explanation::AllClear);
}

pub async fn w_01_next_step_is_released_with_the_success(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    let run = node.claim_one().await;
    world.pass(hours(1)).await;
    let mut wakes = world.store.subscribe_wakeups();
    let applied = world.apply(run.succeed()).await;
    assert_eq!(applied.effects.released, [ids[1]]);
    let next = world.get(ids[1]).await;
    assert!(next.is_claimable());
    assert_eq!(next.due, applied.at, "it is due now, not since it was submitted");
    if world.sends_wakes() {
        // Wake-ups may arrive with a delay.
        let woken = Wake::Work { queue: "default".to_owned() };
        let heard = async { while wakes.recv().await.as_ref() != Ok(&woken) {} };
        assert!(tokio::time::timeout(secs(10), heard).await.is_ok(), "an idle worker is woken");
    }
    assert_eq!(node.claim_ids(5).await, [ids[1]]);
}

pub async fn w_01_settle_and_claim_brings_the_next_step(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    let run = node.claim_one().await;
    let answer = world.store.settle_and_claim(vec![run.succeed()], node.request(5)).await;
    let (_, mut reply) = answer.expect("settles and claims");
    // If the claim of an exchange cannot see its own settlement, the next claim returns the step.
    if reply.jobs.is_empty() {
        reply = node.ask(node.request(5)).await;
    }
    assert_eq!(reply.jobs.iter().map(Claimed::id).collect::<Vec<_>>(), [ids[1]]);
}

pub async fn w_01_retry_releases_nothing(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(2).await;
    let applied = world.apply(node.claim_one().await.retry(secs(0))).await;
    assert!(applied.effects.is_empty());
    assert!(!world.get(ids[1]).await.is_claimable());
    assert_eq!(world.tally(chain).await, [0, 0, 0, 0, 2]);
}

pub async fn w_01_failure_cancels_the_rest(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(4).await;
    world.apply(node.claim_one().await.succeed()).await;
    let applied = world.apply(node.claim_one().await.fail()).await;
    assert_eq!(world.states(&ids).await, [Succeeded, Failed, Canceled, Canceled]);
    for id in &ids[2..] {
        let step = world.get(*id).await;
        assert_eq!(step.canceled, Some(CancelCause::UpstreamFailed));
        assert_eq!(step.root_cause, Some(Vertex::Job(ids[1])));
        assert_eq!(step.finished_at, Some(applied.at));
    }
    let reported: Vec<_> = applied.effects.canceled.iter().map(|it| it.job).collect();
    assert_eq!(reported, ids[2..]);
    assert_eq!(applied.effects.groups.len(), 1);
    assert_eq!(world.group_state(chain).await, GroupState::Failed);
    assert_eq!(world.tally(chain).await, [1, 1, 2, 0, 4]);
    assert!(node.claim(5).await.is_empty());
}

pub async fn w_01_ended_chain_tells_when(world: &World) {
    let node = world.node().await;
    let (chain, _) = world.chain(1).await;
    assert_eq!(world.group(chain).await.finished_at, None);
    let applied = world.apply(node.claim_one().await.succeed()).await;
    let ended = world.group(chain).await;
    assert_eq!(ended.finished_at, Some(applied.at));
    assert_eq!(applied.effects.groups, [ended]);
}

pub async fn w_01_stale_settle_releases_nothing(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(2).await;
    let run = node.claim_one().await;
    world.apply(run.release()).await;
    world.stale(run.succeed()).await;
    assert!(!world.get(ids[1]).await.is_claimable());
    assert_eq!(world.tally(chain).await, [0, 0, 0, 0, 2]);
}

pub async fn w_01_step_may_wait_once_it_is_released(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    let second = sketch.add(Some(chain), world.job());
    sketch.edge(first, second, EdgeTrigger::Success);
    sketch.step(second, |step| step.delay = hours(1));
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert!(node.claim(5).await.is_empty());
    world.pass(hours(1)).await;
    assert_eq!(node.claim_ids(5).await, [second]);
}

pub async fn w_01_first_step_may_wait_too(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    sketch.step(first, |step| step.delay = hours(1));
    world.insert_graph(sketch).await;
    assert!(node.claim(5).await.is_empty());
    world.pass(hours(1)).await;
    assert_eq!(node.claim_ids(5).await, [first]);
}

pub async fn w_01_paused_step_is_released_and_waits_for_its_resume(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    world.pause(ids[1]).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert!(node.claim(5).await.is_empty());
    world.resume(ids[1]).await;
    assert_eq!(node.claim_ids(5).await, [ids[1]]);
}

pub async fn w_01_resumed_step_still_waits(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    world.pause(ids[1]).await;
    world.resume(ids[1]).await;
    assert_eq!(node.claim_ids(5).await, [ids[0]]);
}

pub async fn w_01_rescheduled_step_still_waits(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    let due = ratchet_core::Due::In(hours(2));
    world.reschedule(ids[1], due).await;
    world.pass(hours(3)).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [ids[1]]);
}

pub async fn w_01_crash_and_rescue_go_on_with_the_chain(world: &World) {
    let (dying, node) = (world.mortal(secs(10)).await, world.node().await);
    let (_, ids) = world.chain(2).await;
    dying.claim_one().await;
    world.pass(secs(11)).await;
    let orphan = world.orphans().await.remove(0);
    world.apply(orphan.claimed.rescue(1)).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [ids[1]]);
}

pub async fn w_01_steps_of_one_commit_move_together(world: &World) {
    let node = world.node().await;
    let (a, first) = world.chain(2).await;
    let (b, second) = world.chain(2).await;
    let runs = node.claim(5).await;
    let settled = world.settle_all(vec![runs[0].succeed().output("1"), runs[1].fail()]).await;
    assert_eq!(settled.len(), 2);
    assert!(world.get(first[1]).await.is_claimable());
    assert_eq!(world.state(second[1]).await, Canceled);
    assert_eq!(world.group_state(a).await, GroupState::Running);
    assert_eq!(world.group_state(b).await, GroupState::Failed);
}

pub async fn w_01_long_chain_that_fails_at_its_first_step(world: &World) {
    const STEPS: usize = 3_000;
    let node = world.node().await;
    let (chain, ids) = world.chain(STEPS).await;
    let applied = world.apply(node.claim_one().await.fail()).await;
    assert_eq!(applied.effects.canceled.len(), STEPS - 1);
    assert_eq!(world.tally(chain).await, [0, 1, STEPS as u64 - 1, 0, STEPS as u64]);
    let last = world.get(ids[STEPS - 1]).await;
    assert_eq!((last.state, last.root_cause), (Canceled, Some(Vertex::Job(ids[0]))));
}
