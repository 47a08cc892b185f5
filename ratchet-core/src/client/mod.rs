//! The client: enqueues jobs, queries them and sends commands. None of this needs a worker in the process.

mod alerts;
mod breakers;
mod builder;
mod depth;
mod ends;
mod enqueue;
mod enqueue_many;
mod finished;
mod graph;
mod handle;
mod in_tx;
mod items;
mod jobs;
mod manage;
mod nodes;
mod queues;
mod schedules;
mod submit;

pub use alerts::Alerts;
pub use breakers::Breakers;
pub use builder::{BuildError, Builder};
pub use enqueue::Enqueue;
pub use enqueue_many::EnqueueMany;
pub use finished::Finished;
pub(crate) use graph::publish_effects;
pub use graph::{
    Batch, Chain, ChainHandle, GroupHandle, GroupReport, GroupStep, Groups, StepOptions,
    StepOutput, StepRef, Workflow,
};
pub use handle::{JobHandle, WaitError};
pub use items::{Pipeline, Rejects};
pub use jobs::Jobs;
pub use manage::Redrive;
pub use nodes::Nodes;
pub use queues::Queues;
pub use schedules::{DeclareSchedule, ScheduleError, ScheduleView, Schedules};
pub(crate) use schedules::{declare, definition, job as schedule_job};
pub use submit::SubmitError;

use std::sync::Arc;

use crate::events::EventStream;
use crate::job::Job;
use crate::runtime::Core;
use ratchet_store::Store;

/// A runtime over a store: enqueues jobs and starts workers. Cheap to clone.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet_core::Ratchet;
/// use ratchet_memory::MemoryStore;
///
/// let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// assert_eq!(ratchet.jobs().counts().await?.queues.len(), 0);
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
    pub fn builder_shared(store: Arc<dyn Store>) -> Builder {
        Builder::new(store)
    }

    /// Enqueues a job. Add options to the returned [`Enqueue`], then `.await` it.
    ///
    /// The arguments are encoded immediately. Nothing is stored before the await.
    #[allow(clippy::needless_pass_by_value)] // by value: the caller is done with the job
    pub fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        Enqueue::to_store(&self.core, &job)
    }

    /// Enqueues jobs of one type in one round trip: all of them or none.
    pub fn enqueue_many<J: Job>(&self, jobs: impl IntoIterator<Item = J>) -> EnqueueMany<'_, J> {
        EnqueueMany::new(&self.core, jobs)
    }

    /// Returns the handle of a job that was enqueued earlier. Does not check that the job exists.
    pub fn handle<J: Job>(&self, id: ratchet_store::model::JobId) -> JobHandle<J> {
        JobHandle::new(id, Arc::clone(&self.core), Vec::new())
    }

    /// Returns the state of type `T`, or `None` if none was registered with the builder.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<crate::job::State<T>> {
        self.core.states.get()
    }

    /// Subscribes to the events of this process from now on.
    pub fn events(&self) -> EventStream {
        self.core.events.subscribe()
    }

    /// Returns how many events slow subscribers have missed.
    pub fn lagged_events(&self) -> u64 {
        self.core.events.lagged()
    }

    /// Returns the store of this runtime.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.core.store
    }
}
