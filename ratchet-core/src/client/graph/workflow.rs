//! Workflows: named steps with edges between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use super::draft::{Draft, MAX_NAME, Types};
use super::{Batch, Chain, GroupHandle};
use crate::client::{Core, Enqueue, SubmitError};
use crate::context::JobContext;
use crate::graph::GraphError;
use crate::job::{Begins, Condition, Follows, Job, NoOutput};
use crate::model::{GroupKind, JobId, NewGraph, Point, Wait, WaitMode, When};
use crate::store::Store;

/// A workflow about to be submitted: add steps, then `.await`.
///
/// ```
/// # use ratchet_core::{Begins, Follows, Job, Ratchet, SubmitError};
/// # async fn demo<A: Begins, B: Follows<A::Output>, C: Begins>(ratchet: &Ratchet, charge: A, ship: B, refund: C) -> Result<(), SubmitError> {
/// let mut order = ratchet.workflow("order");
/// let charge = order.step("charge", charge, |step| step);
/// let ship = order.step("ship", ship, |step| step.after(&charge));
/// order.step("refund", refund, |step| step.after_failure(&ship));
/// order.await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a workflow is submitted only when this is awaited"]
pub struct Workflow<'a> {
    draft: Draft<'a>,
    /// Every step, in order.
    steps: Vec<StepPlan>,
    by_name: BTreeMap<String, usize>,
}

/// What is known of a step until the workflow is complete.
#[derive(Debug)]
struct StepPlan {
    name: String,
    point: Point,
    /// `None` for a group.
    types: Option<Types>,
    parents: Vec<(Parent, When)>,
    any: bool,
    first_match: bool,
}

/// A step that another waits for.
#[derive(Debug, Clone)]
enum Parent {
    Point(Point),
    Named(String),
}

/// A step of a workflow, to be named as a parent of others.
pub struct StepRef<S> {
    point: Point,
    _step: PhantomData<fn() -> S>,
}

impl<S> Clone for StepRef<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for StepRef<S> {}

impl<S> fmt::Debug for StepRef<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StepRef").field(&self.point).finish()
    }
}

impl<S: Job> StepRef<S> {
    /// The job of this step.
    pub fn job_id(&self) -> Option<JobId> {
        self.point.job()
    }
}

/// A whole chain, batch or workflow as a step of another workflow.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Whole;

/// What a step gives on: a job its output, a group nothing.
pub trait Yields {
    /// What it gives on.
    type Gives;
}

impl<J: Job> Yields for J {
    type Gives = J::Output;
}

impl Yields for Whole {
    type Gives = NoOutput;
}

/// What a step waits for.
#[must_use = "give it back from the closure"]
pub struct Wiring<'a, J> {
    parents: Vec<(Parent, When)>,
    any: bool,
    first_match: bool,
    #[allow(clippy::type_complexity)] // the options of an enqueue
    options: Option<Box<dyn FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J> + 'a>>,
    _job: PhantomData<fn() -> J>,
}

impl<J> Wiring<'_, J> {
    fn new() -> Self {
        Self {
            parents: Vec::new(),
            any: false,
            first_match: false,
            options: None,
            _job: PhantomData,
        }
    }

    fn parent(mut self, parent: Parent, when: When) -> Self {
        self.parents.push((parent, when));
        self
    }

    /// Waits for the success of a step, whatever it returns; the step's `#[input]` comes from elsewhere.
    pub fn wait_for<P>(self, parent: &StepRef<P>) -> Self {
        self.parent(Parent::Point(parent.point), When::Success)
    }

    /// Waits for the success of the step of this name: for workflows put together from data. Names and types are checked
    /// when the workflow is submitted.
    pub fn after_named(self, name: impl Into<String>) -> Self {
        self.parent(Parent::Named(name.into()), When::Success)
    }

    /// Begins with the first of its parents instead of all of them.
    pub fn any(mut self) -> Self {
        self.any = true;
        self
    }

    /// Of the edges that lead from this step only the first that could fire does.
    pub fn first_match(mut self) -> Self {
        self.first_match = true;
        self
    }
}

