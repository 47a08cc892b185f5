//! Access to the metrics of a process.

use super::Ratchet;
use crate::meter::Metrics;
use ratchet_store::StoreError;

impl Ratchet {
    /// Returns what this process has measured so far. Does not use the store.
    ///
    /// Metrics about the whole store, such as the depth of queues, are those of the last
    /// [`sample_metrics`](Self::sample_metrics). [`Metric::all`](crate::Metric::all) lists all metrics.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// ratchet.sample_metrics().await?;
    /// println!("{}", ratchet.metrics().to_prometheus());
    /// # Ok(())
    /// # }
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.core.metrics()
    }

    /// Samples the metrics about the whole store: the depth of queues, dead letters, breakers, live nodes and pipelines.
    ///
    /// Reads counters that the store keeps, and does not scan jobs. A sample is reused for five seconds.
    pub async fn sample_metrics(&self) -> Result<(), StoreError> {
        self.core.sample_metrics().await
    }
}
