//! Chains, batches and workflows: not here yet.

use ratchet_core::{StoreError, StoreErrorKind};

/// Said of everything this store cannot do yet, before anything is stored.
pub(crate) fn missing() -> StoreError {
    let why = "this version of ratchet-pg has no chains, batches, workflows, schedules, rejects and hand-offs yet; use SQLite or memory for them";
    StoreError::new(StoreErrorKind::Config, why)
}
