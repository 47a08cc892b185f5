//! [`RunMode`]: when a worker stops by itself.

/// When a worker stops by itself.
///
/// A worker that stops by itself runs one sweep first, which rescues orphans and fires schedules, and lets its runs
/// finish. [`Worker::stopped`](crate::Worker::stopped) tells why it has stopped.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as runtime}; pub use ratchet_memory::MemoryStore; }
/// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::runtime::RunMode;
/// use ratchet::{MemoryStore, Ratchet};
///
/// // A process that a cron job of the system starts: it runs what is due, and ends.
/// let ratchet = Ratchet::builder(MemoryStore::new()).run(RunMode::Drain).build().await?;
/// let worker = ratchet.start().await?;
/// worker.run_until_signal().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RunMode {
    /// Never: the worker runs until it is stopped.
    #[default]
    UntilStopped,
    /// When no job is due that the worker could run. Jobs that are due later, such as retries, stay in their queues.
    Drain,
    /// After one claim, of at most [`max_jobs`](crate::Config::max_jobs) jobs.
    Once,
}
