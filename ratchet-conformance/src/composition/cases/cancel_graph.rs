//! Canceling a step or a whole group.

use ratchet_store::model::{
    CancelCause, Command, CommandError, CommandReply, EdgeTrigger, Extend, Filter, GroupId,
    GroupKind, GroupState, Heartbeat, InsertError, JobState, Vertex,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, Sketch, days, secs};

use JobState::{Canceled, Failed, Pending, Running, Succeeded};

async fn cancel(world: &World, group: GroupId) -> CommandReply {
    world.command(Command::CancelGroup(group)).await.expect("it can be called off")
}

pub async fn l_05_everything_downstream_is_canceled(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(4).await;
    world.apply(node.claim_one().await.succeed()).await;
    let reply = world.cancel(ids[2]).await;
    let CommandReply::MovedWithGraph { from, to, effects } = reply else { panic!("{reply:?}") };
    assert_eq!((from, to), (Pending, Canceled));
    assert_eq!(effects.canceled.iter().map(|it| it.job).collect::<Vec<_>>(), [ids[3]]);
    assert_eq!(world.get(ids[2]).await.canceled, Some(CancelCause::Requested));
    let last = world.get(ids[3]).await;
    assert_eq!(last.canceled, Some(CancelCause::UpstreamCanceled));
    assert_eq!(last.root_cause, Some(Vertex::Job(ids[2])));
    assert_eq!(world.group_state(chain).await, GroupState::Running, "step two has not ended");
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(chain).await, GroupState::Canceled);
    assert_eq!(world.tally(chain).await, [2, 0, 2, 0, 4]);
}

pub async fn l_05_running_step_is_told_and_its_successors_canceled(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    let run = node.claim_one().await;
    world.cancel(ids[0]).await;
    assert_eq!(world.states(&ids).await, [Canceled, Canceled]);
    let reported = node.heartbeat(days(10)).await;
    assert_eq!(reported, Heartbeat::Renewed { canceled: vec![run.token], request: None });
    world.stale(run.succeed()).await;
    assert_eq!(world.state(ids[1]).await, Canceled);
}

pub async fn l_10_waiting_step_expires(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    let second = sketch.add(Some(chain), world.job().expires_in(secs(60)));
    let third = sketch.add(Some(chain), world.job());
    sketch.edge(first, second, EdgeTrigger::Success);
    sketch.edge(second, third, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let run = node.claim_one().await;
    world.apply(run.fail()).await;
    assert_eq!(world.get(second).await.canceled, Some(CancelCause::UpstreamFailed));
    world.pass(secs(60)).await;
    assert!(node.try_lead(days(1)).await, "the leader forgets what has ended");
    world.retry(first).await;
    assert_eq!(world.states(&[first, second, third]).await, [Pending; 3], "they are reopened");
    let cancel = Command::Cancel(second, CancelCause::Expired);
    world.command(cancel).await.expect("it has expired");
    assert_eq!(world.get(second).await.canceled, Some(CancelCause::Expired));
    let last = world.get(third).await;
    assert_eq!(last.canceled, Some(CancelCause::UpstreamCanceled));
    assert_eq!(last.root_cause, Some(Vertex::Job(second)));
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.group_state(chain).await, GroupState::Canceled);
}

