//! Resolves the steps of a complete workflow into edges, and finds the source of each input.

use std::collections::{BTreeMap, BTreeSet};

use super::wiring::Parent;
use super::{StepPlan, Workflow};
use ratchet_store::model::{EdgeTrigger, GroupKind, Vertex, Wait, WaitMode};
use ratchet_store::rules::graph::GraphError;

impl Workflow<'_> {
    /// Adds the edges and inputs of all steps to the draft.
    pub(super) fn wire(&mut self) -> Result<(), GraphError> {
        let workflow = self.draft.root().name.clone();
        if self.steps.is_empty() {
            return Err(GraphError::Empty { kind: GroupKind::Workflow, name: workflow });
        }
        let parents = self.parents(&workflow)?;
        for (step, parents) in self.steps.iter().zip(&parents) {
            for (parent, when) in parents {
                let from = self.steps[*parent].point;
                self.draft.edge(from, step.point, when.clone());
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
        for step in 0..self.steps.len() {
            self.wire_inputs(step, &parents)?;
        }
        Ok(())
    }

    /// Returns the parents of every step, as indexes into `steps`.
    fn parents(&self, workflow: &str) -> Result<Vec<Vec<(usize, EdgeTrigger)>>, GraphError> {
        let by_point: BTreeMap<_, _> =
            self.steps.iter().enumerate().map(|(number, step)| (step.point, number)).collect();
        let find = |step: &StepPlan, parent: &Parent| {
            let (found, wanted) = match parent {
                Parent::Vertex(point) => (by_point.get(point), "a step of another workflow"),
                Parent::Named(name) => (self.by_name.get(name), name.as_str()),
            };
            found.copied().ok_or_else(|| GraphError::UnknownStep {
                workflow: workflow.to_owned(),
                step: step.name.clone(),
                wanted: wanted.to_owned(),
                known: self.by_name.keys().map(|name| format!("`{name}`")).collect(),
            })
        };
        let of_step = |step: &StepPlan| {
            let parents = step.parents.iter();
            parents.map(|(parent, when)| Ok((find(step, parent)?, when.clone()))).collect()
        };
        self.steps.iter().map(of_step).collect()
    }

    /// Finds the source of each input of a step, and checks that its type matches.
    fn wire_inputs(
        &mut self,
        number: usize,
        parents: &[Vec<(usize, EdgeTrigger)>],
    ) -> Result<(), GraphError> {
        let step = &self.steps[number];
        let (Some(types), Vertex::Job(id)) = (step.types, step.point) else { return Ok(()) };
        let mut found = Vec::new();
        for input in types.inputs {
            let refuse = |why: String| GraphError::NoInput {
                step: step.name.clone(),
                argument: input.argument.to_owned(),
                why,
            };
            let from: Vec<usize> = match input.step {
                Some(name) => {
                    let from = self.by_name.get(name).copied();
                    let from = from.ok_or_else(|| refuse(format!("there is no step `{name}`")))?;
                    if !ancestors(number, parents).contains(&from) {
                        return Err(refuse(format!("step `{name}` does not come before it")));
                    }
                    vec![from]
                }
                None => {
                    let gives = |(_, when): &&(usize, EdgeTrigger)| {
                        matches!(when, EdgeTrigger::Success | EdgeTrigger::Condition(_))
                    };
                    let takes = (input.ty)();
                    let returns = |number: &usize| {
                        self.steps[*number].types.is_some_and(|types| (types.returns)() == takes)
                    };
                    let all: Vec<_> =
                        parents[number].iter().filter(gives).map(|(n, _)| *n).collect();
                    // A single parent is the source, and its type is checked below. Of several, only those with the
                    // right type are.
                    if all.len() > 1 { all.into_iter().filter(returns).collect() } else { all }
                }
            };
            match from.as_slice() {
                [] => return Err(refuse("no step before it gives one".to_owned())),
                [_, _, ..] if !step.any => {
                    let why =
                        "several steps before it give one; say which: `#[input(step = \"…\")]`";
                    return Err(refuse(why.to_owned()));
                }
                _ => {}
            }
            let mut jobs = Vec::new();
            for parent in from {
                let parent = &self.steps[parent];
                let returns = parent.types.map_or("nothing", |types| (types.returns)());
                let (Vertex::Job(job), true) = (parent.point, returns == (input.ty)()) else {
                    return Err(GraphError::TypeMismatch {
                        step: step.name.clone(),
                        argument: input.argument.to_owned(),
                        takes: (input.ty)().to_owned(),
                        parent: parent.name.clone(),
                        returns: returns.to_owned(),
                    });
                };
                jobs.push(job);
            }
            found.push((input.step, jobs));
        }
        for (name, jobs) in found {
            self.draft.input(id, name, jobs);
        }
        Ok(())
    }
}

/// Returns every step that comes before the given one.
fn ancestors(step: usize, parents: &[Vec<(usize, EdgeTrigger)>]) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut next = vec![step];
    while let Some(step) = next.pop() {
        for (parent, _) in &parents[step] {
            if seen.insert(*parent) {
                next.push(*parent);
            }
        }
    }
    seen
}
