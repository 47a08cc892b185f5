//! Derives the waits, counts and edge numbers of a new graph from its edges.

use std::collections::BTreeMap;

use crate::model::{
    Due, Edge, EdgeTrigger, GroupCounts, GroupId, GroupState, JobSpec, NewGraph, NewJob, Step,
    Vertex, Wait, WaitMode,
};

/// Fills in the derived fields: waits, edge marks and totals. If a vertex already has a wait, its mode is kept. Edges
/// are numbered in the given order. Owners must precede their members.
pub fn link(graph: &mut NewGraph) {
    let mut incoming = BTreeMap::<Vertex, u32>::new();
    let mut outgoing = BTreeMap::<Vertex, Vec<&EdgeTrigger>>::new();
    number(&mut graph.edges);
    for edge in &graph.edges {
        *incoming.entry(edge.child).or_default() += 1;
        outgoing.entry(edge.parent).or_default().push(&edge.when);
    }
    let mut totals = BTreeMap::<GroupId, u64>::new();
    let owners = graph.groups.iter().filter_map(|group| group.owner);
    for owner in owners.chain(graph.jobs.iter().filter_map(NewJob::owner)) {
        *totals.entry(owner).or_default() += 1;
    }
    let mut waiting = BTreeMap::<GroupId, bool>::new();
    let wait = |point, mode: Option<Wait>, owner: Option<GroupId>, waiting: &BTreeMap<_, bool>| {
        let mode = mode.map_or(WaitMode::All, |wait| wait.mode);
        match incoming.get(&point) {
            Some(edges) => Some(Wait::new(mode, *edges)),
            None => owner
                .is_some_and(|owner| waiting.get(&owner).copied().unwrap_or_default())
                .then(Wait::for_group),
        }
    };
    for group in &mut graph.groups {
        let me = Vertex::Group(group.id);
        group.wait = wait(me, group.wait, group.owner, &waiting);
        group.state = if group.wait.is_some() { GroupState::Waiting } else { GroupState::Running };
        group.edges = outgoing.contains_key(&me);
        group.counts = GroupCounts::of(totals.get(&group.id).copied().unwrap_or(0));
        waiting.insert(group.id, group.wait.is_some());
    }
    for job in &mut graph.jobs {
        let me = Vertex::Job(job.id);
        let owner = job.owner();
        let edges = outgoing.get(&me);
        let step = step_of(&mut job.spec);
        step.wait = wait(me, step.wait, owner, &waiting);
        // The job is never released, so its delay starts now.
        if step.wait.is_none() && !step.delay.is_zero() && job.due == Due::Now {
            job.due = Due::In(step.delay);
        }
        step.edges = edges.is_some();
        let mut conditions: Vec<_> = edges
            .into_iter()
            .flatten()
            .filter_map(|when| match when {
                EdgeTrigger::Condition(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        conditions.sort_unstable();
        conditions.dedup();
        step.conditions = conditions;
    }
}

fn number(edges: &mut [Edge]) {
    let mut next = BTreeMap::<Vertex, u32>::new();
    for edge in edges {
        let ordinal = next.entry(edge.parent).or_default();
        edge.ordinal = *ordinal;
        *ordinal += 1;
    }
}

fn step_of(spec: &mut JobSpec) -> &mut Step {
    spec.step.get_or_insert_default()
}
