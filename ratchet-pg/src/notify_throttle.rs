//! Limits how often hints are sent to other processes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The first hint is sent at once, if possible with the commit it refers to. Later hints are sent together after this
/// time.
pub(crate) const INTERVAL: Duration = Duration::from_millis(4);

/// The time of the last hint.
#[derive(Debug, Default)]
pub(crate) struct NotifyThrottle {
    last: Mutex<Option<Instant>>,
}

impl NotifyThrottle {
    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long to wait before the next hint, and counts that hint as sent.
    pub(crate) fn wait(&self) -> Duration {
        let now = Instant::now();
        let mut last = self.last();
        let at = last.map_or(now, |last| now.max(last + INTERVAL));
        *last = Some(at);
        at - now
    }

    /// Returns whether a hint may be sent now. If so, it counts as sent.
    pub(crate) fn is_free(&self) -> bool {
        let now = Instant::now();
        let mut last = self.last();
        let free = last.is_none_or(|last| last + INTERVAL <= now);
        if free {
            *last = Some(now);
        }
        free
    }
}
