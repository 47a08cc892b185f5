//! Batches: children that run in parallel.

use ratchet_store::model::{
    CancelCause, EdgeTrigger, Extend, Filter, GroupCounts, GroupId, GroupKind, GroupState,
    InsertError, Inserted, JobId, JobState, NewJob, Settled, Vertex,
};

use crate::World;
use crate::fixture::{JobExt, Node, RunExt, Sketch, hours};

use JobState::{Canceled, Pending, Succeeded};

/// Submits a batch with the given number of children and one callback per condition.
async fn batch(
    world: &World,
    children: usize,
    callbacks: &[EdgeTrigger],
) -> (GroupId, Vec<JobId>, Vec<JobId>) {
    let mut sketch = Sketch::new();
    let batch = sketch.group(world, GroupKind::Batch);
    let ids: Vec<_> = (0..children).map(|_| sketch.add(Some(batch), world.job())).collect();
    let add = |when: &EdgeTrigger| {
        let id = sketch.add(None, world.job().named("bill"));
        sketch.step(id, |step| step.reports = Some(batch));
        sketch.edge(batch, id, when.clone());
        id
    };
    let callbacks = callbacks.iter().map(add).collect();
    world.insert_graph(sketch).await;
    (batch, ids, callbacks)
}

/// Claims all children and settles them: `succeed` of them succeed, `fail` of them fail.
async fn end(world: &World, node: &Node, succeed: usize, fail: usize) {
    let runs = node.claim(100).await;
    assert_eq!(runs.len(), succeed + fail);
    let (well, badly) = runs.split_at(succeed);
    let settlements = well.iter().map(RunExt::succeed).chain(badly.iter().map(RunExt::fail));
    world.settle_all(settlements.collect()).await;
}

pub async fn w_03_all_children_can_be_claimed_at_once(world: &World) {
    let node = world.node().await;
    let (_, ids, _) = batch(world, 5, &[]).await;
    assert_eq!(node.claim_ids(10).await, ids);
}

pub async fn w_03_progress_is_counted(world: &World) {
    let node = world.node().await;
    let (id, ids, _) = batch(world, 4, &[]).await;
    let runs = node.claim(3).await;
    let applied = world.apply(runs[0].succeed()).await;
    assert!((applied.effects.groups[0].counts.percent() - 25.0).abs() < 1e-9);
    world.apply(runs[1].fail()).await;
    world.cancel(runs[2].id()).await;
    let group = world.group(id).await;
    assert_eq!(group.state, GroupState::Running);
    assert_eq!(world.tally(id).await, [1, 1, 1, 0, 4]);
    assert!((group.counts.percent() - 75.0).abs() < 1e-9);
    world.cancel(ids[3]).await;
    assert_eq!(world.group_state(id).await, GroupState::Failed);
}

pub async fn w_03_callbacks_of_a_success(world: &World) {
    let node = world.node().await;
    let conditions = [
        EdgeTrigger::Success,
        EdgeTrigger::Failure,
        EdgeTrigger::Rate(900_000),
        EdgeTrigger::Always,
    ];
    let (id, _, callbacks) = batch(world, 3, &conditions).await;
    end(world, &node, 3, 0).await;
    assert_eq!(world.group_state(id).await, GroupState::Succeeded);
    assert_eq!(world.states(&callbacks).await, [Pending, Canceled, Pending, Pending]);
    assert_eq!(world.get(callbacks[1]).await.canceled, Some(CancelCause::NotTaken));
    assert_eq!(node.claim_ids(5).await, [callbacks[0], callbacks[2], callbacks[3]]);
}

pub async fn w_03_callbacks_of_a_failure(world: &World) {
    let node = world.node().await;
    let conditions = [
        EdgeTrigger::Success,
        EdgeTrigger::Failure,
        EdgeTrigger::Rate(750_000),
        EdgeTrigger::Rate(750_001),
        EdgeTrigger::Always,
    ];
    let (id, _, callbacks) = batch(world, 4, &conditions).await;
    end(world, &node, 3, 1).await;
    assert_eq!(world.group_state(id).await, GroupState::Failed);
    let expected = [Canceled, Pending, Pending, Canceled, Pending];
    assert_eq!(world.states(&callbacks).await, expected);
    assert_eq!(world.get(callbacks[0]).await.canceled, Some(CancelCause::UpstreamFailed));
}

