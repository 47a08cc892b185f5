//! The idempotency key of a whole graph.

use ratchet_store::model::{
    EdgeTrigger, GraphKey, GroupId, GroupKind, InsertError, Inserted, JobId, JobState, NewGraph,
    RepeatCheck,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, Sketch, secs};

fn key(key: &str) -> GraphKey {
    GraphKey::new(None, key)
}

/// Creates a chain of two steps with the key `once`.
fn pair(world: &World) -> NewGraph {
    changed(world, |_, _| {})
}

fn changed(world: &World, change: impl FnOnce(&mut Sketch, [JobId; 2])) -> NewGraph {
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let steps = [(); 2].map(|()| sketch.add(Some(chain), world.job()));
    sketch.edge(steps[0], steps[1], EdgeTrigger::Success);
    change(&mut sketch, steps);
    let mut graph = sketch.finish();
    graph.key = Some(key("once"));
    graph
}

fn root(graph: &NewGraph) -> GroupId {
    graph.groups[0].id
}

async fn insert(world: &World, graph: &NewGraph) -> GroupId {
    let inserted = world.store.insert_graph(graph.clone()).await.expect("inserted");
    if let Some(original) = inserted.original {
        assert!(inserted.jobs.is_empty() && inserted.effects.is_empty(), "nothing came into being");
        return original;
    }
    let created: Vec<_> = graph.jobs.iter().map(|job| Inserted::Created(job.id)).collect();
    assert_eq!(inserted.jobs, created);
    root(graph)
}

pub async fn s_15_a_graph_can_be_recognized_by_its_key_alone(world: &World) {
    let first = insert(world, &pair(world)).await;
    let other = |by_key_alone| {
        let mut other = changed(world, |sketch, _| {
            let group = sketch.graph.groups[0].id;
            sketch.add(Some(group), world.job());
        });
        other.key = Some(GraphKey { by_key_alone, ..key("once") });
        other
    };
    assert_eq!(insert(world, &other(true)).await, first);
    is_refused(world, other(false), first).await;
}

pub async fn s_15_the_key_of_a_graph_expires(world: &World) {
    let brief = || {
        let mut graph = pair(world);
        graph.key = Some(GraphKey { lifetime: Some(secs(3600)), ..key("once") });
        graph
    };
    let first = insert(world, &brief()).await;
    world.pass(secs(1800)).await;
    assert_eq!(insert(world, &brief()).await, first);
    world.pass(secs(1800)).await;
    let next = brief();
    assert_eq!(insert(world, &next).await, root(&next), "a new graph");
    assert_eq!(insert(world, &brief()).await, root(&next));
}

