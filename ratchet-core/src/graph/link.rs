//! What follows for each point from the edges of a new graph: what it waits for, and whether something waits for it.

use std::collections::BTreeMap;

use crate::model::{
    Due, Edge, GroupCounts, GroupId, GroupState, JobSpec, NewGraph, NewJob, Point, Step, Wait,
    WaitMode, When,
};

/// Fills in what can be derived: waits, marks and totals. A wait that is already there says its mode; edges are numbered
/// in the order in which they stand. Owners stand before their members.
pub fn link(graph: &mut NewGraph) {
    let mut incoming = BTreeMap::<Point, u32>::new();
    let mut outgoing = BTreeMap::<Point, Vec<&When>>::new();
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
        let me = Point::Group(group.id);
        group.wait = wait(me, group.wait, group.owner, &waiting);
        group.state = if group.wait.is_some() { GroupState::Waiting } else { GroupState::Running };
        group.edges = outgoing.contains_key(&me);
        group.counts = GroupCounts::of(totals.get(&group.id).copied().unwrap_or(0));
        waiting.insert(group.id, group.wait.is_some());
    }
    for job in &mut graph.jobs {
        let me = Point::Job(job.id);
        let owner = job.owner();
        let edges = outgoing.get(&me);
        let step = step_of(&mut job.spec);
        step.wait = wait(me, step.wait, owner, &waiting);
        // Nothing releases it, so its delay counts from now.
        if step.wait.is_none() && !step.delay.is_zero() && job.due == Due::Now {
            job.due = Due::In(step.delay);
        }
        step.edges = edges.is_some();
        let mut conditions: Vec<_> = edges
            .into_iter()
            .flatten()
            .filter_map(|when| match when {
                When::Condition(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        conditions.sort_unstable();
        conditions.dedup();
        step.conditions = conditions;
    }
}

fn number(edges: &mut [Edge]) {
    let mut next = BTreeMap::<Point, u32>::new();
    for edge in edges {
        let ordinal = next.entry(edge.parent).or_default();
        edge.ordinal = *ordinal;
        *ordinal += 1;
    }
}

fn step_of(spec: &mut JobSpec) -> &mut Step {
    spec.step.get_or_insert_default()
}