pub async fn w_03_callbacks_wait_for_the_last_child(world: &World) {
    let node = world.node().await;
    let (_, _, callbacks) = batch(world, 2, &[EdgeTrigger::Failure, EdgeTrigger::Always]).await;
    let runs = node.claim(5).await;
    world.apply(runs[0].fail()).await;
    assert!(node.claim(5).await.is_empty());
    world.apply(runs[1].succeed()).await;
    assert_eq!(node.claim_ids(5).await, callbacks);
}

pub async fn w_03_child_that_was_called_off_is_neither_success_nor_failure(world: &World) {
    let node = world.node().await;
    let conditions = [
        EdgeTrigger::Success,
        EdgeTrigger::Failure,
        EdgeTrigger::Rate(500_000),
        EdgeTrigger::Always,
    ];
    let (id, ids, callbacks) = batch(world, 2, &conditions).await;
    world.cancel(ids[1]).await;
    end(world, &node, 1, 0).await;
    assert_eq!(world.group_state(id).await, GroupState::Canceled);
    assert_eq!(world.states(&callbacks).await, [Canceled, Canceled, Pending, Pending]);
}

pub async fn w_03_empty_batch_completes_at_once(world: &World) {
    let node = world.node().await;
    let mut sketch = Sketch::new();
    let id = sketch.group(world, GroupKind::Batch);
    let callback = sketch.add(None, world.job());
    sketch.edge(id, callback, EdgeTrigger::Success);
    let inserted = world.insert_graph(sketch).await;
    assert_eq!(inserted.effects.released, [callback]);
    assert_eq!(inserted.effects.groups, [world.group(id).await]);
    assert_eq!(world.group_state(id).await, GroupState::Succeeded);
    assert_eq!(node.claim_ids(5).await, [callback]);
}

async fn open(world: &World) -> (GroupId, JobId) {
    let mut sketch = Sketch::new();
    let id = sketch.group(world, GroupKind::Batch);
    sketch.graph.groups[0].sealed = false;
    let callback = sketch.add(None, world.job().named("bill"));
    sketch.edge(id, callback, EdgeTrigger::Always);
    world.insert_graph(sketch).await;
    (id, callback)
}

async fn extend(
    world: &World,
    group: GroupId,
    jobs: Vec<NewJob>,
    seal: bool,
) -> Result<Vec<Inserted>, InsertError> {
    let jobs = jobs
        .into_iter()
        .map(|mut job| {
            job.spec.step.get_or_insert_default().group = Some(group);
            job
        })
        .collect();
    world.store.add_members(Extend { group, jobs, seal }).await.map(|inserted| inserted.jobs)
}

pub async fn w_03_children_come_in_chunks(world: &World) {
    let node = world.node().await;
    let (id, callback) = open(world).await;
    for _ in 0..3 {
        extend(world, id, world.jobs(2), false).await.expect("it is open");
        end(world, &node, 2, 0).await;
        assert_eq!(world.group_state(id).await, GroupState::Running);
    }
    assert_eq!(world.tally(id).await, [6, 0, 0, 0, 6]);
    extend(world, id, Vec::new(), true).await.expect("it is open");
    assert_eq!(world.group_state(id).await, GroupState::Succeeded);
    assert_eq!(node.claim_ids(5).await, [callback]);
}

pub async fn w_03_last_chunk_may_seal(world: &World) {
    let node = world.node().await;
    let (id, callback) = open(world).await;
    extend(world, id, world.jobs(2), true).await.expect("it is open");
    assert_eq!(world.group_state(id).await, GroupState::Running);
    end(world, &node, 1, 1).await;
    assert_eq!(world.group_state(id).await, GroupState::Failed);
    assert_eq!(node.claim_ids(5).await, [callback]);
}

pub async fn w_03_sealed_batch_takes_no_more(world: &World) {
    let (id, _) = open(world).await;
    extend(world, id, Vec::new(), true).await.expect("it is open");
    let refused = extend(world, id, world.jobs(1), false).await;
    assert!(matches!(refused, Err(InsertError::GroupSealed(group)) if group == id), "{refused:?}");
    let unknown = GroupId::from_uuid(world.unknown_id().uuid());
    let refused = extend(world, unknown, world.jobs(1), false).await;
    assert!(matches!(refused, Err(InsertError::GroupNotFound(_))), "{refused:?}");
    assert_eq!(world.counts().await.state(Pending), 1, "only the callback");
}

