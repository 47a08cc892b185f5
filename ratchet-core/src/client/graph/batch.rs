//! [`Batch`]: jobs that run in parallel, with shared progress and callbacks when all have ended.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::draft::Draft;
use super::{Chain, GroupHandle, Workflow};
use crate::client::{Enqueue, SubmitError};
use crate::job::{FirstStep, Job, JobContext, WithoutInputs};
use crate::runtime::Core;
use ratchet_store::model::{EdgeTrigger, GroupKind, NewGraph};

/// A batch about to be submitted: add jobs and callbacks, then `.await`.
///
/// ```
/// # use ratchet_core::{FirstStep, Ratchet, WithoutInputs};
/// # async fn demo<J: FirstStep, R: WithoutInputs>(ratchet: &Ratchet, rows: Vec<J>, report: R) -> Result<(), Box<dyn std::error::Error>> {
/// let batch = ratchet.batch("import").jobs(rows).on_complete(report).await?;
/// let ended = batch.wait().await?;
/// println!("{} of {} rows went well", ended.counts.succeeded, ended.counts.total);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a batch is submitted only when this is awaited"]
pub struct Batch<'a> {
    draft: Draft<'a>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(target: (&'a Arc<Core>, Option<&'a JobContext>), name: String) -> Self {
        Self { draft: Draft::new(target, GroupKind::Batch, name) }
    }

    pub(super) fn into_draft(mut self) -> Draft<'a> {
        // A nested batch has no handle through which children could be added later.
        self.draft.root().sealed = true;
        self.draft
    }

    /// Adds a job with its default options.
    pub fn job<J: FirstStep>(self, job: J) -> Self {
        self.job_with(job, |enqueue| enqueue)
    }

    /// Adds a job with individual options.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn job_with<J: FirstStep>(
        mut self,
        job: J,
        options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J>,
    ) -> Self {
        let root = self.draft.root;
        self.draft.add(&job, Some(root), None, options);
        self
    }

    /// Adds several jobs of the same type.
    pub fn jobs<J: FirstStep>(self, jobs: impl IntoIterator<Item = J>) -> Self {
        jobs.into_iter().fold(self, Self::job)
    }

    /// Adds a whole chain as one child.
    pub fn chain<T>(mut self, chain: Chain<'a, T>) -> Self {
        let root = self.draft.root;
        self.draft.take_in(chain.draft, root, None);
        self
    }

    /// Adds a whole workflow as one child.
    pub fn workflow(mut self, workflow: Workflow<'a>) -> Self {
        let root = self.draft.root;
        self.draft.take_in(workflow.into_draft(), root, None);
        self
    }

    /// Adds another batch as one child.
    pub fn batch(mut self, batch: Batch<'a>) -> Self {
        let root = self.draft.root;
        self.draft.take_in(batch.into_draft(), root, None);
        self
    }

    /// Sets the idempotency key. At most one batch is ever created for a key within a tenant. Submitting the same batch
    /// again returns the handle of the first. Submitting a different batch under the key is an error.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.draft.idempotency_key(key.into());
        self
    }

    /// Recognizes a repeat by the idempotency key alone, even if the batch is different.
    pub fn by_key_alone(mut self) -> Self {
        self.draft.by_key_alone();
        self
    }

    /// Lets the idempotency key expire this long after its first use, by the store's clock. A later use of the key
    /// creates a new batch. Must be greater than zero.
    pub fn within(mut self, lifetime: Duration) -> Self {
        self.draft.within(lifetime);
        self
    }

    /// Sets the tenant of the idempotency key and of every job that has none of its own.
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.draft.tenant(tenant.into());
        self
    }

    /// Sets the correlation id of every job that has none of its own.
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.draft.correlation_id(id.into());
        self
    }

    /// Leaves the batch open: children can be added with [`GroupHandle::add`] until [`GroupHandle::seal`] is called.
    pub fn open(mut self) -> Self {
        self.draft.root().sealed = false;
        self
    }

    /// Runs a job when every child has succeeded.
    pub fn on_success<J: WithoutInputs>(self, job: J) -> Self {
        self.on(job, EdgeTrigger::Success)
    }

    /// Runs a job when all children have ended and at least one has failed.
    pub fn on_failure<J: WithoutInputs>(self, job: J) -> Self {
        self.on(job, EdgeTrigger::Failure)
    }

    /// Runs a job when all children have ended, regardless of how.
    pub fn on_complete<J: WithoutInputs>(self, job: J) -> Self {
        self.on(job, EdgeTrigger::Always)
    }

    /// Runs a job when all children have ended and at least this share of them has succeeded: 0.95 is 95 %. The rate
    /// must be between 0 and 1.
    pub fn on_rate<J: WithoutInputs>(mut self, rate: f64, job: J) -> Self {
        if !(0.0..=1.0).contains(&rate) {
            let job = self.draft.root().name.clone();
            let problem = format!("a success rate must be between 0 and 1, not {rate}");
            self.draft.fail(SubmitError::BadOption { job, problem });
            return self;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // between 0 and a million
        let rate = (rate * 1e6).round() as u32;
        self.on(job, EdgeTrigger::Rate(rate))
    }

    /// Returns the checked graph and its future handle without storing anything.
    pub(crate) fn into_parts(self) -> Result<(NewGraph, GroupHandle), SubmitError> {
        self.draft.into_parts()
    }

    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    fn on<J: Job>(mut self, job: J, when: EdgeTrigger) -> Self {
        self.draft.callback(self.draft.root, &job, when);
        self
    }
}

impl<'a> IntoFuture for Batch<'a> {
    type Output = Result<GroupHandle, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.draft.submit())
    }
}
