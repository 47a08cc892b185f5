//! What holds jobs back, by hand: queues and breakers; and the answer to "why is this job waiting?".

use std::time::Duration;

use super::Ratchet;
use crate::crash::{CrashPoint, crash_point};
use crate::events::Event;
use crate::model::limits::{self, Field};
use crate::model::{
    BreakerOrder, BreakerRecord, Explanation, JobId, QueueLimits, QueueOrder, QueueRecord,
};
use crate::store::StoreError;

/// The queues of the cluster.
#[derive(Debug, Clone, Copy)]
pub struct Queues<'a>(&'a Ratchet);

/// The circuit breakers of the cluster.
#[derive(Debug, Clone, Copy)]
pub struct Breakers<'a>(&'a Ratchet);

impl Ratchet {
    /// Pauses, resumes, limits and lists queues.
    ///
    /// ```
    /// # use ratchet_core::{MemoryStore, Ratchet};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// ratchet.queues().pause("payments").await?;
    /// assert!(ratchet.queues().list().await?[0].rules.paused);
    /// # Ok(())
    /// # }
    /// ```
    pub fn queues(&self) -> Queues<'_> {
        Queues(self)
    }

    /// Opens, closes and lists circuit breakers.
    pub fn breakers(&self) -> Breakers<'_> {
        Breakers(self)
    }

    /// Why a job is not running, from the conditions that claims themselves use. `None` if there is no such job.
    ///
    /// ```
    /// # use ratchet_core::{Job, Ratchet};
    /// # async fn demo<J: Job>(ratchet: &Ratchet, job: J) -> Result<(), Box<dyn std::error::Error>> {
    /// let handle = ratchet.enqueue(job).await?;
    /// if let Some(why) = ratchet.explain(handle.id()).await? {
    ///     println!("{why}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(&self, id: JobId) -> Result<Option<Explanation>, StoreError> {
        let around = self.core.store.surroundings(id).await?;
        Ok(around.map(|around| around.explain(self.core.config.isolate_after_crashes)))
    }
}

impl Queues<'_> {
    /// Claims nothing from a queue, in the whole cluster, until it is resumed. What runs goes on.
    pub async fn pause(self, queue: &str) -> Result<bool, StoreError> {
        self.order(queue, QueueOrder::Pause).await
    }

    /// Claims from a queue again.
    pub async fn resume(self, queue: &str) -> Result<bool, StoreError> {
        self.order(queue, QueueOrder::Resume).await
    }

    /// Limits a queue in the whole cluster; the default limits nothing. A worker that starts with limits of its own for
    /// this queue replaces them.
    pub async fn limit(self, queue: &str, limits: QueueLimits) -> Result<bool, StoreError> {
        self.order(queue, QueueOrder::Limit(limits)).await
    }

    /// Every queue that is paused or limited.
    pub async fn list(self) -> Result<Vec<QueueRecord>, StoreError> {
        self.0.core.store.queues().await
    }

    async fn order(self, queue: &str, order: QueueOrder) -> Result<bool, StoreError> {
        limits::check(Field::Queue, queue)?;
        crash_point(CrashPoint::CommandBefore);
        let changed = self.0.core.store.order_queue(queue, order).await?;
        crash_point(CrashPoint::CommandAnswered);
        Ok(changed)
    }
}

impl Breakers<'_> {
    /// Opens the breaker of a service: for a while, after which probes are let through, or until it is closed by hand.
    pub async fn open(self, service: &str, duration: Option<Duration>) -> Result<(), StoreError> {
        self.order(service, BreakerOrder::Open(duration)).await
    }

    /// Closes the breaker of a service and forgets what it has seen.
    pub async fn close(self, service: &str) -> Result<(), StoreError> {
        self.order(service, BreakerOrder::Close).await
    }

    /// Every breaker that has seen a run or an order.
    pub async fn list(self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.0.core.store.breakers().await
    }

    /// The breaker of a service, if it has seen a run or an order.
    pub async fn get(self, service: &str) -> Result<Option<BreakerRecord>, StoreError> {
        Ok(self.list().await?.into_iter().find(|record| record.service == service))
    }

    async fn order(self, service: &str, order: BreakerOrder) -> Result<(), StoreError> {
        let core = &self.0.core;
        limits::check(Field::Service, service)?;
        crash_point(CrashPoint::CommandBefore);
        let change = core.store.order_breaker(service, order).await?;
        crash_point(CrashPoint::CommandAnswered);
        if let Some(change) = change {
            core.events.publish(|| Event::of_breaker(service, change));
        }
        Ok(())
    }
}
