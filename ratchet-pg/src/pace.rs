//! How often other processes are told something.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The first hint goes out at once, with the commit it tells of if it can; those after it together after this long.
pub(crate) const PACE: Duration = Duration::from_millis(4);

/// When a hint has last gone out.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last: Mutex<Option<Instant>>,
}

impl Pace {
    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long to wait with the next one; it counts as sent then.
    pub(crate) fn wait(&self) -> Duration {
        let now = Instant::now();
        let mut last = self.last();
        let at = last.map_or(now, |last| now.max(last + PACE));
        *last = Some(at);
        at - now
    }

    /// Whether one may go out at once; if so it counts as sent.
    pub(crate) fn is_free(&self) -> bool {
        let now = Instant::now();
        let mut last = self.last();
        let free = last.is_none_or(|last| last + PACE <= now);
        if free {
            *last = Some(now);
        }
        free
    }
}
