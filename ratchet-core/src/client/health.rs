//! The health of all workers of a process.

use super::Ratchet;
use crate::runtime::Health;

impl Ratchet {
    /// Returns whether every worker of this process is live, see [`Worker::liveness`](crate::Worker::liveness). A process
    /// without a worker is live.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// assert!(ratchet.liveness().ok);
    /// assert_eq!(ratchet.readiness().problems, ["no worker is running in this process"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn liveness(&self) -> Health {
        self.core.workers.liveness()
    }

    /// Returns whether every worker of this process is ready, see [`Worker::readiness`](crate::Worker::readiness). A
    /// process without a worker is not ready.
    pub fn readiness(&self) -> Health {
        self.core.workers.readiness()
    }
}
