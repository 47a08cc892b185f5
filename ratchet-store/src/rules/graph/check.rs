//! Validation of a graph before it is inserted.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{GroupKind, NewGraph, Vertex};

/// The error returned when a graph cannot be submitted. No part of it was stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A chain or workflow has no steps.
    #[error("{kind} `{name}` has no steps")]
    Empty {
        /// The kind of group.
        kind: GroupKind,
        /// The name of the group.
        name: String,
    },
    /// The graph has more edges than a store accepts in one commit.
    #[error(
        "{kind} `{name}` has more than {limit} edges; if many steps wait for many others, put those before into a batch \
         and let the others wait for the batch: it is one edge each"
    )]
    TooManyEdges {
        /// The kind of group.
        kind: GroupKind,
        /// The name of the group.
        name: String,
        /// The maximum number of edges.
        limit: usize,
    },
    /// Two steps have the same name.
    #[error("workflow `{workflow}` has two steps named `{step}`")]
    DuplicateStep {
        /// The name of the workflow.
        workflow: String,
        /// The name of the steps.
        step: String,
    },
    /// A step waits for a step that does not exist.
    #[error(
        "step `{step}` of workflow `{workflow}` waits for `{wanted}`, which is not there; it has {}",
        .known.join(", ")
    )]
    UnknownStep {
        /// The name of the workflow.
        workflow: String,
        /// The name of the step that waits.
        step: String,
        /// The name of the missing step.
        wanted: String,
        /// The names of all steps.
        known: Vec<String>,
    },
    /// Steps depend on each other in a cycle.
    #[error("the steps {} wait for one another in a circle: none of them could ever begin", .steps.join(", "))]
    Cycle {
        /// The names of the steps.
        steps: Vec<String>,
    },
    /// The input of a step does not match the output of its parent.
    #[error(
        "step `{step}` takes `{takes}` from `{parent}` (argument `{argument}`), which returns `{returns}`"
    )]
    TypeMismatch {
        /// The name of the step.
        step: String,
        /// The name of the `#[input]` argument.
        argument: String,
        /// The type of the argument.
        takes: String,
        /// The name of the parent.
        parent: String,
        /// The type that the parent returns.
        returns: String,
    },
    /// The source of a step's input is missing or ambiguous.
    #[error("step `{step}` takes an output (argument `{argument}`): {why}")]
    NoInput {
        /// The name of the step.
        step: String,
        /// The name of the `#[input]` argument.
        argument: String,
        /// The reason, for the error message.
        why: String,
    },
    /// An input of a step is bound to two steps.
    #[error(
        "step `{step}` takes one output (argument `{argument}`), and the workflow binds it twice; bind it once, or take \
         a list with `#[input(all)]`"
    )]
    InputBoundTwice {
        /// The name of the step.
        step: String,
        /// The name of the `#[input]` argument.
        argument: String,
    },
    /// A step runs otherwise, but there is no condition that could hold instead.
    #[error(
        "step `{step}` runs if no condition on the output of `{parent}` holds, and no step has one; add a step with \
         `after_if`, or use `after`"
    )]
    OtherwiseWithoutCondition {
        /// The name of the step.
        step: String,
        /// The name of its parent.
        parent: String,
    },
}

/// Returns an error if the graph contains a cycle.
///
/// A group is modeled as two moments: it begins before its members and ends after them.
pub fn check(graph: &NewGraph) -> Result<(), GraphError> {
    let mut links: BTreeMap<Moment, BTreeSet<Moment>> = BTreeMap::new();
    let mut link = |from, to| {
        links.entry(to).or_default();
        links.entry(from).or_default().insert(to);
    };
    for group in &graph.groups {
        let me = Vertex::Group(group.id);
        link(Moment::begin(me), Moment::end(me));
        if let Some(owner) = group.owner.map(Vertex::Group) {
            link(Moment::begin(owner), Moment::begin(me));
            link(Moment::end(me), Moment::end(owner));
        }
    }
    let tied: BTreeSet<_> = graph.edges.iter().flat_map(|edge| [edge.parent, edge.child]).collect();
    for job in &graph.jobs {
        let me = Vertex::Job(job.id);
        // A job without edges lies between the begin and the end of its owner and cannot be part of a cycle.
        if !tied.contains(&me) {
            continue;
        }
        link(Moment::begin(me), Moment::end(me));
        if let Some(owner) = job.owner().map(Vertex::Group) {
            link(Moment::begin(owner), Moment::begin(me));
            link(Moment::end(me), Moment::end(owner));
        }
    }
    for edge in &graph.edges {
        link(Moment::end(edge.parent), Moment::begin(edge.child));
    }
    let circle = circle(&links);
    if circle.is_empty() {
        return Ok(());
    }
    Err(GraphError::Cycle { steps: names(graph, &circle) })
}

/// The begin (`false`) or the end (`true`) of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(Vertex, bool);

impl Moment {
    fn begin(point: Vertex) -> Self {
        Self(point, false)
    }

    fn end(point: Vertex) -> Self {
        Self(point, true)
    }
}

/// Returns the moments on cycles and on paths between them. Repeatedly removes moments without predecessors, then
/// moments without successors.
fn circle(links: &BTreeMap<Moment, BTreeSet<Moment>>) -> BTreeSet<Moment> {
    let mut back: BTreeMap<Moment, BTreeSet<Moment>> = BTreeMap::new();
    for (from, to) in links {
        back.entry(*from).or_default();
        for to in to {
            back.entry(*to).or_default().insert(*from);
        }
    }
    let mut left: BTreeSet<_> = links.keys().copied().collect();
    for (ahead, behind) in [(links, &back), (&back, links)] {
        let alive = |moment: &Moment, left: &BTreeSet<Moment>| {
            behind[moment].iter().filter(|other| left.contains(other)).count()
        };
        let mut waiting: BTreeMap<_, _> =
            left.iter().map(|moment| (*moment, alive(moment, &left))).collect();
        let mut free: Vec<_> =
            waiting.iter().filter(|(_, count)| **count == 0).map(|(moment, _)| *moment).collect();
        while let Some(moment) = free.pop() {
            left.remove(&moment);
            for next in &ahead[&moment] {
                if let Some(count) = waiting.get_mut(next).filter(|count| **count > 0) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(*next);
                    }
                }
            }
        }
    }
    left
}

fn names(graph: &NewGraph, circle: &BTreeSet<Moment>) -> Vec<String> {
    let jobs = graph.jobs.iter().filter(|job| circle.contains(&Moment::begin(Vertex::Job(job.id))));
    let jobs = jobs.map(|job| {
        let step = job.spec.step.as_ref().and_then(|step| step.name.clone());
        step.unwrap_or_else(|| job.spec.name.clone())
    });
    let groups = graph
        .groups
        .iter()
        .filter(|group| circle.contains(&Moment::begin(Vertex::Group(group.id))));
    let groups = groups.map(|group| group.step.clone().unwrap_or_else(|| group.name.clone()));
    jobs.chain(groups).map(|name| format!("`{name}`")).collect()
}
