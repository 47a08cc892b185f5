//! Generates random graphs and predicts how they must end. The prediction reevaluates the whole graph until nothing
//! changes. It is slow but simple, and independent of the algorithm that the stores use.

use std::collections::BTreeMap;

use fastrand::Rng;
use ratchet_store::model::{
    CancelCause, Edge, EdgeTrigger, GroupId, GroupKind, JobId, NewGraph, Vertex, WaitMode,
};

use crate::World;
use crate::fixture::Sketch;

/// The end of a job or group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It ran and succeeded.
    Succeeded,
    /// It ran and failed permanently.
    Failed,
    /// It was canceled because something it depends on failed or was canceled.
    Canceled,
    /// It is on a branch that was not taken.
    Skipped,
}

/// Generates a random graph with nested groups and every kind of edge.
pub(super) fn sketch(world: &World, rng: &mut Rng, jobs: usize) -> NewGraph {
    let mut sketch = Sketch::new();
    let flow = sketch.group(world, GroupKind::Workflow);
    // The vertices of each group, in order. Edges only point forward, so there are no cycles.
    let mut inside: BTreeMap<GroupId, Vec<Vertex>> = BTreeMap::from([(flow, Vec::new())]);
    let mut groups = vec![flow];
    for _ in 0..jobs {
        let group = groups[rng.usize(..groups.len())];
        let point = if rng.u8(..6) == 0 && groups.len() < 6 {
            let kind = [GroupKind::Chain, GroupKind::Batch, GroupKind::Workflow][rng.usize(..3)];
            let inner = sketch.group_in(world, kind, Some(group));
            inside.insert(inner, Vec::new());
            groups.push(inner);
            Vertex::Group(inner)
        } else {
            let id = sketch.add(Some(group), world.job());
            if rng.bool() {
                sketch.any(id);
            }
            if rng.u8(..4) == 0 {
                sketch.step(id, |step| step.first_match = true);
            }
            Vertex::Job(id)
        };
        let before = inside.get_mut(&group).expect("a group");
        for _ in 0..rng.usize(..3) {
            if before.is_empty() {
                break;
            }
            let parent = before[rng.usize(..before.len())];
            let when = match (rng.u8(..7), parent) {
                (0, _) => EdgeTrigger::Failure,
                (1, _) => EdgeTrigger::Always,
                (2, Vertex::Job(_)) => {
                    EdgeTrigger::Condition(["yes", "no"][rng.usize(..2)].to_owned())
                }
                (2, Vertex::Group(_)) => EdgeTrigger::Rate(rng.u32(..1_000_000)),
                (3, Vertex::Job(_)) => EdgeTrigger::Otherwise,
                _ => EdgeTrigger::Success,
            };
            sketch.edge(parent, point, when);
        }
        before.push(point);
    }
    sketch.finish()
}

/// Predicts the end of every job and group. `fails` states which jobs fail if they run.
pub fn predict(graph: &NewGraph, fails: impl Fn(JobId) -> bool) -> BTreeMap<Vertex, Fate> {
    predict_told(graph, fails, &BTreeMap::new())
}

/// Like [`predict`], but also takes the observed ends of vertices that never began.
///
/// A vertex may have two dead edges: one because its parent was canceled, one because its branch was not taken. The
/// first of them determines how it ends, and so whether its group succeeds. Their order depends on events, so
/// the observed end is used if one of the edges agrees with it.
pub fn predict_told(
    graph: &NewGraph,
    fails: impl Fn(JobId) -> bool,
    reported: &BTreeMap<Vertex, Fate>,
) -> BTreeMap<Vertex, Fate> {
    let mut fates = BTreeMap::new();
    let mut begun = BTreeMap::new();
    loop {
        let before = (fates.len(), begun.len());
        for group in &graph.groups {
            let me = Vertex::Group(group.id);
            let mode = WaitMode::All;
            match begins(graph, me, group.owner, mode, &fates, &begun, reported.get(&me).copied()) {
                Some(Ok(())) => drop(begun.insert(me, Ok(()))),
                Some(Err(fate)) => drop(begun.insert(me, Err(fate))),
                None => {}
            }
            if let Some(fate) = group_end(graph, group.id, &fates, &begun) {
                fates.insert(me, fate);
            }
        }
        for job in &graph.jobs {
            let me = Vertex::Job(job.id);
            let mode = job.spec.step.as_ref().and_then(|step| step.wait).map(|wait| wait.mode);
            let mode = mode.unwrap_or_default();
            match begins(graph, me, job.owner(), mode, &fates, &begun, reported.get(&me).copied()) {
                Some(Ok(())) if fails(job.id) => drop(fates.insert(me, Fate::Failed)),
                Some(Ok(())) => drop(fates.insert(me, Fate::Succeeded)),
                Some(Err(fate)) => drop(fates.insert(me, fate)),
                None => {}
            }
        }
        if before == (fates.len(), begun.len()) {
            return fates;
        }
    }
}

type Begun = BTreeMap<Vertex, Result<(), Fate>>;