pub async fn w_03_refused_chunk_leaves_no_trace(world: &World) {
    let (id, _) = open(world).await;
    world.submit(world.job().key("taken")).await;
    let chunk = vec![world.job(), world.job().key("taken")];
    let refused = extend(world, id, chunk, true).await;
    assert!(matches!(refused, Err(InsertError::BusinessKeysTaken(_))), "{refused:?}");
    let group = world.group(id).await;
    assert_eq!((group.counts, group.sealed), (GroupCounts::of(0), false));
    assert!(world.members(id).await.is_empty());
}

pub async fn s_06_child_whose_id_was_used_is_refused(world: &World) {
    let used = world.job();
    world.submit(used.clone()).await;
    let is_refused = |refused: Result<_, InsertError>| {
        assert!(matches!(refused, Err(InsertError::DuplicateId(id)) if id == used.id));
    };
    let mut sketch = Sketch::new();
    let id = sketch.group(world, GroupKind::Batch);
    let child = sketch.add(Some(id), world.job());
    sketch.add(Some(id), used.clone().named("bill"));
    is_refused(world.try_insert_graph(sketch).await.map(drop));
    assert_eq!(world.find(child).await, None);
    let (open, _) = open(world).await;
    let child = world.job();
    let chunk = vec![child.clone(), used.clone().named("bill")];
    is_refused(extend(world, open, chunk, true).await.map(drop));
    assert_eq!(world.find(child.id).await, None);
    assert_eq!(world.group(open).await.counts, GroupCounts::of(0));
    assert_eq!(world.get(used.id).await.spec.name, "mail");
    extend(world, open, vec![child], true).await.expect("it is still open");
}

pub async fn w_03_repeated_child_is_no_member(world: &World) {
    let node = world.node().await;
    let original = world.succeeded(world.job().idempotent("once")).await;
    let mut sketch = Sketch::new();
    let id = sketch.group(world, GroupKind::Batch);
    sketch.add(Some(id), world.job().idempotent("once"));
    let other = sketch.add(Some(id), world.job());
    let inserted = world.insert_graph(sketch).await;
    assert_eq!(inserted.jobs, [Inserted::Duplicate(original), Inserted::Created(other)]);
    assert_eq!(world.tally(id).await, [0, 0, 0, 0, 1]);
    end(world, &node, 1, 0).await;
    assert_eq!(world.group_state(id).await, GroupState::Succeeded);
}

// spec: L-07
pub async fn d_04_failed_members_of_one_group_are_found_and_redriven(world: &World) {
    let node = world.node().await;
    let (first, first_ids, callbacks) = batch(world, 3, &[EdgeTrigger::Always]).await;
    let (second, second_ids, _) = batch(world, 2, &[]).await;
    let alone = world.submit(world.job()).await;
    let failures = node.claim(6).await.iter().map(RunExt::fail).collect();
    world.settle_all(failures).await;
    assert_eq!(world.list(Filter::any().group(first).oldest_first()).await, first_ids);
    let newest_first: Vec<_> = second_ids.iter().rev().copied().collect();
    assert_eq!(world.list(Filter::any().group(second)).await, newest_first);
    let missing = GroupId::from_uuid(world.unknown_id().uuid());
    assert!(world.list(Filter::any().group(missing)).await.is_empty());
    let failed = Filter::any().state(JobState::Failed);
    let named = failed.clone().group(second).name("bill");
    assert!(world.list(named).await.is_empty());
    let redriven = world.redrive(failed.group(second), 10).await;
    assert_eq!(redriven.retried, second_ids);
    for id in second_ids {
        assert_eq!(world.get(id).await.state, Pending);
    }
    for id in first_ids.into_iter().chain([alone]) {
        assert_eq!(world.get(id).await.state, JobState::Failed);
    }
    assert_eq!(world.get(callbacks[0]).await.state, Pending, "it is no member of its group");
}