pub async fn l_10_reopened_step_still_expires(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    let second = sketch.add(Some(chain), world.job().expires_in(secs(60)));
    sketch.edge(first, second, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    world.apply(node.claim_one().await.fail()).await;
    world.pass(secs(60)).await;
    assert!(node.try_lead(days(1)).await, "the leader forgets what has ended");
    world.retry(first).await;
    world.apply(node.claim_one().await.succeed()).await;
    assert!(node.claim(5).await.is_empty(), "the second step may begin, but has expired");
    let expired = Filter::any().expires_by(world.now().await);
    assert_eq!(world.list(expired).await, [second]);
}

pub async fn l_05_what_does_not_depend_on_it_goes_on(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    let [a, b, after_a, after_b] = std::array::from_fn(|_| sketch.add(Some(flow), world.job()));
    sketch.edge(a, after_a, EdgeTrigger::Success);
    sketch.edge(b, after_b, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    world.cancel(a).await;
    assert_eq!(world.state(after_a).await, Canceled);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(node.claim_ids(5).await, [after_b]);
}

pub async fn w_06_whole_chain_is_canceled(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(3).await;
    world.apply(node.claim_one().await.succeed()).await;
    let run = node.claim_one().await;
    let reply = cancel(world, chain).await;
    let CommandReply::GroupCanceled(effects) = reply else { panic!("{reply:?}") };
    assert_eq!(effects.canceled.iter().map(|it| it.job).collect::<Vec<_>>(), ids[1..]);
    assert_eq!(world.states(&ids).await, [Succeeded, Canceled, Canceled]);
    for id in &ids[1..] {
        let step = world.get(*id).await;
        assert_eq!(step.canceled, Some(CancelCause::Requested));
        assert_eq!(step.root_cause, Some(Vertex::Group(chain)));
    }
    assert_eq!(world.group_state(chain).await, GroupState::Canceled);
    let reported = node.heartbeat(days(10)).await;
    assert_eq!(
        reported,
        Heartbeat::Renewed { canceled: vec![run.token], request: None },
        "the run is reported"
    );
}

pub async fn w_06_groups_inside_are_canceled_too(world: &World) {
    let mut sketch = Sketch::new();
    let outer = sketch.group(world, GroupKind::Chain);
    let inner = sketch.group_in(world, GroupKind::Batch, Some(outer));
    let empty = sketch.group_in(world, GroupKind::Batch, Some(outer));
    let a = sketch.add(Some(outer), world.job());
    let b = sketch.add(Some(inner), world.job());
    sketch.edge(a, inner, EdgeTrigger::Success);
    sketch.edge(inner, empty, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    cancel(world, outer).await;
    assert_eq!(world.states(&[a, b]).await, [Canceled, Canceled]);
    for group in [outer, inner, empty] {
        assert_eq!(world.group_state(group).await, GroupState::Canceled);
    }
    assert_eq!(world.tally(outer).await, [0, 0, 3, 0, 3]);
}

pub async fn w_06_canceled_group_fires_no_edge(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let batch = sketch.group(world, GroupKind::Batch);
    let child = sketch.add(Some(batch), world.job());
    let callbacks: Vec<_> =
        [EdgeTrigger::Success, EdgeTrigger::Failure, EdgeTrigger::Rate(0), EdgeTrigger::Always]
            .into_iter()
            .map(|when| {
                let id = sketch.add(None, world.job());
                sketch.edge(batch, id, when);
                id
            })
            .collect();
    world.insert_graph(sketch).await;
    cancel(world, batch).await;
    assert_eq!(world.state(child).await, Canceled);
    for id in callbacks {
        let callback = world.get(id).await;
        assert_eq!(callback.canceled, Some(CancelCause::UpstreamCanceled));
        assert_eq!(callback.root_cause, Some(Vertex::Group(batch)));
    }
    assert!(node.claim(5).await.is_empty());
}

pub async fn w_06_ended_group_is_not_canceled(world: &World) {
    let node = world.node().await;
    let (chain, ids) = world.chain(2).await;
    world.apply(node.claim_one().await.fail()).await;
    let reply = cancel(world, chain).await;
    assert_eq!(reply, CommandReply::GroupUnchanged { state: GroupState::Failed });
    assert_eq!(world.states(&ids).await, [Failed, Canceled]);
    let unknown = GroupId::from_uuid(world.unknown_id().uuid());
    let refused = world.command(Command::CancelGroup(unknown)).await;
    assert!(matches!(refused, Err(CommandError::GroupNotFound(id)) if id == unknown));
}

pub async fn w_06_canceled_batch_takes_no_more(world: &World) {
    let mut sketch = Sketch::new();
    let batch = sketch.group(world, GroupKind::Batch);
    sketch.graph.groups[0].sealed = false;
    let child = sketch.add(Some(batch), world.job());
    world.insert_graph(sketch).await;
    cancel(world, batch).await;
    assert_eq!(world.state(child).await, Canceled);
    assert_eq!(world.group_state(batch).await, GroupState::Canceled);
    let late = Extend { group: batch, jobs: Vec::new(), seal: true };
    let refused = world.store.add_members(late).await;
    assert!(matches!(refused, Err(InsertError::GroupSealed(_))), "{refused:?}");
}

pub async fn w_06_late_end_of_a_canceled_member_counts_once(world: &World) {
    let node = world.node().await;
    let (chain, _) = world.chain(1).await;
    let run = node.claim_one().await;
    assert_eq!(world.state(run.id()).await, Running);
    cancel(world, chain).await;
    world.stale(run.succeed()).await;
    assert_eq!(world.tally(chain).await, [0, 0, 1, 0, 1]);
}
