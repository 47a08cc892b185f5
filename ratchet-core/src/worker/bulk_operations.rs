//! Runs bulk operations while this node leads maintenance.

use std::time::Duration;

use ratchet_store::StoreError;

use super::shared::Shared;

/// How long leadership lasts without renewal.
const LEASE: Duration = Duration::from_mins(2);

/// How often the leader renews its leadership while operations run.
const RENEW_EVERY: Duration = Duration::from_secs(30);

/// How often another node tries to become the leader while operations run.
const TRY_EVERY: Duration = Duration::from_secs(5);

/// Whether this node leads, and when that was last checked.
#[derive(Debug, Default)]
pub(super) struct BulkOperations {
    checked: Option<(Duration, bool)>,
}

impl BulkOperations {
    /// Runs pages of all operations that have not ended, if there are any and this node leads.
    pub(super) async fn run(&mut self, shared: &Shared) -> Result<(), StoreError> {
        let core = &shared.core;
        let active = core.active_operations().await?;
        if active.is_empty() || !self.leads(shared).await? {
            return Ok(());
        }
        // An operation that fails does not stop the others. The first error is returned.
        let mut ran = Ok(());
        for operation in active {
            ran = ran.and(core.run_operation(operation).await);
        }
        ran
    }

    async fn leads(&mut self, shared: &Shared) -> Result<bool, StoreError> {
        let now = shared.core.clock.monotonic();
        if let Some((at, leads)) = self.checked {
            let age = now.saturating_sub(at);
            if age < if leads { RENEW_EVERY } else { TRY_EVERY } {
                return Ok(leads);
            }
        }
        let leads = shared.core.store.try_lead(shared.node(), LEASE).await?;
        self.checked = Some((now, leads));
        Ok(leads)
    }
}
