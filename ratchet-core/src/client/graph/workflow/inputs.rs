//! Finds the source of each input of a step, and checks that its type matches.

use super::links::{Link, Sources, ancestors};
use super::{StepPlan, Workflow};
use crate::job::InputDef;
use ratchet_store::model::{EdgeTrigger, JobId, Vertex};
use ratchet_store::rules::graph::GraphError;

impl Workflow<'_> {
    /// Adds the inputs of a step to the draft. `bound` are the sources that the workflow names.
    pub(super) fn wire_inputs(
        &mut self,
        number: usize,
        parents: &[Vec<Link>],
        bound: &Sources,
    ) -> Result<(), GraphError> {
        let step = &self.steps[number];
        let (Some(types), Vertex::Job(id)) = (step.types, step.point) else { return Ok(()) };
        let mut found = Vec::new();
        for def in types.inputs {
            let sources = bound.iter().find(|(argument, _)| *argument == def.argument);
            let from = match (sources, def.step) {
                (Some((_, from)), _) => {
                    check_bound(step, def, from)?;
                    self.check_any(number, def, from, parents)?;
                    from.clone()
                }
                (None, Some(name)) => vec![self.named(number, def, name, parents)?],
                (None, None) => self.by_type(number, def, types.inputs, bound, parents)?,
            };
            found.push((def, self.typed(step, def, from)?));
        }
        for (def, jobs) in found {
            self.draft.input(id, def, jobs);
        }
        Ok(())
    }

    /// Returns the step that the job names.
    fn named(
        &self,
        number: usize,
        def: &InputDef,
        name: &str,
        parents: &[Vec<Link>],
    ) -> Result<usize, GraphError> {
        let step = &self.steps[number];
        let from = self.by_name.get(name).copied();
        let from = from.ok_or_else(|| refused(step, def, format!("there is no step `{name}`")))?;
        if !ancestors(number, parents).contains(&from) {
            let why = format!("step `{name}` does not come before it");
            return Err(refused(step, def, why));
        }
        Ok(from)
    }

    /// Returns the parents that an input without a name takes: those with the right type.
    fn by_type(
        &self,
        number: usize,
        def: &InputDef,
        inputs: &[InputDef],
        bound: &Sources,
        parents: &[Vec<Link>],
    ) -> Result<Vec<usize>, GraphError> {
        let step = &self.steps[number];
        let takes = (def.ty)();
        let open = |other: &&InputDef| {
            other.step.is_none() && bound.iter().all(|(argument, _)| *argument != other.argument)
        };
        let others = || inputs.iter().filter(open).filter(|other| other.argument != def.argument);
        if others().any(|other| (other.ty)() == takes) {
            return Err(refused(step, def, bind("several arguments take such an output", def)));
        }
        let gives = |link: &&Link| {
            matches!(
                link.when,
                EdgeTrigger::Success | EdgeTrigger::Condition(_) | EdgeTrigger::Otherwise
            )
        };
        let returns = |number: usize| {
            self.steps[number].types.is_some_and(|types| (types.returns)() == takes)
        };
        let taken = |number: &usize| bound.iter().any(|(_, from)| from.contains(number));
        let mut from: Vec<_> = parents[number].iter().filter(gives).collect();
        // The type of the only possible source is checked afterwards, so that a mismatch is reported as one.
        let several = from.len() > 1;
        if def.all && others().next().is_none() {
            from.retain(|link| returns(link.parent) || !link.any_type);
        } else if several || others().next().is_some() {
            from.retain(|link| returns(link.parent));
        }
        let mut from: Vec<_> = from.into_iter().map(|link| link.parent).collect();
        from.retain(|parent| !taken(parent));
        match from.as_slice() {
            [] => Err(refused(step, def, "no step before it gives one".to_owned())),
            [_, _, ..] if !step.any && !def.all => {
                Err(refused(step, def, bind("several steps before it give one", def)))
            }
            _ => Ok(from),
        }
    }

    /// Refuses an input that is missing if the step starts after another one of its parents.
    fn check_any(
        &self,
        number: usize,
        def: &InputDef,
        from: &[usize],
        parents: &[Vec<Link>],
    ) -> Result<(), GraphError> {
        let step = &self.steps[number];
        if !step.any || def.all {
            return Ok(());
        }
        let gives = |link: &&Link| {
            let before = ancestors(link.parent, parents);
            from.iter().any(|from| *from == link.parent || before.contains(from))
        };
        match parents[number].iter().find(|link| !gives(link)) {
            Some(link) => {
                let parent = &self.steps[link.parent].name;
                let why = format!(
                    "the step starts after any of its parents, and the output is missing after `{parent}`"
                );
                Err(refused(step, def, why))
            }
            None => Ok(()),
        }
    }

    /// Returns the jobs of the steps, if all of them return what the argument takes.
    fn typed(
        &self,
        step: &StepPlan,
        def: &InputDef,
        from: Vec<usize>,
    ) -> Result<Vec<JobId>, GraphError> {
        let job = |parent: usize| {
            let parent = &self.steps[parent];
            let returns = parent.types.map_or("nothing", |types| (types.returns)());
            match parent.point {
                Vertex::Job(job) if returns == (def.ty)() => Ok(job),
                _ => Err(GraphError::TypeMismatch {
                    step: step.name.clone(),
                    argument: def.argument.to_owned(),
                    takes: (def.ty)().to_owned(),
                    parent: parent.name.clone(),
                    returns: returns.to_owned(),
                }),
            }
        };
        from.into_iter().map(job).collect()
    }
}

/// Refuses an argument that is bound to more than one step.
fn check_bound(step: &StepPlan, def: &InputDef, from: &[usize]) -> Result<(), GraphError> {
    if def.all || step.any || from.len() < 2 {
        return Ok(());
    }
    let (step, argument) = (step.name.clone(), def.argument.to_owned());
    Err(GraphError::InputBoundTwice { step, argument })
}

fn refused(step: &StepPlan, def: &InputDef, why: String) -> GraphError {
    GraphError::NoInput { step: step.name.clone(), argument: def.argument.to_owned(), why }
}

/// Says how to choose the step in the workflow.
fn bind(why: &str, def: &InputDef) -> String {
    let constant = def.argument.to_uppercase();
    format!("{why}; choose one in the workflow: `step.input(…::INPUT_{constant}, &step)`")
}
