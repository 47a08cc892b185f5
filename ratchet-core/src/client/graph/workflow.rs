//! [`Workflow`]: named steps with edges between them.

mod inputs;
mod links;
mod wiring;

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use self::wiring::{Binding, Incoming};
pub use self::wiring::{GroupStep, StepOptions, StepOutput, StepRef};
use super::draft::{Draft, Types};
use super::{Batch, Chain, GroupHandle};
use crate::client::SubmitError;
use crate::job::{FirstStep, Job, JobContext, WithoutInputs};
use crate::runtime::Core;
use ratchet_store::model::limits::Field;
use ratchet_store::model::{EdgeTrigger, GroupKind, NewGraph, Vertex};
use ratchet_store::rules::graph::GraphError;

/// A workflow about to be submitted: add steps, then `.await`.
///
/// ```
/// # use ratchet_core::{FirstStep, StepAfter, Job, Ratchet, SubmitError};
/// # async fn demo<A: FirstStep, B: StepAfter<A::Output>, C: FirstStep>(ratchet: &Ratchet, charge: A, ship: B, refund: C) -> Result<(), SubmitError> {
/// let mut order = ratchet.workflow("order");
/// let charge = order.first("charge", charge);
/// let ship = order.step("ship", ship, |step| step.after(&charge));
/// order.step("refund", refund, |step| step.after_failure(&ship));
/// order.await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a workflow is submitted only when this is awaited"]
pub struct Workflow<'a> {
    draft: Draft<'a>,
    /// The steps in the order in which they were added.
    steps: Vec<StepPlan>,
    by_name: BTreeMap<String, usize>,
}

/// A step whose parents are resolved when the workflow is complete.
#[derive(Debug)]
struct StepPlan {
    name: String,
    point: Vertex,
    /// `None` for a group.
    types: Option<Types>,
    parents: Vec<Incoming>,
    bindings: Vec<Binding>,
    any: bool,
    first_match: bool,
}

impl<'a> Workflow<'a> {
    pub(super) fn new(target: (&'a Arc<Core>, Option<&'a JobContext>), name: String) -> Self {
        let draft = Draft::new(target, GroupKind::Workflow, name);
        Self { draft, steps: Vec::new(), by_name: BTreeMap::new() }
    }

    /// Adds a step that waits for no other step.
    ///
    /// Use [`Self::step`] for a first step with options of its own.
    pub fn first<J: FirstStep>(&mut self, name: impl Into<String>, job: J) -> StepRef<J> {
        self.step(name, job, |step| step)
    }

    /// Adds a step. The closure declares what it waits for.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn step<J: Job>(
        &mut self,
        name: impl Into<String>,
        job: J,
        wire: impl FnOnce(StepOptions<'a, J>) -> StepOptions<'a, J>,
    ) -> StepRef<J> {
        let name = name.into();
        let StepOptions { parents, bindings, any, first_match, options, .. } =
            wire(StepOptions::new());
        let root = self.draft.root;
        let id = self.draft.add(&job, Some(root), Some(name.clone()), |enqueue| match options {
            Some(options) => options(enqueue),
            None => enqueue,
        });
        let types = Some(Types::of::<J>());
        let point = Vertex::Job(id);
        self.plan(StepPlan { name, point, types, parents, bindings, any, first_match });
        StepRef::new(Vertex::Job(id))
    }

    /// Adds a whole batch as a step.
    pub fn batch(
        &mut self,
        name: impl Into<String>,
        batch: Batch<'a>,
        wire: impl FnOnce(StepOptions<'a, GroupStep>) -> StepOptions<'a, GroupStep>,
    ) -> StepRef<GroupStep> {
        self.group(name.into(), batch.into_draft(), wire(StepOptions::new()))
    }

    /// Adds a whole chain as a step.
    pub fn chain<T>(
        &mut self,
        name: impl Into<String>,
        chain: Chain<'a, T>,
        wire: impl FnOnce(StepOptions<'a, GroupStep>) -> StepOptions<'a, GroupStep>,
    ) -> StepRef<GroupStep> {
        self.group(name.into(), chain.draft, wire(StepOptions::new()))
    }

    fn group(
        &mut self,
        name: String,
        other: Draft<'a>,
        wiring: StepOptions<'a, GroupStep>,
    ) -> StepRef<GroupStep> {
        let root = self.draft.root;
        let point = self.draft.take_in(other, root, Some(name.clone()));
        let StepOptions { parents, bindings, any, first_match, .. } = wiring;
        self.plan(StepPlan { name, point, types: None, parents, bindings, any, first_match });
        StepRef::new(point)
    }

    fn plan(&mut self, step: StepPlan) {
        self.draft.limit(Field::Step, &step.name);
        let workflow = self.draft.root().name.clone();
        if self.by_name.insert(step.name.clone(), self.steps.len()).is_some() {
            let step = step.name.clone();
            self.draft.fail(GraphError::DuplicateStep { workflow, step });
        }
        self.steps.push(step);
    }

    /// Sets the idempotency key. At most one workflow is ever created for a key within a tenant. Submitting the same
    /// workflow again returns the handle of the first. Submitting a different workflow under the key is an error.
    pub fn idempotency_key(&mut self, key: impl Into<String>) -> &mut Self {
        self.draft.idempotency_key(key.into());
        self
    }

    /// Recognizes a repeat by the idempotency key alone, even if the workflow is different.
    pub fn by_key_alone(&mut self) -> &mut Self {
        self.draft.by_key_alone();
        self
    }

    /// Lets the idempotency key expire this long after its first use, by the store's clock. A later use of the key
    /// creates a new workflow. Must be greater than zero.
    pub fn within(&mut self, lifetime: Duration) -> &mut Self {
        self.draft.within(lifetime);
        self
    }

    /// Sets the tenant of the idempotency key and of every step that has none of its own.
    pub fn tenant(&mut self, tenant: impl Into<String>) -> &mut Self {
        self.draft.tenant(tenant.into());
        self
    }

    /// Sets the correlation id of every step that has none of its own.
    pub fn correlation_id(&mut self, id: impl Into<String>) -> &mut Self {
        self.draft.correlation_id(id.into());
        self
    }

    /// Runs a job when the workflow has ended and no step has failed or was canceled. Steps on branches not taken do
    /// not count.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_success<J: WithoutInputs>(&mut self, job: J) -> &mut Self {
        self.draft.callback(self.draft.root, &job, EdgeTrigger::Success);
        self
    }

    /// Runs a job when the workflow has ended and a step has failed.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_failure<J: WithoutInputs>(&mut self, job: J) -> &mut Self {
        self.draft.callback(self.draft.root, &job, EdgeTrigger::Failure);
        self
    }

    /// Returns the checked graph and its future handle without storing anything.
    pub(crate) fn into_parts(self) -> Result<(NewGraph, GroupHandle), SubmitError> {
        self.into_draft().into_parts()
    }

    /// Completes the graph. Its first error, if any, is kept in the draft.
    pub(super) fn into_draft(mut self) -> Draft<'a> {
        if self.draft.error.is_none()
            && let Err(error) = self.wire()
        {
            self.draft.fail(error);
        }
        self.draft
    }
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
