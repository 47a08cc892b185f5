//! Warns about waiting jobs that no live worker knows, for example because a function was renamed without an `alias`.

use std::time::Duration;

use crate::runtime::Core;
use ratchet_store::StoreError;

/// The interval between warnings. The first one comes when the node has started to lead maintenance.
const EVERY: Duration = Duration::from_hours(1);

/// When the last warning was due, by the monotonic clock.
#[derive(Debug, Default)]
pub(super) struct UnknownJobs {
    checked: Option<Duration>,
}

impl UnknownJobs {
    /// Logs a warning for every such name, at most once per [`EVERY`].
    pub(super) async fn warn(&mut self, core: &Core) -> Result<(), StoreError> {
        let now = core.clock.monotonic();
        if self.checked.is_some_and(|checked| now.saturating_sub(checked) < EVERY) {
            return Ok(());
        }
        for (name, waiting) in core.store.unknown_jobs().await? {
            tracing::warn!(job = %name, waiting, "jobs are waiting whose name or version no live worker knows; if the function was renamed, add `alias = \"{name}\"` to its `#[job]`");
        }
        self.checked = Some(now);
        Ok(())
    }
}