impl<'a, J: Job> Wiring<'a, J> {
    /// Waits for the success of a step. It compiles if this one takes what that one returns, or nothing.
    pub fn after<P: Yields<Gives = G>, G>(self, parent: &StepRef<P>) -> Self
    where
        J: Follows<G>,
    {
        self.parent(Parent::Point(parent.point), When::Success)
    }

    /// Waits for the success of a step whose output meets a condition.
    pub fn after_if<P: Job>(self, parent: &StepRef<P>, condition: Condition<P::Output>) -> Self
    where
        J: Follows<P::Output>,
    {
        let when = When::Condition(condition.def().name.to_owned());
        self.parent(Parent::Point(parent.point), when)
    }

    /// Waits for the failure of a step, for good; of a group: for its end with a failure in it.
    pub fn after_failure<P>(self, parent: &StepRef<P>) -> Self
    where
        J: Begins,
    {
        self.parent(Parent::Point(parent.point), When::Failure)
    }

    /// Waits for the end of a step, well or not. A cancel goes on as a cancel.
    pub fn after_end<P>(self, parent: &StepRef<P>) -> Self
    where
        J: Begins,
    {
        self.parent(Parent::Point(parent.point), When::Always)
    }

    /// Sets options of the step itself.
    pub fn options(mut self, options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J> + 'a) -> Self {
        self.options = Some(Box::new(options));
        self
    }
}

impl<J> fmt::Debug for Wiring<'_, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiring").field("parents", &self.parents).finish_non_exhaustive()
    }
}

impl<'a> Workflow<'a> {
    pub(super) fn new(target: (&'a Arc<Core>, Option<&'a JobContext>), name: String) -> Self {
        let draft = Draft::new(target, GroupKind::Workflow, name);
        Self { draft, steps: Vec::new(), by_name: BTreeMap::new() }
    }

    /// Adds a step; the closure says what it waits for.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn step<J: Job>(
        &mut self,
        name: impl Into<String>,
        job: J,
        wire: impl FnOnce(Wiring<'a, J>) -> Wiring<'a, J>,
    ) -> StepRef<J> {
        let name = name.into();
        let Wiring { parents, any, first_match, options, .. } = wire(Wiring::new());
        let root = self.draft.root;
        let id = self.draft.add(&job, Some(root), Some(name.clone()), |enqueue| match options {
            Some(options) => options(enqueue),
            None => enqueue,
        });
        let types = Some(Types::of::<J>());
        self.plan(StepPlan { name, point: Point::Job(id), types, parents, any, first_match });
        StepRef { point: Point::Job(id), _step: PhantomData }
    }

    /// Adds a whole batch as a step.
    pub fn batch(
        &mut self,
        name: impl Into<String>,
        batch: Batch<'a>,
        wire: impl FnOnce(Wiring<'a, Whole>) -> Wiring<'a, Whole>,
    ) -> StepRef<Whole> {
        self.group(name.into(), batch.into_draft(), wire(Wiring::new()))
    }

    /// Adds a whole chain as a step.
    pub fn chain<T>(
        &mut self,
        name: impl Into<String>,
        chain: Chain<'a, T>,
        wire: impl FnOnce(Wiring<'a, Whole>) -> Wiring<'a, Whole>,
    ) -> StepRef<Whole> {
        self.group(name.into(), chain.draft, wire(Wiring::new()))
    }

    fn group(
        &mut self,
        name: String,
        other: Draft<'a>,
        wiring: Wiring<'a, Whole>,
    ) -> StepRef<Whole> {
        let root = self.draft.root;
        let point = self.draft.take_in(other, root, Some(name.clone()));
        let Wiring { parents, any, first_match, .. } = wiring;
        self.plan(StepPlan { name, point, types: None, parents, any, first_match });
        StepRef { point, _step: PhantomData }
    }

    fn plan(&mut self, step: StepPlan) {
        let workflow = self.draft.root().name.clone();
        if step.name.is_empty() || step.name.len() > MAX_NAME || step.name.contains('\0') {
            let problem = format!("the name of a step has between 1 and {MAX_NAME} bytes");
            self.draft.fail(SubmitError::BadOption { job: workflow.clone(), problem });
        }
        if self.by_name.insert(step.name.clone(), self.steps.len()).is_some() {
            let step = step.name.clone();
            self.draft.fail(GraphError::DuplicateStep { workflow, step });
        }
        self.steps.push(step);
    }

    /// At most one workflow is ever made for this key within its tenant: the same workflow again answers with the handle of
    /// the first, another one under the same key is refused.
    pub fn idempotency_key(&mut self, key: impl Into<String>) {
        self.draft.idempotency_key(key.into());
    }

    /// Whose workflow it is: the tenant of every step that has none of its own, and of the idempotency key.
    pub fn tenant(&mut self, tenant: impl Into<String>) {
        self.draft.tenant(tenant.into());
    }

    /// Runs a job when the workflow has come to its end and no step has failed.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_success<J: Job>(&mut self, job: J) {
        self.draft.callback(self.draft.root, &job, When::Success);
    }

    /// Runs a job when the workflow has come to its end and a step has failed.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_failure<J: Job>(&mut self, job: J) {
        self.draft.callback(self.draft.root, &job, When::Failure);
    }

