//! [`Ratchet::on`]: calls a function for every event of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Ratchet;
use crate::events::Event;
use crate::failure::catch_panic;

/// A function that is called for every event; see [`Ratchet::on`]. Dropping this does not end it.
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let counted = Arc::new(AtomicU64::new(0));
/// let counter = Arc::clone(&counted);
/// let observer = ratchet.on(move |_| {
///     counter.fetch_add(1, Ordering::Relaxed);
/// });
/// // When the measurement is over:
/// observer.stop();
/// println!("{} events", counted.load(Ordering::Relaxed));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Observer {
    stopped: Arc<AtomicBool>,
}

impl Observer {
    /// Ends the observation. The function is not called for later events.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }
}

impl Ratchet {
    /// Calls a function for every event of this process from now on, until the runtime is gone or the observer is
    /// [stopped](Observer::stop).
    ///
    /// The function runs on a thread of its own, one event after the other, so it may block without delaying jobs. If it
    /// falls behind, the oldest events are lost, and [`lagged_events`](Self::lagged_events) counts them. A panic is
    /// counted and logged, and the next event follows. What must not be lost belongs in a sink.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::Event; pub use ratchet_core::Ratchet; pub use ratchet_memory::MemoryStore; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet::{Event, Ratchet};
    /// use ratchet::MemoryStore;
    ///
    /// let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// ratchet.on(|event| {
    ///     if let Event::DeadLettered { job, .. } = event {
    ///         eprintln!("{} ({}) is a dead letter", job.name, job.id);
    ///     }
    /// });
    /// # Ok(())
    /// # }
    /// ```
    pub fn on(&self, mut observer: impl FnMut(&Event) + Send + 'static) -> Observer {
        let stopped = Arc::new(AtomicBool::new(false));
        let (mut events, panics) = (self.events(), Arc::clone(&self.core.panics));
        let over = Arc::clone(&stopped);
        let watch = move || {
            while let Some(event) = events.blocking_next() {
                if over.load(Ordering::Acquire) {
                    return;
                }
                if let Err(panic) = catch_panic(|| observer(&event)) {
                    panics.note("observer", &panic);
                }
            }
        };
        let thread = std::thread::Builder::new().name("ratchet-observer".to_owned()).spawn(watch);
        if let Err(error) = thread {
            tracing::error!(%error, "an observer has no thread, so it receives no events");
            stopped.store(true, Ordering::Release);
        }
        Observer { stopped }
    }
}
