//! [`Chain`]: steps that run in order. Each is released in the commit in which the step before it succeeds.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::draft::Draft;
use super::{Batch, GroupHandle, Workflow};
use crate::client::handle::read_output;
use crate::client::{Enqueue, SubmitError, WaitError};
use crate::job::{Job, JobContext, NoOutput, StepAfter, WithoutInputs};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{
    EdgeTrigger, GroupId, GroupKind, GroupState, JobId, JobState, NewGraph, Vertex,
};

/// A chain about to be submitted: add steps, then `.await`. `T` is the output of its last step.
///
/// ```
/// # use ratchet_core::{FirstStep, ChainHandle, StepAfter, Job, Ratchet, SubmitError};
/// # async fn demo<A: FirstStep, B: StepAfter<A::Output>>(ratchet: &Ratchet, extract: A, load: B) -> Result<(), SubmitError>
/// # where A::Output: 'static, B::Output: 'static {
/// let chain = ratchet.chain(extract).then(load).named("etl").await?;
/// println!("{} has begun", chain.id());
/// # Ok(())
/// # }
/// ```
#[must_use = "a chain is submitted only when this is awaited"]
pub struct Chain<'a, T> {
    pub(super) draft: Draft<'a>,
    last: Vertex,
    _returns: PhantomData<fn() -> T>,
}

impl<'a, T> Chain<'a, T> {
    pub(in crate::client) fn new<J: Job<Output = T>>(
        target: (&'a Arc<Core>, Option<&'a JobContext>),
        first: &J,
    ) -> Self {
        let mut draft = Draft::new(target, GroupKind::Chain, J::DEF.name.to_owned());
        let root = draft.root;
        let last = Vertex::Job(draft.add(first, Some(root), None, |enqueue| enqueue));
        Self { draft, last, _returns: PhantomData }
    }

    /// Sets the name of the chain. The default is the name of its first job.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.draft.name(name.into());
        self
    }

    /// Sets the idempotency key. At most one chain is ever created for a key within a tenant. Submitting the same chain
    /// again returns the handle of the first. Submitting a different chain under the key is an error.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.draft.idempotency_key(key.into());
        self
    }

    /// Recognizes a repeat by the idempotency key alone, even if the chain is different.
    pub fn by_key_alone(mut self) -> Self {
        self.draft.by_key_alone();
        self
    }

    /// Lets the idempotency key expire this long after its first use, by the store's clock. A later use of the key
    /// creates a new chain. Must be greater than zero.
    pub fn within(mut self, lifetime: Duration) -> Self {
        self.draft.within(lifetime);
        self
    }

    /// Sets the tenant of the idempotency key and of every step that has none of its own.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.draft.tenant(tenant.into());
        self
    }

    /// Sets the correlation id of every step that has none of its own.
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.draft.correlation_id(id.into());
        self
    }

    /// Adds the next step. This compiles only if the step takes the output of the step before it, or nothing.
    pub fn then<J: StepAfter<T>>(self, job: J) -> Chain<'a, J::Output> {
        self.then_with(job, |enqueue| enqueue)
    }

    /// Adds the next step with individual options.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn then_with<J: StepAfter<T>>(
        mut self,
        job: J,
        options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J>,
    ) -> Chain<'a, J::Output> {
        let root = self.draft.root;
        let id = self.draft.add(&job, Some(root), None, options);
        if let (Vertex::Job(parent), Some(_)) = (self.last, J::DEF.inputs.first()) {
            for input in J::DEF.inputs {
                self.draft.input(id, input, vec![parent]);
            }
        }
        self.draft.edge(self.last, Vertex::Job(id), EdgeTrigger::Success);
        Chain { draft: self.draft, last: Vertex::Job(id), _returns: PhantomData }
    }

    /// Adds a whole batch as the next step. The step after it waits for the whole batch.
    pub fn then_batch(self, batch: Batch<'a>) -> Chain<'a, NoOutput> {
        self.then_draft(batch.into_draft())
    }

    /// Adds a whole workflow as the next step.
    pub fn then_workflow(self, workflow: Workflow<'a>) -> Chain<'a, NoOutput> {
        self.then_draft(workflow.into_draft())
    }

    fn then_draft(mut self, other: Draft<'a>) -> Chain<'a, NoOutput> {
        let root = self.draft.root;
        let point = self.draft.take_in(other, root, None);
        self.draft.edge(self.last, point, EdgeTrigger::Success);
        Chain { draft: self.draft, last: point, _returns: PhantomData }
    }

    /// Runs a job when every step has succeeded.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_success<J: WithoutInputs>(mut self, job: J) -> Self {
        self.draft.callback(self.draft.root, &job, EdgeTrigger::Success);
        self
    }

    /// Runs a job when the chain has ended because a step failed permanently.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn on_failure<J: WithoutInputs>(mut self, job: J) -> Self {
        self.draft.callback(self.draft.root, &job, EdgeTrigger::Failure);
        self
    }

    /// Returns the checked graph and its future handle without storing anything.
    pub(crate) fn into_parts(self) -> Result<(NewGraph, ChainHandle<T>), SubmitError> {
        let (last, number) = self.last_step();
        let (graph, group) = self.draft.into_parts()?;
        Ok((graph, ChainHandle { group, last, number, _returns: PhantomData }))
    }

    async fn submit(self) -> Result<ChainHandle<T>, SubmitError> {
        let (last, number) = self.last_step();
        let root = self.draft.root;
        let group = self.draft.submit().await?;
        let last = last.filter(|_| group.id() == root);
        Ok(ChainHandle { group, last, number, _returns: PhantomData })
    }

    /// Returns the last step and its number, if it is a job.
    fn last_step(&self) -> (Option<JobId>, Option<u32>) {
        let last = self.last.job();
        (last, last.and_then(|_| self.draft.last_number(self.draft.root)))
    }
}

