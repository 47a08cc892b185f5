//! [`Ratchet`]: the entry point of an application.
//!
//! Most methods that query and control jobs are next to the types that they return. `enqueue` and `chain` are here,
//! because compiler errors then call them `Ratchet::enqueue` and `Ratchet::chain`.

use std::sync::Arc;

use super::{Acting, Chain, Enqueue};
use crate::events::EventStream;
use crate::job::{FirstStep, Job};
use crate::runtime::Core;
use ratchet_store::Store;

/// A runtime over a store: enqueues jobs and starts workers. Cheap to clone.
///
/// ```
/// # mod ratchet { pub use ratchet_core::Ratchet; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::Ratchet;
/// use ratchet::MemoryStore;
///
/// let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// assert_eq!(ratchet.jobs().counts().await?.queues.len(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Ratchet {
    pub(crate) core: Arc<Core>,
    /// Who acts, if changes are recorded.
    pub(crate) acting: Option<Arc<Acting>>,
}

impl Ratchet {
    /// Enqueues a job. Add options to the returned [`Enqueue`], then `.await` it.
    ///
    /// The arguments are encoded immediately. Nothing is stored before the await.
    ///
    /// ```
    /// # async fn demo(ratchet: ratchet_core::Ratchet, report: impl ratchet_core::Job) -> Result<(), ratchet_core::SubmitError> {
    /// let handle = ratchet.enqueue(report).queue("reports").tag("monthly").await?;
    /// println!("{}", handle.id());
    /// # Ok(())
    /// # }
    /// ```
    #[allow(clippy::needless_pass_by_value)] // by value: the caller is done with the job
    pub fn enqueue<J: Job>(&self, job: J) -> Enqueue<'_, J> {
        Enqueue::to_store(&self.core, &job).manner(self.manner())
    }

    /// Starts building a chain: `ratchet.chain(first).then(second).await`. Steps run one after the other. A step may
    /// take the output of the step before it.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn chain<J: FirstStep>(&self, first: J) -> Chain<'_, J::Output> {
        Chain::new((&self.core, None), &first)
    }

    /// Returns the state of type `T`, or `None` if none was registered with the builder.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; pub use ratchet_memory::MemoryStore; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::{MemoryStore, Ratchet};
    ///
    /// struct Gateway { url: &'static str }
    ///
    /// let ratchet = Ratchet::builder(MemoryStore::new()).state(Gateway { url: "https://pay.example" }).build().await?;
    /// let gateway = ratchet.state::<Gateway>().expect("it was registered");
    /// assert_eq!(gateway.url, "https://pay.example");
    /// # Ok(())
    /// # }
    /// ```
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<crate::job::State<T>> {
        self.core.states.get()
    }

    /// Subscribes to the events of this process from now on.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # async fn demo(ratchet: ratchet_core::Ratchet) {
    /// use ratchet::Event;
    ///
    /// let mut events = ratchet.events();
    /// while let Some(event) = events.next().await {
    ///     if let Event::DeadLettered { job, envelope } = event {
    ///         println!("{} has failed: {}", job.name, envelope.reason);
    ///     }
    /// }
    /// # }
    /// ```
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
