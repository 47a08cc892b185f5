//! [`StepOptions`]: declares what a step of a workflow waits for.

use std::fmt;
use std::marker::PhantomData;

use crate::client::Enqueue;
use crate::job::{Condition, FanIn, FirstStep, InputListRef, InputRef, Job, NoOutput, StepAfter};
use ratchet_store::model::{EdgeTrigger, JobId, Vertex};

/// A reference to a step that another step waits for.
#[derive(Debug, Clone)]
pub(super) enum Parent {
    Vertex(Vertex),
    Named(String),
}

/// An edge from a parent, as it was declared.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) parent: Parent,
    pub(super) when: EdgeTrigger,
    /// Whether the parent is only waited for, and its output may have any type.
    pub(super) any_type: bool,
}

/// An argument that the workflow binds to a step.
#[derive(Debug)]
pub(super) struct Binding {
    pub(super) argument: &'static str,
    /// `None` for a list that has no elements.
    pub(super) from: Option<Vertex>,
}

/// A reference to a step of a workflow, used to declare it as the parent of another step.
///
/// ```
/// # use ratchet_core::{FirstStep, Ratchet, StepAfter, SubmitError};
/// # async fn demo<A: FirstStep, B: StepAfter<A::Output>>(ratchet: &Ratchet, charge: A, ship: B) -> Result<(), SubmitError> {
/// let mut order = ratchet.workflow("order");
/// let charge = order.first("charge", charge);
/// order.step("ship", ship, |step| step.after(&charge));
/// order.await?;
/// println!("the charge is job {:?}", charge.job_id());
/// # Ok(())
/// # }
/// ```
pub struct StepRef<S> {
    point: Vertex,
    _step: PhantomData<fn() -> S>,
}

impl<S> StepRef<S> {
    pub(super) fn new(point: Vertex) -> Self {
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
    /// Returns the id of the step's job.
    pub fn job_id(&self) -> Option<JobId> {
        self.point.job()
    }
}

/// Marks a step that is a whole chain or batch instead of a single job.
///
/// ```
/// # mod ratchet { pub use ratchet_core as graph; }
/// # async fn demo<A: ratchet_core::FirstStep, B: ratchet_core::FirstStep>(ratchet: &ratchet_core::Ratchet, rows: Vec<A>, report: B) -> Result<(), ratchet_core::SubmitError> {
/// use ratchet::graph::{GroupStep, StepRef};
///
/// let mut import = ratchet.workflow("import");
/// let all = ratchet.batch("rows").jobs(rows);
/// let all: StepRef<GroupStep> = import.batch("rows", all, |step| step);
/// import.step("report", report, |step| step.after_end(&all));
/// import.await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GroupStep;

/// The output that a step passes to the steps after it. A group passes none.
///
/// This trait is sealed: jobs and [`GroupStep`] implement it.
///
/// ```
/// # mod ratchet { pub use ratchet_core as graph; pub use ratchet_core::*; }
/// use ratchet::Job;
/// use ratchet::graph::{NoOutput, StepAfter, StepOptions, StepOutput, StepRef};
///
/// // Waits for each of these steps: jobs that return the same type, or groups.
/// fn after_all<'a, J, P, T>(step: StepOptions<'a, J>, parents: &[StepRef<P>]) -> StepOptions<'a, J>
/// where
///     J: Job + StepAfter<T>,
///     P: StepOutput<Output = T>,
/// {
///     parents.iter().fold(step, |step, parent| step.after(parent))
/// }
/// ```
pub trait StepOutput: sealed::Sealed {
    /// The type of the output.
    type Output;
}

impl<J: Job> StepOutput for J {
    type Output = J::Output;
}

impl StepOutput for GroupStep {
    type Output = NoOutput;
}

mod sealed {
    pub trait Sealed {}
    impl<J: crate::job::Job> Sealed for J {}
    impl Sealed for super::GroupStep {}
}

/// The parents and options of a step; see [`Workflow::step`](super::Workflow::step).
///
/// ```
/// # use std::time::Duration;
/// # use ratchet_core::{Ratchet, FirstStep, StepAfter, StepOutput};
/// # fn demo<A: FirstStep>(ratchet: &Ratchet, a: A, b: A, c: A) {
/// let mut flow = ratchet.workflow("order-7");
/// let first = flow.first("first", a);
/// let other = flow.first("other", b);
/// flow.step("last", c, |step| step.wait_for(&first).wait_for(&other).any());
/// # }
/// ```
#[must_use = "give it back from the closure"]
pub struct StepOptions<'a, J> {
    pub(super) parents: Vec<Incoming>,
    pub(super) bindings: Vec<Binding>,
    pub(super) any: bool,
    pub(super) first_match: bool,
    #[allow(clippy::type_complexity)] // the options of an enqueue
    pub(super) options: Option<Box<dyn FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J> + 'a>>,
    _job: PhantomData<fn() -> J>,
}