/// Returns whether a vertex begins or never will; `None` if this is not known yet.
fn begins(
    graph: &NewGraph,
    point: Vertex,
    owner: Option<GroupId>,
    mode: WaitMode,
    fates: &BTreeMap<Vertex, Fate>,
    begun: &Begun,
    reported: Option<Fate>,
) -> Option<Result<(), Fate>> {
    match owner.map(|owner| begun.get(&Vertex::Group(owner)).copied()) {
        // The members of a group that never begins end with the group, regardless of their own edges.
        Some(Some(Err(fate))) => return Some(Err(fate)),
        Some(None) => return None,
        Some(Some(Ok(()))) | None => {}
    }
    let edges: Vec<_> = graph.edges.iter().filter(|edge| edge.child == point).collect();
    let resolved: Vec<_> = edges.iter().map(|edge| resolve(graph, edge, fates, begun)).collect();
    let fired = resolved.iter().filter(|it| **it == Some(Ok(()))).count();
    let dead: Vec<_> = resolved.iter().filter_map(|it| it.and_then(Result::err)).collect();
    // Of several dead edges, use the observed one. Wait until all edges are resolved before falling back to the first.
    let known = fired + dead.len() == edges.len();
    let death = || match reported.filter(|reported| dead.contains(reported)) {
        Some(reported) => Some(Err(reported)),
        None if reported.is_some() && !known => None,
        None => Some(Err(dead[0])),
    };
    match mode {
        _ if edges.is_empty() => Some(Ok(())),
        WaitMode::All if fired == edges.len() => Some(Ok(())),
        WaitMode::Any if fired > 0 => Some(Ok(())),
        // The cause depends on the order of events, but the vertex never begins in any case.
        WaitMode::All if !dead.is_empty() => death(),
        WaitMode::Any if dead.len() == edges.len() => death(),
        _ => None,
    }
}

fn resolve(
    graph: &NewGraph,
    edge: &Edge,
    fates: &BTreeMap<Vertex, Fate>,
    begun: &Begun,
) -> Option<Result<(), Fate>> {
    let fate = *fates.get(&edge.parent)?;
    // A group that began was not canceled itself, even if its members were.
    let came_to_its_end = begun.get(&edge.parent) == Some(&Ok(()));
    let fires = |edge: &Edge| match (fate, &edge.when) {
        (Fate::Canceled | Fate::Skipped, _) if !came_to_its_end => Err(fate),
        (Fate::Succeeded, EdgeTrigger::Success | EdgeTrigger::Always)
        | (Fate::Failed, EdgeTrigger::Failure | EdgeTrigger::Always)
        | (Fate::Canceled, EdgeTrigger::Always) => Ok(()),
        (Fate::Succeeded, EdgeTrigger::Condition(name)) if name == "yes" => Ok(()),
        (Fate::Succeeded, EdgeTrigger::Otherwise) => {
            let yes = EdgeTrigger::Condition("yes".to_owned());
            let held =
                graph.edges.iter().any(|other| other.parent == edge.parent && other.when == yes);
            if held { Err(Fate::Skipped) } else { Ok(()) }
        }
        (_, EdgeTrigger::Rate(rate)) => {
            let children = members(graph, edge.parent.group().expect("only groups have rates"));
            let well = children.iter().filter(|it| fates[it] == Fate::Succeeded).count();
            let enough = well as u64 * 1_000_000 >= u64::from(*rate) * children.len() as u64;
            if enough { Ok(()) } else { Err(Fate::Canceled) }
        }
        (Fate::Succeeded, _) | (Fate::Canceled, EdgeTrigger::Failure) => Err(Fate::Skipped),
        (Fate::Failed | Fate::Canceled | Fate::Skipped, _) => Err(Fate::Canceled),
    };
    let first_match = graph.jobs.iter().any(|job| {
        Vertex::Job(job.id) == edge.parent
            && job.spec.step.as_ref().is_some_and(|it| it.first_match)
    });
    let earlier = graph
        .edges
        .iter()
        .filter(|other| other.parent == edge.parent && other.ordinal < edge.ordinal);
    match fires(edge) {
        Ok(()) if first_match && earlier.into_iter().any(|other| fires(other).is_ok()) => {
            Some(Err(Fate::Skipped))
        }
        answer => Some(answer),
    }
}

fn members(graph: &NewGraph, group: GroupId) -> Vec<Vertex> {
    let jobs = graph.jobs.iter().filter(|job| job.owner() == Some(group));
    let groups = graph.groups.iter().filter(|inner| inner.owner == Some(group));
    jobs.map(|job| Vertex::Job(job.id)).chain(groups.map(|inner| Vertex::Group(inner.id))).collect()
}

fn group_end(
    graph: &NewGraph,
    group: GroupId,
    fates: &BTreeMap<Vertex, Fate>,
    begun: &Begun,
) -> Option<Fate> {
    let began = *begun.get(&Vertex::Group(group))?;
    let ends: Option<Vec<_>> =
        members(graph, group).iter().map(|it| fates.get(it).copied()).collect();
    let ends = ends?;
    Some(match began {
        Err(fate) => fate,
        Ok(()) if ends.contains(&Fate::Failed) => Fate::Failed,
        Ok(()) if ends.contains(&Fate::Canceled) => Fate::Canceled,
        Ok(()) => Fate::Succeeded,
    })
}

/// Converts the cause of a cancellation to a fate.
pub fn fate(cause: Option<CancelCause>) -> Fate {
    if cause == Some(CancelCause::NotTaken) { Fate::Skipped } else { Fate::Canceled }
}