pub async fn w_05_counts_are_exact_under_load(world: &World) {
    const CHILDREN: usize = 400;
    let (id, _, callbacks) = batch(world, CHILDREN, &[EdgeTrigger::Always]).await;
    let mut workers = Vec::new();
    for worker in 0..4 {
        let node = world.node().await.knowing(&[("mail", 1)]);
        let store = std::sync::Arc::clone(&world.store);
        workers.push(tokio::spawn(async move {
            let mut ended = 0;
            loop {
                let runs = node.claim(7).await;
                if runs.is_empty() {
                    return ended;
                }
                ended += runs.len();
                let end = |(turn, run): (usize, &ratchet_store::model::Claimed)| {
                    if (turn + worker) % 3 == 0 { run.fail() } else { run.succeed() }
                };
                let settlements = runs.iter().enumerate().map(end).collect();
                store.settle(settlements).await.expect("settles");
            }
        }));
    }
    let mut ended = 0;
    for worker in workers {
        ended += worker.await.expect("works");
    }
    assert_eq!(ended, CHILDREN);
    let members = world.members(id).await;
    let succeeded = members.iter().filter(|member| member.state == Succeeded).count() as u64;
    let total = CHILDREN as u64;
    assert_eq!(world.tally(id).await, [succeeded, total - succeeded, 0, 0, total]);
    assert_eq!(world.group_state(id).await, GroupState::Failed);
    assert!(world.get(callbacks[0]).await.is_claimable());
}

pub async fn d_05_members_stay_until_their_group_has_ended(world: &World) {
    let node = world.node().await;
    let (id, ids, _) = batch(world, 2, &[]).await;
    world.apply(node.claim_one().await.succeed()).await;
    world.pass(hours(2)).await;
    assert_eq!(world.purge(Succeeded, hours(1)).await, 0);
    world.apply(node.claim_one().await.succeed()).await;
    assert_eq!(world.purge(Succeeded, hours(1)).await, 1);
    assert!(world.store.group(id).await.expect("reads").is_some(), "a member is left");
    world.pass(hours(2)).await;
    assert_eq!(world.purge(Succeeded, hours(1)).await, 1);
    assert_eq!(world.find(ids[1]).await, None);
    assert_eq!(world.store.group(id).await.expect("reads"), None);
}

pub async fn d_05_group_stays_until_its_callback_has_ended(world: &World) {
    let node = world.node().await;
    let (id, _, callbacks) = batch(world, 0, &[EdgeTrigger::Always]).await;
    world.pass(hours(2)).await;
    world.purge(Succeeded, hours(1)).await;
    assert!(world.store.group(id).await.expect("reads").is_some(), "its callback reads it");
    world.apply(node.claim_one().await.succeed()).await;
    world.pass(hours(2)).await;
    world.purge(Pending, hours(1)).await;
    assert!(world.store.group(id).await.expect("reads").is_some(), "no such purge");
    assert_eq!(world.purge(Succeeded, hours(1)).await, 1);
    assert_eq!(world.find(callbacks[0]).await, None);
    assert_eq!(world.store.group(id).await.expect("reads"), None);
}

pub async fn d_05_edges_go_with_their_job(world: &World) {
    let node = world.node().await;
    let (_, steps) = world.chain(2).await;
    for _ in 0..2 {
        world.apply(node.claim_one().await.succeed()).await;
    }
    world.pass(hours(2)).await;
    assert_eq!(world.purge(Succeeded, hours(1)).await, 2);
    let edges = world.store.edges(&[Vertex::Job(steps[0])]).await.expect("reads");
    assert_eq!(edges, []);
}

pub async fn w_05_one_commit_tells_a_group_once_as_it_is(world: &World) {
    let node = world.node().await;
    let (id, ..) = batch(world, 3, &[]).await;
    let runs = node.claim(2).await;
    // The failure comes first in the batch, but a store may still settle the success before it.
    let settled = world.settle_all(vec![runs[0].fail(), runs[1].succeed()]).await;
    let mut reported = Vec::new();
    for settled in settled {
        let Settled::Applied(applied) = settled else { panic!("both are current") };
        reported.extend(applied.effects.groups);
    }
    assert_eq!(reported, [world.group(id).await]);
    assert_eq!(world.tally(id).await, [1, 1, 0, 0, 3]);
}
