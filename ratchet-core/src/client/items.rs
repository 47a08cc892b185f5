//! What jobs set aside, and what they handed on.

use std::sync::Arc;
use std::time::Duration;

use super::{Core, Ratchet};
use crate::model::{HandOff, HandOffStats, JobId, Reject, RejectFilter, RejectGroup};
use crate::store::StoreError;

impl Ratchet {
    /// Items that jobs have set aside.
    pub fn rejects(&self) -> Rejects {
        Rejects { core: Arc::clone(&self.core) }
    }

    /// Checkpoints that jobs handed to a pipeline.
    pub fn pipeline(&self, name: impl Into<String>) -> Pipeline {
        Pipeline { core: Arc::clone(&self.core), name: name.into() }
    }
}

/// Items that jobs have set aside with `ctx.reject_item(…)`.
#[derive(Debug, Clone)]
pub struct Rejects {
    core: Arc<Core>,
}

impl Rejects {
    /// Rejects that fit a filter, by job and index: at most `limit`, and only those behind `after`.
    pub async fn list(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        self.core.store.rejects(filter, after, limit).await
    }

    /// Rejects counted by job name, error type and fingerprint.
    pub async fn groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        self.core.store.reject_groups(filter).await
    }

    /// Removes rejects that were dealt with.
    pub async fn forget(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        let keys: Vec<_> = rejects.iter().map(|reject| (reject.job, reject.item.index)).collect();
        self.core.store.forget_rejects(&keys).await
    }
}

/// Checkpoints that jobs handed to a pipeline with `ctx.hand_off(…)`: take them, work, then finish them.
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: Arc<Core>,
    name: String,
}

impl Pipeline {
    /// Takes what waits, in commit order. What is not finished within `hold` is handed out again.
    pub async fn take(&self, limit: u32, hold: Duration) -> Result<Vec<HandOff>, StoreError> {
        self.core.store.take_hand_offs(&self.name, limit, hold).await
    }

    /// These were taken over for good.
    pub async fn finish(
        &self,
        hand_offs: impl IntoIterator<Item = &HandOff>,
    ) -> Result<(), StoreError> {
        let keys: Vec<_> = hand_offs.into_iter().map(|it| it.handed.key.clone()).collect();
        self.core.store.finish_hand_offs(&self.name, &keys).await
    }

    /// Backlog, lag and suppressed repeats.
    pub async fn stats(&self) -> Result<HandOffStats, StoreError> {
        self.core.store.hand_off_stats(&self.name).await
    }
}
