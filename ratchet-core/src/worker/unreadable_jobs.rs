//! Reports jobs that were set aside because their rows cannot be read.

use std::sync::atomic::Ordering;

use super::shared::Shared;
use ratchet_store::StoreError;

/// Reads the number of unreadable jobs for the details of readiness. The leader logs it when it has grown.
pub(super) async fn report(shared: &Shared, leads: bool) -> Result<(), StoreError> {
    let unreadable = shared.core.store.count_unreadable().await?;
    let before = shared.unreadable_jobs.swap(unreadable, Ordering::Relaxed);
    if leads && unreadable > before {
        tracing::warn!(
            unreadable,
            "jobs are set aside because their rows cannot be read; `unreadable()` of the store lists them"
        );
    }
    Ok(())
}

/// Returns the message for the details of readiness.
pub(super) fn detail(shared: &Shared) -> Option<String> {
    let unreadable = shared.unreadable_jobs.load(Ordering::Relaxed);
    let (jobs, rows) =
        if unreadable == 1 { ("job is", "its row") } else { ("jobs are", "their rows") };
    let message = format!("{unreadable} {jobs} set aside because {rows} cannot be read");
    (unreadable > 0).then_some(message)
}
