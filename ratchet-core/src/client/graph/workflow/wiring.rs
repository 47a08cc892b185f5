//! What a step waits for.

use std::fmt;
use std::marker::PhantomData;

use crate::client::Enqueue;
use crate::job::{Begins, Condition, Follows, Job, NoOutput};
use crate::model::{JobId, Point, When};

/// A step that another waits for.
#[derive(Debug, Clone)]
pub(super) enum Parent {
    Point(Point),
    Named(String),
}

/// A step of a workflow, to be named as a parent of others.
pub struct StepRef<S> {
    point: Point,
    _step: PhantomData<fn() -> S>,
}

impl<S> StepRef<S> {
    pub(super) fn new(point: Point) -> Self {
        Self { point, _step: PhantomData }
    }
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
    pub(super) parents: Vec<(Parent, When)>,
    pub(super) any: bool,
    pub(super) first_match: bool,
    #[allow(clippy::type_complexity)] // the options of an enqueue
    pub(super) options: Option<Box<dyn FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J> + 'a>>,
    _job: PhantomData<fn() -> J>,
}

impl<J> Wiring<'_, J> {
    pub(super) fn new() -> Self {
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
