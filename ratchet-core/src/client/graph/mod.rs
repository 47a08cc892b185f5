//! Chains, batches and workflows: built in memory, checked, then submitted as a whole.

mod batch;
mod chain;
mod draft;
mod draw;
mod handle;
mod report;
mod ripples;
mod svg;
mod workflow;

pub use batch::Batch;
pub use chain::{Chain, ChainHandle};
pub use handle::GroupHandle;
pub use report::GroupReport;
pub(crate) use ripples::publish_ripples;
pub use workflow::{StepRef, Whole, Wiring, Workflow, Yields};

use std::sync::Arc;

use super::Ratchet;
use crate::context::JobContext;
use crate::job::Begins;
use crate::model::{GroupFilter, GroupId, GroupRecord};
use crate::store::StoreError;

impl Ratchet {
    /// Begins a chain: `ratchet.chain(first).then(second).await`. Steps run one after the other; a step may take what the
    /// one before returned.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn chain<J: Begins>(&self, first: J) -> Chain<'_, J::Output> {
        Chain::new((&self.core, None), &first)
    }

    /// Begins a batch: jobs side by side, with one progress and callbacks for its end.
    pub fn batch(&self, name: impl Into<String>) -> Batch<'_> {
        Batch::new((&self.core, None), name.into())
    }

    /// Begins a workflow: named steps with edges between them.
    pub fn workflow(&self, name: impl Into<String>) -> Workflow<'_> {
        Workflow::new((&self.core, None), name.into())
    }

    /// The handle of a chain, batch or workflow submitted earlier.
    pub fn group(&self, id: GroupId) -> GroupHandle {
        GroupHandle::new(id, Arc::clone(&self.core))
    }

    /// Chains, batches and workflows that fit a filter, newest first: at most `limit`, older than `before`.
    pub async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, StoreError> {
        self.core.store.groups(filter, before, limit).await
    }
}

/// What a run submits comes into being **with its success**, in the same commit, as what it enqueues does. If the run
/// fails, nothing of it ever exists; a key conflict found at the commit drops the whole graph with a warning on the job.
/// Until then its handle finds nothing.
impl JobContext {
    /// Begins a chain that comes into being with this run's success.
    ///
    /// ```
    /// # use ratchet_core::{Begins, Follows, JobContext, SubmitError};
    /// # async fn demo<A: Begins, B: Follows<A::Output>>(ctx: JobContext, extract: A, load: B) -> Result<(), SubmitError>
    /// # where A::Output: 'static, B::Output: 'static {
    /// ctx.chain(extract).then(load).named("etl").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn chain<J: Begins>(&self, first: J) -> Chain<'_, J::Output> {
        Chain::new((self.core(), Some(self)), &first)
    }

    /// Begins a batch that comes into being with this run's success.
    pub fn batch(&self, name: impl Into<String>) -> Batch<'_> {
        Batch::new((self.core(), Some(self)), name.into())
    }

    /// Begins a workflow that comes into being with this run's success.
    pub fn workflow(&self, name: impl Into<String>) -> Workflow<'_> {
        Workflow::new((self.core(), Some(self)), name.into())
    }
}