pub async fn s_15_arguments_of_a_graph_with_their_default_do_not_count(world: &World) {
    let with = |payload: &str, defaults: &[&str]| {
        let mut graph = pair(world);
        let job = &mut graph.jobs[0];
        job.spec.payload = payload.as_bytes().to_vec();
        let defaults = defaults.iter().map(|name| (*name).to_owned()).collect();
        job.repeat_check = RepeatCheck::WithoutDefaults(defaults);
        graph
    };
    let first = insert(world, &with(r#"{"order":1}"#, &[])).await;
    let again = with(r#"{"currency": "CHF", "order": 1.0}"#, &["currency"]);
    assert_eq!(insert(world, &again).await, first);
    is_refused(world, with(r#"{"currency":"EUR","order":1}"#, &[]), first).await;
}

async fn is_refused(world: &World, graph: NewGraph, original: GroupId) {
    let (job, groups) = (root(&graph).uuid(), world.store.group(root(&graph)).await);
    assert_eq!(groups.expect("reads"), None);
    match world.store.insert_graph(graph.clone()).await {
        Err(InsertError::IdempotencyMismatch { job: it, key, original: by }) => {
            assert_eq!((it.uuid(), key.as_str(), by.uuid()), (job, "once", original.uuid()));
        }
        other => panic!("it is another graph, not {other:?}"),
    }
    assert_eq!(world.store.group(root(&graph)).await.expect("reads"), None);
    for job in &graph.jobs {
        assert_eq!(world.find(job.id).await, None);
    }
}

pub async fn s_03_same_graph_again_answers_with_the_first(world: &World) {
    let (first, again) = (pair(world), pair(world));
    assert_eq!(insert(world, &first).await, root(&first));
    assert_eq!(insert(world, &again).await, root(&first), "other ids, the same graph");
    assert_eq!(world.store.group(root(&again)).await.expect("reads"), None);
    assert_eq!(world.find(again.jobs[0].id).await, None);
    assert_eq!(world.counts().await.state(JobState::Pending), 2);
    assert_eq!(world.tally(root(&first)).await, [0, 0, 0, 0, 2]);
    assert_eq!(insert(world, &first).await, root(&first), "the first answer was lost");
}

pub async fn s_03_another_graph_under_the_key_is_refused(world: &World) {
    let first = pair(world);
    insert(world, &first).await;
    let others: [fn(&mut Sketch, [JobId; 2]); 6] = [
        |sketch, _| sketch.graph.groups[0].kind = GroupKind::Workflow,
        |sketch, _| sketch.graph.groups[0].name = "other".to_owned(),
        |sketch, _| sketch.graph.jobs[1].spec.payload = b"[]".to_vec(),
        |sketch, _| sketch.graph.jobs[1].spec.name = "bill".to_owned(),
        |sketch, _| sketch.graph.edges[0].when = EdgeTrigger::Always,
        |sketch, steps| sketch.step(steps[1], |step| step.name = Some("last".to_owned())),
    ];
    for change in others {
        is_refused(world, changed(world, change), root(&first)).await;
    }
    let mut longer = Sketch { graph: pair(world) };
    longer.add(Some(root(&longer.graph)), world.job());
    is_refused(world, longer.finish(), root(&first)).await;
    // Options are not compared, as for single jobs.
    let options = changed(world, |sketch, _| sketch.graph.jobs[0].spec.queue = "other".to_owned());
    assert_eq!(insert(world, &options).await, root(&first));
    assert_eq!(world.counts().await.state(JobState::Pending), 2);
}

pub async fn s_03_jobs_and_graphs_share_one_ledger(world: &World) {
    let graph = pair(world);
    insert(world, &graph).await;
    let refused = world.try_submit(world.job().idempotent("once")).await;
    let by_graph = |original: JobId| original.uuid() == root(&graph).uuid();
    assert!(
        matches!(refused, Err(InsertError::IdempotencyMismatch { original, .. }) if by_graph(original)),
        "{refused:?}"
    );
    let job = world.submit(world.job().idempotent("twice")).await;
    let mut other = pair(world);
    other.key = Some(key("twice"));
    let refused = world.store.insert_graph(other).await;
    assert!(
        matches!(refused, Err(InsertError::IdempotencyMismatch { original, .. }) if original == job),
        "{refused:?}"
    );
    // The key must not be used by a job of the same graph either.
    let mut own = changed(world, |sketch, _| {
        sketch.graph.jobs[1].spec.idempotency_key = Some("thrice".to_owned());
    });
    own.key = Some(key("thrice"));
    let refused = world.store.insert_graph(own).await;
    assert!(matches!(refused, Err(InsertError::IdempotencyMismatch { .. })), "{refused:?}");
    world.submit(world.job().idempotent("thrice")).await;
}

pub async fn s_03_key_of_a_graph_is_unique_within_its_tenant(world: &World) {
    let of = |tenant: Option<&str>| {
        let mut graph = pair(world);
        graph.key = Some(GraphKey { tenant: tenant.map(str::to_owned), ..key("once") });
        graph
    };
    let (without, acme, bolt) = (of(None), of(Some("acme")), of(Some("bolt")));
    for graph in [&without, &acme, &bolt] {
        assert_eq!(insert(world, graph).await, root(graph));
    }
    assert_eq!(insert(world, &of(Some("acme"))).await, root(&acme));
    assert_eq!(insert(world, &of(None)).await, root(&without));
}

pub async fn s_03_refused_graph_leaves_its_key_free(world: &World) {
    let holder = world.submit(world.job().key("taken")).await;
    let taken = |sketch: &mut Sketch, _: [JobId; 2]| {
        sketch.graph.jobs[1].spec.business_key = Some("taken".to_owned());
    };
    let refused = world.store.insert_graph(changed(world, taken)).await;
    assert!(matches!(refused, Err(InsertError::BusinessKeysTaken(_))), "{refused:?}");
    world.cancel(holder).await;
    let again = changed(world, taken);
    assert_eq!(insert(world, &again).await, root(&again));
}

pub async fn s_03_key_outlives_the_graph(world: &World) {
    let node = world.node().await;
    let first = pair(world);
    insert(world, &first).await;
    for _ in 0..2 {
        world.apply(node.claim_one().await.succeed()).await;
    }
    world.pass(secs(2)).await;
    assert_eq!(world.purge(JobState::Succeeded, secs(1)).await, 2);
    world.purge(JobState::Succeeded, secs(1)).await;
    assert_eq!(world.store.group(root(&first)).await.expect("reads"), None, "it is gone");
    assert_eq!(insert(world, &pair(world)).await, root(&first));
    assert_eq!(world.counts().await.state(JobState::Pending), 0);
}

pub async fn s_03_of_many_submitters_one_makes_the_graph(world: &World) {
    for round in 0..5 {
        let graphs: Vec<_> = (0..8)
            .map(|_| {
                let mut graph = pair(world);
                graph.key = Some(key(&format!("race-{round}")));
                graph
            })
            .collect();
        let racing: Vec<_> = graphs
            .iter()
            .map(|graph| {
                let (store, graph) = (world.store.clone(), graph.clone());
                tokio::spawn(async move { store.insert_graph(graph).await })
            })
            .collect();
        let (mut made, mut reported) = (Vec::new(), Vec::new());
        for (graph, racing) in graphs.iter().zip(racing) {
            match racing.await.expect("runs").expect("inserted").original {
                None => made.push(root(graph)),
                Some(original) => reported.push(original),
            }
        }
        assert_eq!((made.len(), reported.len()), (1, 7), "exactly one inserts");
        assert!(reported.iter().all(|original| *original == made[0]), "and all hear of it");
        assert_eq!(world.counts().await.state(JobState::Pending), 2 * (round + 1));
    }
}
