//! [`Queues`]: manual control of queues.

use std::sync::Arc;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::limits::{self, Field, brief};
use ratchet_store::model::{Change, QueueLimits, QueueRecord, QueueUpdate};
use ratchet_store::{StoreError, StoreErrorKind};

use super::Ratchet;
use super::acting::{Manner, store_error};
use crate::runtime::Core;

/// Controls the queues of the cluster; see [`Ratchet::queues`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// ratchet.queues().pause("mail").await?;
/// for queue in ratchet.queues().list().await? {
///     println!("{} paused: {}", queue.queue, queue.rules.paused);
/// }
/// ratchet.queues().resume("mail").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Queues {
    core: Arc<Core>,
    manner: Manner,
}

impl Ratchet {
    /// Returns a handle that pauses, resumes, limits, resets and lists queues.
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
        Queues { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Queues {
    /// Pauses a queue in the whole cluster: none of its jobs is claimed until it is resumed. Running jobs continue.
    /// Returns whether anything changed.
    pub async fn pause(&self, queue: &str) -> Result<bool, StoreError> {
        self.update("queues.pause", queue, QueueUpdate::Pause).await
    }

    /// Resumes a paused queue. Returns whether anything changed.
    pub async fn resume(&self, queue: &str) -> Result<bool, StoreError> {
        self.update("queues.resume", queue, QueueUpdate::Resume).await
    }

    /// Sets the limits of a queue in the whole cluster; the default sets no limit. They take precedence over the limits
    /// that programs declare, until [`Self::reset`] removes them. Returns whether anything changed.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as manage; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// use ratchet::manage::QueueLimits;
    ///
    /// let mut few = QueueLimits::default();
    /// few.concurrency = Some(5);
    /// ratchet.queues().limit("payments", few).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// A limit of zero jobs is refused with [`StoreErrorKind::Data`]. Use [`Self::pause`] instead.
    pub async fn limit(&self, queue: &str, limits: QueueLimits) -> Result<bool, StoreError> {
        if let Some(problem) = limits.problem() {
            let message = format!("cannot limit queue `{}`: {problem}", brief(queue));
            return Err(StoreError::new(StoreErrorKind::Data, message));
        }
        self.update("queues.limit", queue, QueueUpdate::Limit(limits)).await
    }

    /// Removes the limits that were set with [`Self::limit`], so that those apply that programs declare. A paused queue
    /// remains paused. Returns whether anything changed.
    ///
    /// ```
    /// # use ratchet_core::{QueueLimits, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let mut few = QueueLimits::default();
    /// few.concurrency = Some(3);
    /// ratchet.queues().limit("payments", few).await?;
    /// let rules = &ratchet.queues().list().await?[0].rules;
    /// assert_eq!((rules.limits, rules.set_by_operator), (few, Some(few)));
    /// ratchet.queues().reset("payments").await?;
    /// assert!(ratchet.queues().list().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn reset(&self, queue: &str) -> Result<bool, StoreError> {
        self.update("queues.reset", queue, QueueUpdate::Reset).await
    }

    /// Lists every queue that is paused or limited, with the limits that programs declare, those that an operator has
    /// set, and those that apply.
    pub async fn list(&self) -> Result<Vec<QueueRecord>, StoreError> {
        self.core.store.queues().await
    }

    async fn update(
        &self,
        verb: &'static str,
        queue: &str,
        update: QueueUpdate,
    ) -> Result<bool, StoreError> {
        limits::check(Field::Queue, queue)?;
        if self.manner.is_special() {
            let change = Change::Queue { queue: queue.to_owned(), update };
            let reply = self.core.operate(&self.manner, verb, change).await.map_err(store_error)?;
            return Ok(reply.is_change());
        }
        crash_point(CrashPoint::CommandBefore);
        let changed = self.core.store.update_queue(queue, update).await?;
        crash_point(CrashPoint::CommandAnswered);
        Ok(changed)
    }
}
