//! The client: enqueue, look, command. Everything a process can do without being a worker.

mod builder;
mod bulk;
mod core;
mod depth;
mod ends;
mod enqueue;
mod finished;
mod gates;
mod graph;
mod handle;
mod items;
mod manage;
mod query;
mod schedules;
mod submit;

pub use builder::{BuildError, Builder};
pub use bulk::Bulk;
pub(crate) use core::Core;
pub use enqueue::Enqueue;
pub use finished::Finished;
pub use gates::{Breakers, Queues};
pub(crate) use graph::publish_ripples;
pub use graph::{
    Batch, Chain, ChainHandle, GroupHandle, GroupReport, StepRef, Whole, Wiring, Workflow, Yields,
};
pub use handle::{JobHandle, WaitError};
pub use items::{Pipeline, Rejects};
pub use manage::Redrive;
pub use schedules::{Declare, ScheduleError, ScheduleView, Schedules};
pub(crate) use schedules::{declare, definition, job as schedule_job};
pub use submit::SubmitError;
pub(crate) use submit::is_name;

use std::sync::Arc;

use crate::events::EventStream;
use crate::job::Job;
use crate::model::NewJob;
use crate::store::Store;

/// A runtime over a store: the handle that enqueues jobs and starts workers. Cheap to clone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet_core::{MemoryStore, Ratchet};
///
/// let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// assert_eq!(ratchet.counts().await?.queues.len(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Ratchet {
    pub(crate) core: Arc<Core>,
}

impl Ratchet {
    /// Starts building a runtime over a store.
    pub fn builder(store: impl Store) -> Builder {
        Builder::new(Arc::new(store))
    }

    /// Starts building a runtime over a shared store.
    pub fn builder_over(store: Arc<dyn Store>) -> Builder {
        Builder::new(store)
    }

    /// Enqueues a job: add options, then `.await`.
    ///
    /// The arguments are encoded at once; nothing is stored before the await.
    #[allow(clippy::needless_pass_by_value)] // the job is handed over; that it is only encoded is our affair
    pub fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        Enqueue::to_store(&self.core, &job)
    }

    /// Collects many jobs to insert in one round trip, all or nothing.
    pub fn bulk(&self) -> Bulk<'_> {
        Bulk::new(&self.core)
    }

    /// Turns an enqueue into what a store inserts: for stores that insert within a caller's own transaction.
    pub fn prepare<J: Job>(&self, enqueue: Enqueue<'_, J>) -> Result<NewJob, SubmitError> {
        enqueue.into_new_job()
    }

    /// The handle of a job enqueued earlier, by id.
    pub fn handle<J: Job>(&self, id: crate::model::JobId) -> JobHandle<J> {
        JobHandle::new(id, Arc::clone(&self.core), Vec::new())
    }

    /// The registered state of type `T`.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<crate::job::State<T>> {
        self.core.states.get()
    }

    /// Subscribes to what happens in this process from now on.
    pub fn events(&self) -> EventStream {
        self.core.events.subscribe()
    }

    /// How many events slow subscribers have missed.
    pub fn lagged_events(&self) -> u64 {
        self.core.events.lagged()
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.core.store
    }
}
