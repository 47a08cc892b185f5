//! Manual control of queues and circuit breakers, and the explanation of why a job is waiting.

use std::time::Duration;

use super::Ratchet;
use crate::events::Event;
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{
    BreakerRecord, BreakerUpdate, JobId, QueueLimits, QueueRecord, QueueUpdate,
};
use ratchet_store::rules::Explanation;

/// Controls the queues of the cluster; see [`Ratchet::queues`].
#[derive(Debug, Clone, Copy)]
pub struct Queues<'a>(&'a Ratchet);

/// Controls the circuit breakers of the cluster; see [`Ratchet::breakers`].
#[derive(Debug, Clone, Copy)]
pub struct Breakers<'a>(&'a Ratchet);

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
    pub fn queues(&self) -> Queues<'_> {
        Queues(self)
    }

    /// Returns a handle that opens, closes and lists circuit breakers.
    pub fn breakers(&self) -> Breakers<'_> {
        Breakers(self)
    }

    /// Explains why a job is not running, from the same conditions that claims use. Returns `None` if there is no such
    /// job.
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
        let around = self.core.store.claim_context(id).await?;
        Ok(around.map(|around| around.explain(self.core.config.isolate_after_crashes)))
    }
}

impl Queues<'_> {
    /// Pauses a queue in the whole cluster: none of its jobs is claimed until it is resumed. Running jobs continue.
    /// Returns whether anything changed.
    pub async fn pause(self, queue: &str) -> Result<bool, StoreError> {
        self.order(queue, QueueUpdate::Pause).await
    }

    /// Resumes a paused queue. Returns whether anything changed.
    pub async fn resume(self, queue: &str) -> Result<bool, StoreError> {
        self.order(queue, QueueUpdate::Resume).await
    }

    /// Sets the limits of a queue in the whole cluster; the default sets no limit. A worker that starts with its own
    /// limits for this queue replaces them. Returns whether anything changed.
    pub async fn limit(self, queue: &str, limits: QueueLimits) -> Result<bool, StoreError> {
        self.order(queue, QueueUpdate::Limit(limits)).await
    }

    /// Lists every queue that is paused or limited.
    pub async fn list(self) -> Result<Vec<QueueRecord>, StoreError> {
        self.0.core.store.queues().await
    }

    async fn order(self, queue: &str, order: QueueUpdate) -> Result<bool, StoreError> {
        limits::check(Field::Queue, queue)?;
        crash_point(CrashPoint::CommandBefore);
        let changed = self.0.core.store.update_queue(queue, order).await?;
        crash_point(CrashPoint::CommandAnswered);
        Ok(changed)
    }
}

impl Breakers<'_> {
    /// Opens the breaker of a service. After `duration`, probes are let through. With `None`, it stays open until it is
    /// closed manually.
    pub async fn open(self, service: &str, duration: Option<Duration>) -> Result<(), StoreError> {
        self.order(service, BreakerUpdate::Open(duration)).await
    }

    /// Closes the breaker of a service and discards its samples.
    pub async fn close(self, service: &str) -> Result<(), StoreError> {
        self.order(service, BreakerUpdate::Close).await
    }

    /// Lists every breaker that has recorded a run or was opened or closed manually.
    pub async fn list(self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.0.core.store.breakers().await
    }

    /// Returns the breaker of a service. `None` if it has not recorded a run and was never opened or closed manually.
    pub async fn get(self, service: &str) -> Result<Option<BreakerRecord>, StoreError> {
        Ok(self.list().await?.into_iter().find(|record| record.service == service))
    }

    async fn order(self, service: &str, order: BreakerUpdate) -> Result<(), StoreError> {
        let core = &self.0.core;
        limits::check(Field::Service, service)?;
        crash_point(CrashPoint::CommandBefore);
        let change = core.store.update_breaker(service, order).await?;
        crash_point(CrashPoint::CommandAnswered);
        if let Some(change) = change {
            core.events.publish(|| Event::of_breaker(service, change));
        }
        Ok(())
    }
}
