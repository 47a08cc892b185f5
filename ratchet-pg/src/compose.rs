//! Chains, batches and workflows: not here yet.

use ratchet_core::model::Settlement;
use ratchet_core::{StoreError, StoreErrorKind};

/// Said of everything this store cannot do yet, before anything is stored.
pub(crate) fn missing() -> StoreError {
    let why = "this version of ratchet-pg has no chains, batches, workflows, schedules, rejects and hand-offs yet; use SQLite or memory for them";
    StoreError::new(StoreErrorKind::Config, why)
}

/// A run that set items aside or handed something on is told that they were not kept: its job must not hang on it.
pub(crate) fn warn_of_items(settlements: &mut [Settlement]) {
    for settlement in settlements {
        let lost = settlement.rejects.len() + settlement.hand_offs.len();
        if lost > 0 {
            let warning = format!("{lost} rejects and hand-offs were not kept: {}", missing());
            tracing::error!(job.id = %settlement.token.job, "{warning}");
            settlement.notes.warnings.push(warning);
        }
    }
}
