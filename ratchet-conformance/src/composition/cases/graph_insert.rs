//! Inserting and reading graphs.

use ratchet_store::model::{
    Edge, EdgeTrigger, GroupFilter, GroupKind, GroupRecord, GroupState, InsertError, JobState,
    Resolution, Vertex, Wait, WaitMode,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, Sketch, hours};

pub async fn w_06_group_reads_back_as_it_was_submitted(world: &World) {
    let mut sketch = Sketch::new();
    let id = sketch.group(world, GroupKind::Workflow);
    sketch.graph.groups[0].name = "order ☃".to_owned();
    let a = sketch.add(Some(id), world.job());
    let b = sketch.add(Some(id), world.job());
    let c = sketch.add(Some(id), world.job());
    sketch.edge(a, c, EdgeTrigger::Condition("big".to_owned()));
    sketch.edge(b, c, EdgeTrigger::Rate(7));
    sketch.any(c);
    sketch.step(c, |step| {
        step.name = Some("ship".to_owned());
        step.delay = hours(3);
    });
    let submitted = world.insert_graph(sketch).await;
    assert_eq!(submitted.jobs.len(), 3);
    let expected = {
        let mut group = GroupRecord::new(id, GroupKind::Workflow, "order ☃");
        group.counts.total = 3;
        group.queued_at = world.get(a).await.queued_at;
        group
    };
    assert_eq!(world.group(id).await, expected);
    let step = world.get(c).await;
    assert_eq!(step.wait, Some(Wait::new(WaitMode::Any, 2)));
    let spec = step.spec.step.clone().expect("a step");
    assert_eq!((spec.name.as_deref(), spec.delay), (Some("ship"), hours(3)));
    assert_eq!(world.get(a).await.spec.step.as_ref().expect("a step").conditions, ["big"]);
    let edges = world.store.edges(&[Vertex::Job(a), Vertex::Job(b)]).await.expect("reads");
    let condition = EdgeTrigger::Condition("big".to_owned());
    assert_eq!(
        edges,
        [
            Edge::new(Vertex::Job(a), Vertex::Job(c), condition),
            Edge::new(Vertex::Job(b), Vertex::Job(c), EdgeTrigger::Rate(7))
        ]
    );
}

pub async fn w_06_members_are_listed_in_pages(world: &World) {
    let (chain, ids) = world.chain(5).await;
    let members = world.members(chain).await;
    assert_eq!(members.iter().map(|member| member.id).collect::<Vec<_>>(), ids);
    assert_eq!(members[2], world.get(ids[2]).await.member());
    let page = world.store.members(chain, Some(ids[1]), 2).await.expect("reads");
    assert_eq!(page.iter().map(|member| member.id).collect::<Vec<_>>(), ids[2..4]);
}

pub async fn w_06_groups_are_found(world: &World) {
    let node = world.node().await;
    let (first, _) = world.chain(1).await;
    world.apply(node.claim_one().await.succeed()).await;
    let mut sketch = Sketch::new();
    let outer = sketch.group(world, GroupKind::Batch);
    let inner = sketch.group_in(world, GroupKind::Chain, Some(outer));
    sketch.add(Some(inner), world.job());
    world.insert_graph(sketch).await;
    let find = async |filter: GroupFilter| {
        let found = world.store.groups(&filter, None, 10).await.expect("reads");
        found.iter().map(|group| group.id).collect::<Vec<_>>()
    };
    assert_eq!(find(GroupFilter::any()).await, [outer, first], "newest first, inner ones apart");
    assert_eq!(find(GroupFilter::any().inside(outer)).await, [inner]);
    assert_eq!(find(GroupFilter::any().kind(GroupKind::Chain)).await, [first]);
    assert_eq!(find(GroupFilter::any().state(GroupState::Succeeded)).await, [first]);
    assert_eq!(find(GroupFilter::any().name("nothing")).await, []);
    let page = world.store.groups(&GroupFilter::any(), Some(outer), 10).await.expect("reads");
    assert_eq!(page.iter().map(|group| group.id).collect::<Vec<_>>(), [first]);
}

pub async fn w_06_edges_tell_what_became_of_them(world: &World) {
    let node = world.node().await;
    let (_, ids) = world.chain(2).await;
    world.apply(node.claim_one().await.succeed()).await;
    let edges = world.store.edges(&[Vertex::Job(ids[0])]).await.expect("reads");
    assert_eq!(edges[0].resolution, Some(Resolution::Fired));
}

pub async fn w_04_refused_graph_leaves_no_trace(world: &World) {
    world.submit(world.job().key("taken")).await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let a = sketch.add(Some(chain), world.job());
    let b = sketch.add(Some(chain), world.job().key("taken"));
    sketch.edge(a, b, EdgeTrigger::Success);
    let refused = world.try_insert_graph(sketch).await;
    assert!(matches!(refused, Err(InsertError::BusinessKeysTaken(_))), "{refused:?}");
    assert_eq!(world.find(a).await, None);
    assert_eq!(world.store.group(chain).await.expect("reads"), None);
    assert!(world.store.edges(&[Vertex::Job(a)]).await.expect("reads").is_empty());
    assert_eq!(world.counts().await.state(JobState::Pending), 1);
}

pub async fn w_04_step_cannot_stand_for_a_job_that_exists(world: &World) {
    let original = world.submit(world.job().idempotent("once")).await;
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let a = sketch.add(Some(chain), world.job().idempotent("once"));
    let b = sketch.add(Some(chain), world.job());
    sketch.edge(a, b, EdgeTrigger::Success);
    let refused = world.try_insert_graph(sketch).await;
    assert!(
        matches!(refused, Err(InsertError::StepExists { job, original: it }) if job == a && it == original),
        "{refused:?}"
    );
    assert_eq!(world.find(b).await, None);
    assert_eq!(world.store.group(chain).await.expect("reads"), None);
}

pub async fn w_04_same_graph_twice_is_refused(world: &World) {
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    sketch.add(Some(chain), world.job());
    world.insert_graph(sketch.clone()).await;
    assert!(world.try_insert_graph(sketch).await.is_err());
    assert_eq!(world.counts().await.state(JobState::Pending), 1);
    assert_eq!(world.tally(chain).await, [0, 0, 0, 0, 1]);
}

pub async fn s_04_waiting_step_holds_its_business_key(world: &World) {
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let a = sketch.add(Some(chain), world.job());
    let b = sketch.add(Some(chain), world.job().key("order"));
    sketch.edge(a, b, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let refused = world.try_submit(world.job().key("order")).await;
    assert!(matches!(refused, Err(InsertError::BusinessKeysTaken(_))), "{refused:?}");
    world.cancel(a).await;
    world.submit(world.job().key("order")).await;
}