    /// The store it goes to: what `in_tx` of a store looks for itself in.
    pub fn store(&self) -> &dyn Store {
        self.draft.core.store.as_ref()
    }

    /// The checked graph and the handle it will have, without storing anything: for stores that insert within a caller's
    /// own transaction.
    pub fn into_parts(self) -> Result<(NewGraph, GroupHandle), SubmitError> {
        self.into_draft().into_parts()
    }

    /// The complete graph, with the first mistake in it.
    pub(super) fn into_draft(mut self) -> Draft<'a> {
        if self.draft.error.is_none()
            && let Err(error) = self.wire()
        {
            self.draft.fail(error);
        }
        self.draft
    }

    fn wire(&mut self) -> Result<(), GraphError> {
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
                Point::Job(id) => {
                    if let Some(planned) = self.draft.step(id) {
                        planned.wait = Some(Wait::new(mode, 0));
                        planned.first_match = step.first_match;
                    }
                }
                Point::Group(id) => {
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

    /// The parents of every step, as numbers of steps.
    fn parents(&self, workflow: &str) -> Result<Vec<Vec<(usize, When)>>, GraphError> {
        let by_point: BTreeMap<_, _> =
            self.steps.iter().enumerate().map(|(number, step)| (step.point, number)).collect();
        let find = |step: &StepPlan, parent: &Parent| {
            let (found, wanted) = match parent {
                Parent::Point(point) => (by_point.get(point), "a step of another workflow"),
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

    /// Finds where each output comes from that a step takes, and whether its type fits.
    fn wire_inputs(
        &mut self,
        number: usize,
        parents: &[Vec<(usize, When)>],
    ) -> Result<(), GraphError> {
        let step = &self.steps[number];
        let (Some(types), Point::Job(id)) = (step.types, step.point) else { return Ok(()) };
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
                    let gives = |(_, when): &&(usize, When)| {
                        matches!(when, When::Success | When::Condition(_))
                    };
                    let takes = (input.ty)();
                    let returns = |number: &usize| {
                        self.steps[*number].types.is_some_and(|types| (types.returns)() == takes)
                    };
                    let all: Vec<_> =
                        parents[number].iter().filter(gives).map(|(n, _)| *n).collect();
                    // One parent is meant, whatever it returns; of several, those that return it.
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
                let (Point::Job(job), true) = (parent.point, returns == (input.ty)()) else {
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

/// Every step that comes before one.
fn ancestors(step: usize, parents: &[Vec<(usize, When)>]) -> BTreeSet<usize> {
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

impl fmt::Debug for Workflow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workflow").field("steps", &self.steps).finish_non_exhaustive()
    }
}

impl<'a> IntoFuture for Workflow<'a> {
    type Output = Result<GroupHandle, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.into_draft().submit())
    }
}
