//! [`Alerts`]: the alerts about jobs that failed permanently.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::Alert;

use super::Ratchet;
use crate::runtime::Core;

/// Lists recorded alerts; see [`Ratchet::alerts`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// for alert in ratchet.alerts().list(20).await? {
///     println!("{} {}: {}", alert.at, alert.job_name, alert.message);
///     println!("{} equal alerts were suppressed since", alert.suppressed);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Alerts {
    core: Arc<Core>,
}

impl Ratchet {
    /// Returns a handle that lists recorded alerts.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// for alert in ratchet.alerts().list(20).await? {
    ///     println!("{alert:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn alerts(&self) -> Alerts {
        Alerts { core: Arc::clone(&self.core) }
    }
}

impl Alerts {
    /// Lists up to `limit` alerts, newest first.
    pub async fn list(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.core.store.alerts(limit).await
    }
}
