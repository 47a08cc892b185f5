//! What can be wrong with a graph, found before anything of it is inserted.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{GroupKind, NewGraph, Point};

/// A graph that cannot be submitted; nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A chain or workflow without steps.
    #[error("{kind} `{name}` has no steps")]
    Empty {
        /// What it is.
        kind: GroupKind,
        /// What it is called.
        name: String,
    },
    /// More edges than a store can take in one commit.
    #[error(
        "{kind} `{name}` has more than {limit} edges; if many steps wait for many others, put those before into a batch \
         and let the others wait for the batch: it is one edge each"
    )]
    TooManyEdges {
        /// What it is.
        kind: GroupKind,
        /// What it is called.
        name: String,
        /// The limit.
        limit: usize,
    },
    /// Two steps of one name.
    #[error("workflow `{workflow}` has two steps named `{step}`")]
    DuplicateStep {
        /// The workflow.
        workflow: String,
        /// The name.
        step: String,
    },
    /// A step waits for one that is not there.
    #[error(
        "step `{step}` of workflow `{workflow}` waits for `{wanted}`, which is not there; it has {}",
        .known.join(", ")
    )]
    UnknownStep {
        /// The workflow.
        workflow: String,
        /// The step that waits.
        step: String,
        /// What it waits for.
        wanted: String,
        /// The steps there are.
        known: Vec<String>,
    },
    /// Steps that wait for one another.
    #[error("the steps {} wait for one another in a circle: none of them could ever begin", .steps.join(", "))]
    Cycle {
        /// The steps.
        steps: Vec<String>,
    },
    /// A step takes what its parent does not return.
    #[error(
        "step `{step}` takes `{takes}` from `{parent}` (argument `{argument}`), which returns `{returns}`"
    )]
    TypeMismatch {
        /// The step.
        step: String,
        /// Its argument.
        argument: String,
        /// The type it takes.
        takes: String,
        /// The parent.
        parent: String,
        /// The type that returns.
        returns: String,
    },
    /// A step takes the output of a parent, and it is not clear which.
    #[error("step `{step}` takes an output (argument `{argument}`): {why}")]
    NoInput {
        /// The step.
        step: String,
        /// Its argument.
        argument: String,
        /// What is wrong.
        why: String,
    },
}

/// Refuses steps that wait for one another.
///
/// A group is two points here: its begin comes before its members, its end after them.
pub fn check(graph: &NewGraph) -> Result<(), GraphError> {
    let mut links: BTreeMap<Moment, BTreeSet<Moment>> = BTreeMap::new();
    let mut link = |from, to| {
        links.entry(to).or_default();
        links.entry(from).or_default().insert(to);
    };
    for group in &graph.groups {
        let me = Point::Group(group.id);
        link(Moment::begin(me), Moment::end(me));
        if let Some(owner) = group.owner.map(Point::Group) {
            link(Moment::begin(owner), Moment::begin(me));
            link(Moment::end(me), Moment::end(owner));
        }
    }
    let tied: BTreeSet<_> = graph.edges.iter().flat_map(|edge| [edge.parent, edge.child]).collect();
    for job in &graph.jobs {
        let me = Point::Job(job.id);
        // Between the begin and the end of its owner, which are linked, it adds nothing.
        if !tied.contains(&me) {
            continue;
        }
        link(Moment::begin(me), Moment::end(me));
        if let Some(owner) = job.owner().map(Point::Group) {
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

/// The begin or the end of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(Point, bool);

impl Moment {
    fn begin(point: Point) -> Self {
        Self(point, false)
    }

    fn end(point: Point) -> Self {
        Self(point, true)
    }
}

/// What is left when everything that waits for nothing has been taken away, again and again, from both sides.
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
    let jobs = graph.jobs.iter().filter(|job| circle.contains(&Moment::begin(Point::Job(job.id))));
    let jobs = jobs.map(|job| {
        let step = job.spec.step.as_ref().and_then(|step| step.name.clone());
        step.unwrap_or_else(|| job.spec.name.clone())
    });
    let groups =
        graph.groups.iter().filter(|group| circle.contains(&Moment::begin(Point::Group(group.id))));
    let groups = groups.map(|group| group.step.clone().unwrap_or_else(|| group.name.clone()));
    jobs.chain(groups).map(|name| format!("`{name}`")).collect()
}
