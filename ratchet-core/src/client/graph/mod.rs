//! Chains, batches and workflows: built in memory, checked, then submitted in one commit.

mod add_members;
mod batch;
mod chain;
mod draft;
mod draw;
mod effects;
mod groups;
mod handle;
mod report;
mod svg;
mod workflow;

pub use add_members::AddMembers;
pub(super) use add_members::handles;
pub use batch::Batch;
pub use chain::{Chain, ChainHandle};
pub(crate) use effects::publish_effects;
pub use groups::Groups;
pub use handle::GroupHandle;
pub use report::GroupReport;
pub use workflow::{GroupStep, StepOptions, StepOutput, StepRef, Workflow};

use std::sync::Arc;

use super::Ratchet;
use crate::job::FirstStep;
use crate::job::JobContext;
use ratchet_store::model::GroupId;

impl Ratchet {
    /// Starts building a batch: jobs that run in parallel, with shared progress and callbacks when all have ended.
    pub fn batch(&self, name: impl Into<String>) -> Batch<'_> {
        Batch::new((&self.core, None), name.into())
    }

    /// Starts building a workflow: named steps with edges between them.
    pub fn workflow(&self, name: impl Into<String>) -> Workflow<'_> {
        Workflow::new((&self.core, None), name.into())
    }

    /// Returns the handle of a chain, batch or workflow submitted earlier. Does not check that it exists.
    pub fn group(&self, id: GroupId) -> GroupHandle {
        GroupHandle::new(id, Arc::clone(&self.core)).in_manner(self.manner())
    }
}

/// A graph submitted by a run is stored **with the run's success**, in the same commit, like the jobs it enqueues. If
/// the run fails, the graph is never stored. A key conflict at commit drops the whole graph and adds a warning to the
/// job. Before the commit, the handle finds nothing.
impl JobContext {
    /// Starts building a chain that is stored with this run's success.
    ///
    /// ```
    /// # use ratchet_core::{FirstStep, StepAfter, JobContext, SubmitError};
    /// # async fn demo<A: FirstStep, B: StepAfter<A::Output>>(ctx: JobContext, extract: A, load: B) -> Result<(), SubmitError>
    /// # where A::Output: 'static, B::Output: 'static {
    /// ctx.chain(extract).then(load).named("etl").await?;
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn chain<J: FirstStep>(&self, first: J) -> Chain<'_, J::Output> {
        Chain::new((self.core(), Some(self)), &first)
    }

    /// Starts building a batch that is stored with this run's success.
    pub fn batch(&self, name: impl Into<String>) -> Batch<'_> {
        Batch::new((self.core(), Some(self)), name.into())
    }

    /// Starts building a workflow that is stored with this run's success.
    pub fn workflow(&self, name: impl Into<String>) -> Workflow<'_> {
        Workflow::new((self.core(), Some(self)), name.into())
    }
}
