//! Resolves the steps of a complete workflow into edges.

use std::collections::{BTreeMap, BTreeSet};

use super::wiring::{Incoming, Parent};
use super::{StepPlan, Workflow};
use ratchet_store::model::{EdgeTrigger, GroupKind, Vertex, Wait, WaitMode};
use ratchet_store::rules::graph::GraphError;

/// The edge from a parent. Steps are indexes into `steps`.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) parent: usize,
    pub(super) when: EdgeTrigger,
    /// Whether the parent is only waited for, and its output may have any type.
    pub(super) any_type: bool,
}

impl Workflow<'_> {
    /// Adds the edges and inputs of all steps to the draft.
    pub(super) fn wire(&mut self) -> Result<(), GraphError> {
        let workflow = self.draft.root().name.clone();
        if self.steps.is_empty() {
            return Err(GraphError::Empty { kind: GroupKind::Workflow, name: workflow });
        }
        let finder = Finder::new(self, workflow);
        let mut parents = finder.declared()?;
        let sources = finder.bound(&mut parents)?;
        self.check_otherwise(&parents)?;
        for (step, parents) in self.steps.iter().zip(&parents) {
            for link in parents {
                let from = self.steps[link.parent].point;
                self.draft.edge(from, step.point, link.when.clone());
            }
            let mode = if step.any { WaitMode::Any } else { WaitMode::All };
            match step.point {
                Vertex::Job(id) => {
                    if let Some(planned) = self.draft.step(id) {
                        planned.wait = Some(Wait::new(mode, 0));
                        planned.first_match = step.first_match;
                    }
                }
                Vertex::Group(id) => {
                    let group = self.draft.graph.groups.iter_mut().find(|group| group.id == id);
                    if let Some(group) = group {
                        group.wait = Some(Wait::new(mode, 0));
                    }
                }
            }
        }
        for (step, sources) in sources.iter().enumerate() {
            self.wire_inputs(step, &parents, sources)?;
        }
        Ok(())
    }

    /// Refuses an `otherwise` after a step that has no conditions: it would always run.
    fn check_otherwise(&self, parents: &[Vec<Link>]) -> Result<(), GraphError> {
        let links = || parents.iter().flatten();
        let conditional: BTreeSet<_> = links()
            .filter(|link| matches!(link.when, EdgeTrigger::Condition(_)))
            .map(|link| link.parent)
            .collect();
        for (step, links) in self.steps.iter().zip(parents) {
            let unconditional = |link: &&Link| {
                link.when == EdgeTrigger::Otherwise && !conditional.contains(&link.parent)
            };
            if let Some(link) = links.iter().find(unconditional) {
                return Err(GraphError::OtherwiseWithoutCondition {
                    step: step.name.clone(),
                    parent: self.steps[link.parent].name.clone(),
                });
            }
        }
        Ok(())
    }
}

/// The steps that the bindings of one step name, by argument. A list may have none.
pub(super) type Sources = Vec<(&'static str, Vec<usize>)>;

/// Finds the steps that others refer to.
struct Finder<'f, 'a> {
    flow: &'f Workflow<'a>,
    name: String,
    by_point: BTreeMap<Vertex, usize>,
}

impl<'f, 'a> Finder<'f, 'a> {
    fn new(flow: &'f Workflow<'a>, name: String) -> Self {
        let points = flow.steps.iter().enumerate().map(|(number, step)| (step.point, number));
        Self { flow, name, by_point: points.collect() }
    }

    /// Returns the declared parents of every step.
    fn declared(&self) -> Result<Vec<Vec<Link>>, GraphError> {
        let link = |step: &StepPlan, incoming: &Incoming| {
            let parent = self.find(step, &incoming.parent)?;
            Ok(Link { parent, when: incoming.when.clone(), any_type: incoming.any_type })
        };
        let links = |step: &StepPlan| step.parents.iter().map(|it| link(step, it)).collect();
        self.flow.steps.iter().map(links).collect()
    }

    /// Returns the sources that the workflow binds, and adds an edge from each source that does not come before its
    /// step yet.
    fn bound(&self, parents: &mut [Vec<Link>]) -> Result<Vec<Sources>, GraphError> {
        let mut all = Vec::with_capacity(self.flow.steps.len());
        for (number, step) in self.flow.steps.iter().enumerate() {
            let mut sources = Sources::new();
            let mut before = None;
            for binding in &step.bindings {
                let at = sources.iter().position(|(argument, _)| *argument == binding.argument);
                let at = at.unwrap_or_else(|| {
                    sources.push((binding.argument, Vec::new()));
                    sources.len() - 1
                });
                let Some(from) = binding.from else { continue };
                let from = self.find(step, &Parent::Vertex(from))?;
                sources[at].1.push(from);
                let before = before.get_or_insert_with(|| ancestors(number, parents));
                if before.insert(from) {
                    let when = EdgeTrigger::Success;
                    parents[number].push(Link { parent: from, when, any_type: false });
                }
            }
            all.push(sources);
        }
        Ok(all)
    }

    fn find(&self, step: &StepPlan, parent: &Parent) -> Result<usize, GraphError> {
        let (found, wanted) = match parent {
            Parent::Vertex(point) => (self.by_point.get(point), "a step of another workflow"),
            Parent::Named(name) => (self.flow.by_name.get(name), name.as_str()),
        };
        found.copied().ok_or_else(|| GraphError::UnknownStep {
            workflow: self.name.clone(),
            step: step.name.clone(),
            wanted: wanted.to_owned(),
            known: self.flow.by_name.keys().map(|name| format!("`{name}`")).collect(),
        })
    }
}

/// Returns every step that comes before the given one.
pub(super) fn ancestors(step: usize, parents: &[Vec<Link>]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut next = vec![step];
    while let Some(step) = next.pop() {
        for link in &parents[step] {
            if seen.insert(link.parent) {
                next.push(link.parent);
            }
        }
    }
    seen
}
