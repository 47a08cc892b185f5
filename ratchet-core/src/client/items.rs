//! Access to the items that jobs rejected and to the checkpoints that they handed off to pipelines.

use std::sync::Arc;
use std::time::Duration;

use super::Ratchet;
use super::acting::{Manner, store_error};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Change, HandOff, HandOffStats, JobId, Reject, RejectFilter, RejectGroup,
};

impl Ratchet {
    /// Returns access to the items that jobs have rejected.
    pub fn rejects(&self) -> Rejects {
        Rejects { core: Arc::clone(&self.core), manner: self.manner() }
    }

    /// Returns access to the checkpoints that jobs handed off to a pipeline.
    pub fn pipeline(&self, name: impl Into<String>) -> Pipeline {
        Pipeline { core: Arc::clone(&self.core), name: name.into() }
    }
}

/// Items that jobs have rejected with `ctx.reject_item(…)`.
#[derive(Debug, Clone)]
pub struct Rejects {
    core: Arc<Core>,
    manner: Manner,
}

impl Rejects {
    /// Lists rejects that match a filter, ordered by job and index: at most `limit`, starting after `after`.
    pub async fn list(
        &self,
        filter: &RejectFilter,
        after: Option<(JobId, u64)>,
        limit: u32,
    ) -> Result<Vec<Reject>, StoreError> {
        self.core.store.rejects(filter, after, limit).await
    }

    /// Counts rejects by job name, error type and fingerprint.
    pub async fn groups(&self, filter: &RejectFilter) -> Result<Vec<RejectGroup>, StoreError> {
        self.core.store.reject_groups(filter).await
    }

    /// Deletes rejects that have been handled.
    pub async fn forget(&self, rejects: &[Reject]) -> Result<(), StoreError> {
        let keys: Vec<_> = rejects.iter().map(|reject| (reject.job, reject.item.index)).collect();
        if self.manner.is_special() {
            let change = Change::ForgetRejects(keys);
            let reply = self.core.operate(&self.manner, "rejects.forget", change).await;
            return reply.map(drop).map_err(store_error);
        }
        self.core.store.forget_rejects(&keys).await
    }
}

/// Checkpoints that jobs handed off to a pipeline with `ctx.hand_off(…)`. Take them, process them, then finish them.
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: Arc<Core>,
    name: String,
}

impl Pipeline {
    /// Takes up to `limit` waiting hand-offs in commit order. Those not finished within `hold` are handed out again.
    pub async fn take(&self, limit: u32, hold: Duration) -> Result<Vec<HandOff>, StoreError> {
        let taken = self.core.store.take_hand_offs(&self.name, limit, hold).await?;
        let now = self.core.clock.now();
        for hand_off in &taken {
            let after = Duration::try_from(now.duration_since(hand_off.at)).unwrap_or_default();
            self.core.meter.hand_off_taken(&self.name, after);
        }
        Ok(taken)
    }

    /// Marks hand-offs as processed, so that they are not handed out again.
    pub async fn finish(
        &self,
        hand_offs: impl IntoIterator<Item = &HandOff>,
    ) -> Result<(), StoreError> {
        let keys: Vec<_> = hand_offs.into_iter().map(|it| it.handed.key.clone()).collect();
        self.core.store.finish_hand_offs(&self.name, &keys).await
    }

    /// Returns the backlog, the lag and the number of suppressed repeats.
    pub async fn stats(&self) -> Result<HandOffStats, StoreError> {
        self.core.store.hand_off_stats(&self.name).await
    }
}
