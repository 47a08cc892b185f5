//! Runs random graphs and compares the results with the prediction.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use ratchet_store::model::{Claimed, GroupState, JobId, JobState, NewGraph, Vertex};

use crate::World;
use crate::composition::predict::{Fate, fate, predict, sketch};
use crate::fixture::{Node, RunExt};

async fn judge(world: &World) -> Node {
    world.node().await.knowing(&[("mail", 1), ("?yes", 1), ("?no", 1)])
}

fn end(run: &Claimed, fails: bool) -> ratchet_store::model::Settlement {
    let mut settlement = if fails { run.fail() } else { run.succeed() };
    settlement.condition_results = vec![("yes".to_owned(), true), ("no".to_owned(), false)];
    settlement
}

/// Runs all jobs in a random order. Some runs are settled together.
async fn play(world: &World, node: &Node, rng: &mut Rng, fails: &BTreeSet<JobId>) {
    let mut running = Vec::new();
    loop {
        running.extend(node.claim(rng.u32(1..6)).await);
        if running.is_empty() {
            return;
        }
        rng.shuffle(&mut running);
        let ending = running.split_off(rng.usize(..running.len()));
        let ending = ending.iter().map(|run| end(run, fails.contains(&run.id()))).collect();
        for settled in world.settle_all(ending).await {
            assert!(matches!(settled, ratchet_store::model::Settled::Applied(_)));
        }
    }
}

async fn compare(world: &World, graph: &NewGraph, fates: &BTreeMap<Vertex, Fate>, seed: u64) {
    for job in &graph.jobs {
        let record = world.get(job.id).await;
        let real = match record.state {
            JobState::Succeeded => Fate::Succeeded,
            JobState::Failed => Fate::Failed,
            JobState::Canceled => fate(record.canceled),
            other => panic!("seed {seed}: job {} is {other}, of {graph:#?}", job.id),
        };
        assert!(alike(real, fates[&Vertex::Job(job.id)]), "seed {seed}: {record:#?} of {graph:#?}");
        assert!(record.run <= 1, "seed {seed}: ran {} times", record.run);
    }
    for group in &graph.groups {
        let record = world.group(group.id).await;
        let real = match record.state {
            GroupState::Succeeded => Fate::Succeeded,
            GroupState::Failed => Fate::Failed,
            GroupState::Canceled => fate(record.canceled),
            other => panic!("seed {seed}: group {} is {other}", group.id),
        };
        let expected = fates[&Vertex::Group(group.id)];
        assert!(alike(real, expected), "seed {seed}: {expected:?} but {record:#?} of {graph:#?}");
        assert_eq!(record.counts.ended(), record.counts.total, "seed {seed}");
    }
}

/// Treats canceled and skipped as equal. If a vertex has several reasons not to begin, the first one is stored, and
/// which one is first depends on the order of events.
fn alike(a: Fate, b: Fate) -> bool {
    let idle = |fate| matches!(fate, Fate::Canceled | Fate::Skipped);
    a == b || (idle(a) && idle(b))
}

/// Returns whether the prediction covers every job and group.
fn is_settled(graph: &NewGraph, fates: &BTreeMap<Vertex, Fate>) -> bool {
    fates.len() == graph.jobs.len() + graph.groups.len()
}

/// Returns the seeds that the harness plays, evenly spread, because later ones have larger graphs.
fn rounds(world: &World, all: std::ops::Range<u64>) -> impl Iterator<Item = u64> {
    let count = usize::try_from(all.end - all.start).unwrap_or(usize::MAX);
    all.step_by(count / world.harness().rounds(count).max(1))
}

pub async fn w_05_random_graphs_end_as_predicted(world: &World) {
    let node = judge(world).await;
    for seed in rounds(world, 0..60) {
        let mut rng = Rng::with_seed(seed);
        let graph = sketch(world, &mut rng, 3 + usize::try_from(seed).expect("small") / 2);
        let fails: BTreeSet<_> =
            graph.jobs.iter().map(|job| job.id).filter(|_| rng.u8(..5) == 0).collect();
        let fates = predict(&graph, |id| fails.contains(&id));
        assert!(is_settled(&graph, &fates), "seed {seed}: {fates:#?} of {graph:#?}");
        world.store.insert_graph(graph.clone()).await.expect("inserts");
        play(world, &node, &mut rng, &fails).await;
        compare(world, &graph, &fates, seed).await;
    }
}

pub async fn w_01_retried_random_graphs_end_as_if_nothing_had_failed(world: &World) {
    let node = judge(world).await;
    for seed in rounds(world, 100..140) {
        let mut rng = Rng::with_seed(seed);
        let mut graph = sketch(world, &mut rng, 12);
        // A fired edge is not reverted. Without failure edges, a late success has the same result as an early one.
        for edge in &mut graph.edges {
            if !matches!(edge.when, ratchet_store::model::EdgeTrigger::Condition(_)) {
                edge.when = ratchet_store::model::EdgeTrigger::Success;
            }
        }
        let mut failing: BTreeSet<_> =
            graph.jobs.iter().map(|job| job.id).filter(|_| rng.u8(..4) == 0).collect();
        world.store.insert_graph(graph.clone()).await.expect("inserts");
        loop {
            play(world, &node, &mut rng, &failing).await;
            let mut failed = Vec::new();
            for job in &graph.jobs {
                if world.state(job.id).await == JobState::Failed {
                    failed.push(job.id);
                }
            }
            if failed.is_empty() {
                break;
            }
            rng.shuffle(&mut failed);
            for id in failed {
                failing.remove(&id);
                world.retry(id).await;
            }
        }
        let fates = predict(&graph, |id| failing.contains(&id));
        for job in &graph.jobs {
            let state = world.state(job.id).await;
            let expected = fates[&Vertex::Job(job.id)];
            let same = match state {
                JobState::Succeeded => expected == Fate::Succeeded,
                JobState::Canceled => matches!(expected, Fate::Canceled | Fate::Skipped),
                _ => false,
            };
            assert!(same, "seed {seed}: job {} is {state}, not {expected:?}: {graph:#?}", job.id);
        }
        for group in &graph.groups {
            let record = world.group(group.id).await;
            assert!(record.state.is_ended(), "seed {seed}: {record:#?}");
            assert_eq!((record.counts.failed, record.counts.ended()), (0, record.counts.total));
        }
    }
}
