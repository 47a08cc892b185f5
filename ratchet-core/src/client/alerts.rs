//! [`Alerts`]: the alerts about jobs that failed permanently.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::Alert;

use super::Ratchet;
use crate::runtime::Core;

/// Lists recorded alerts; see [`Ratchet::alerts`].
#[derive(Debug, Clone)]
pub struct Alerts {
    core: Arc<Core>,
}

impl Ratchet {
    /// Returns a handle that lists recorded alerts.
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