impl<T> fmt::Debug for Chain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("steps", &self.draft.graph.jobs.len()).finish_non_exhaustive()
    }
}

impl<'a, T: 'static> IntoFuture for Chain<'a, T> {
    type Output = Result<ChainHandle<T>, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.submit())
    }
}

/// A handle to a submitted chain whose last step returns `T`.
///
/// ```
/// # use ratchet_core::{ChainHandle, FirstStep, Job, Ratchet, StepAfter};
/// # async fn demo<A: FirstStep, B: StepAfter<A::Output, Output = u64>>(ratchet: &Ratchet, extract: A, load: B) -> Result<(), Box<dyn std::error::Error>>
/// # where A::Output: 'static {
/// let chain: ChainHandle<u64> = ratchet.chain(extract).then(load).await?;
/// println!("{}", chain.group().to_text().await?);
///
/// let rows = chain.wait().await?; // the output of `load`
/// println!("{rows} rows were loaded by chain {}", chain.id());
/// # Ok(())
/// # }
/// ```
pub struct ChainHandle<T> {
    pub(in crate::client) group: GroupHandle,
    /// The last step, if it is a job of this submit. `None` if the chain was submitted earlier under its idempotency
    /// key.
    last: Option<JobId>,
    /// The number of the last step, which identifies it in a chain that was submitted earlier.
    number: Option<u32>,
    _returns: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> ChainHandle<T> {
    /// Waits for the chain to end and returns the output of its last step.
    pub async fn wait(&self) -> Result<T, WaitError> {
        let ended = self.group.wait().await?;
        let store = &self.group.core.store;
        let last = self.last().await.map_err(WaitError::Store)?;
        let blamed = match ended.state {
            GroupState::Succeeded => last,
            _ => ended.root_cause.and_then(Vertex::job),
        };
        let missing = || WaitError::GroupEnded { group: ended.id, state: ended.state };
        let job = store.get(blamed.ok_or_else(missing)?).await.map_err(WaitError::Store)?;
        let job = job.ok_or_else(missing)?;
        match (job.state, job.envelope.clone()) {
            (JobState::Succeeded, _) if Some(job.id) == last => read_output(&job),
            (JobState::Failed, Some(envelope)) => Err(WaitError::Failed(Box::new(envelope))),
            (JobState::Canceled, _) => Err(WaitError::Canceled(job.id)),
            _ => Err(missing()),
        }
    }
}

impl<T> ChainHandle<T> {
    /// Returns the id of the chain.
    pub fn id(&self) -> GroupId {
        self.group.id()
    }

    /// Returns the chain as a group, for its record, its members, drawing and cancellation.
    pub fn group(&self) -> &GroupHandle {
        &self.group
    }

    /// Returns the handle of another chain with the same steps: the one submitted first under an idempotency key.
    pub(crate) fn at(self, id: GroupId) -> Self {
        let last = self.last.filter(|_| id == self.group.id());
        Self { group: self.group.at(id), last, ..self }
    }

    async fn last(&self) -> Result<Option<JobId>, StoreError> {
        let (None, Some(number)) = (self.last, self.number) else { return Ok(self.last) };
        let members = self.group.members(None, u32::MAX).await?;
        Ok(members.into_iter().find(|member| member.number == number).map(|member| member.id))
    }
}

impl<T> fmt::Debug for ChainHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChainHandle").field("id", &self.group.id()).finish_non_exhaustive()
    }
}
