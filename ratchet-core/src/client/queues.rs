//! [`Queues`]: manual control of queues.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{QueueLimits, QueueRecord, QueueUpdate};

use super::Ratchet;
use crate::runtime::Core;

/// Controls the queues of the cluster; see [`Ratchet::queues`].
#[derive(Debug, Clone)]
pub struct Queues {
    core: Arc<Core>,
}

impl Ratchet {
    /// Returns a handle that pauses, resumes, limits and lists queues.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// ratchet.queues().pause("payments").await?;
    /// assert!(ratchet.queues().list().await?[0].rules.paused);
    /// # Ok(())
    /// # }
    /// ```
    pub fn queues(&self) -> Queues {
        Queues { core: Arc::clone(&self.core) }
    }
}

impl Queues {
    /// Pauses a queue in the whole cluster: none of its jobs is claimed until it is resumed. Running jobs continue.
    /// Returns whether anything changed.
    pub async fn pause(&self, queue: &str) -> Result<bool, StoreError> {
        self.update(queue, QueueUpdate::Pause).await
    }

    /// Resumes a paused queue. Returns whether anything changed.
    pub async fn resume(&self, queue: &str) -> Result<bool, StoreError> {
        self.update(queue, QueueUpdate::Resume).await
    }

    /// Sets the limits of a queue in the whole cluster; the default sets no limit. A worker that starts with its own
    /// limits for this queue replaces them. Returns whether anything changed.
    pub async fn limit(&self, queue: &str, limits: QueueLimits) -> Result<bool, StoreError> {
        self.update(queue, QueueUpdate::Limit(limits)).await
    }

    /// Lists every queue that is paused or limited.
    pub async fn list(&self) -> Result<Vec<QueueRecord>, StoreError> {
        self.core.store.queues().await
    }

    async fn update(&self, queue: &str, update: QueueUpdate) -> Result<bool, StoreError> {
        limits::check(Field::Queue, queue)?;
        crash_point(CrashPoint::CommandBefore);
        let changed = self.core.store.update_queue(queue, update).await?;
        crash_point(CrashPoint::CommandAnswered);
        Ok(changed)
    }
}