impl<J> StepOptions<'_, J> {
    pub(super) fn new() -> Self {
        Self {
            parents: Vec::new(),
            bindings: Vec::new(),
            any: false,
            first_match: false,
            options: None,
            _job: PhantomData,
        }
    }

    fn parent(mut self, parent: Parent, when: EdgeTrigger) -> Self {
        self.parents.push(Incoming { parent, when, any_type: false });
        self
    }

    /// Waits for a step to succeed, regardless of its output type. An `#[input]` of this step comes from another
    /// parent.
    pub fn wait_for<P>(mut self, parent: &StepRef<P>) -> Self {
        let parent = Parent::Vertex(parent.point);
        self.parents.push(Incoming { parent, when: EdgeTrigger::Success, any_type: true });
        self
    }

    /// Waits for the step of this name to succeed, for workflows that are built from data. Names and types are checked
    /// when the workflow is submitted.
    pub fn after_named(self, name: impl Into<String>) -> Self {
        self.parent(Parent::Named(name.into()), EdgeTrigger::Success)
    }

    /// Starts the step after the first of its parents instead of after all of them.
    pub fn any(mut self) -> Self {
        self.any = true;
        self
    }

    /// Fires only the first edge that can fire, of those that lead from this step. Has no effect on a chain or
    /// batch.
    pub fn first_match(mut self) -> Self {
        self.first_match = true;
        self
    }
}

impl<'a, J: Job> StepOptions<'a, J> {
    /// Waits for a step to succeed. This compiles only if this step takes the output of the other one, or nothing.
    pub fn after<P: StepOutput<Output = G>, G>(self, parent: &StepRef<P>) -> Self
    where
        J: StepAfter<G>,
    {
        self.parent(Parent::Vertex(parent.point), EdgeTrigger::Success)
    }

    /// Waits for a step to succeed with an output that meets a condition.
    pub fn after_if<P: Job>(self, parent: &StepRef<P>, condition: Condition<P::Output>) -> Self
    where
        J: StepAfter<P::Output>,
    {
        let when = EdgeTrigger::Condition(condition.def().name.to_owned());
        self.parent(Parent::Vertex(parent.point), when)
    }

    /// Waits for a step to succeed with an output that meets none of the conditions of the steps after it. At least one
    /// of them must have a condition ([`after_if`](Self::after_if)); otherwise the workflow is refused when it is
    /// submitted.
    ///
    /// ```
    /// # use ratchet_core::{Condition, FirstStep, Ratchet, StepAfter, SubmitError};
    /// # async fn demo<A: FirstStep, B: StepAfter<A::Output>, C: StepAfter<A::Output>>(
    /// #     ratchet: &Ratchet, order: A, review: B, ship: C, is_large: Condition<A::Output>,
    /// # ) -> Result<(), SubmitError> {
    /// let mut flow = ratchet.workflow("order");
    /// let order = flow.step("order", order, |step| step);
    /// flow.step("review", review, |step| step.after_if(&order, is_large));
    /// flow.step("ship", ship, |step| step.otherwise(&order));
    /// flow.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn otherwise<P: Job>(self, parent: &StepRef<P>) -> Self
    where
        J: StepAfter<P::Output>,
    {
        self.parent(Parent::Vertex(parent.point), EdgeTrigger::Otherwise)
    }

    /// Takes the output of a step as an `#[input]` argument of this step, and waits for that step to succeed.
    ///
    /// The argument is named by the constant that `#[job]` generates: `Join::INPUT_LEFT` for an argument `left`. The job
    /// itself names no steps. This compiles only if the step returns the type of the argument.
    ///
    /// If this step comes after the other one in any case, because of [`after_if`](Self::after_if),
    /// [`otherwise`](Self::otherwise) or the steps between them, no further edge is added. An argument must be bound
    /// once. With [`any`](Self::any), it can be bound to several steps, and takes the output of the first that succeeded.
    pub fn input<P, T>(mut self, argument: InputRef<J, T>, step: &StepRef<P>) -> Self
    where
        P: StepOutput<Output = T>,
    {
        let binding = Binding { argument: argument.argument(), from: Some(step.point) };
        self.bindings.push(binding);
        self
    }

    /// Takes the outputs of these steps as an `#[input(all)]` argument of this step, in the given order, and waits for
    /// them to succeed. Further calls for the same argument append to the list.
    ///
    /// Without this call, an `#[input(all)]` argument takes the outputs of all parents, in the order in which they were
    /// declared. Only this call can make an empty list.
    pub fn input_all<'s, P, L>(
        mut self,
        argument: InputListRef<J, L>,
        steps: impl IntoIterator<Item = &'s StepRef<P>>,
    ) -> Self
    where
        L: FanIn,
        P: StepOutput<Output = L::Item> + 's,
    {
        let argument = argument.argument();
        self.bindings.push(Binding { argument, from: None });
        let bindings = steps.into_iter().map(|step| Binding { argument, from: Some(step.point) });
        self.bindings.extend(bindings);
        self
    }

    /// Waits for a step to fail permanently. A group counts as failed if it has ended with at least one failed member.
    pub fn after_failure<P>(self, parent: &StepRef<P>) -> Self
    where
        J: FirstStep,
    {
        self.parent(Parent::Vertex(parent.point), EdgeTrigger::Failure)
    }

    /// Waits for a step to end, whether it succeeds or fails. A cancellation of that step propagates to this one.
    pub fn after_end<P>(self, parent: &StepRef<P>) -> Self
    where
        J: FirstStep,
    {
        self.parent(Parent::Vertex(parent.point), EdgeTrigger::Always)
    }

    /// Sets options of the step's job.
    pub fn options(mut self, options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J> + 'a) -> Self {
        self.options = Some(Box::new(options));
        self
    }
}

impl<J> fmt::Debug for StepOptions<'_, J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepOptions").field("parents", &self.parents).finish_non_exhaustive()
    }
}
