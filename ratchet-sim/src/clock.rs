//! The clock of one node: it runs with everybody's, and is wrong by as much as the seed says.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ratchet_core::{Clock, Sleep, VirtualClock};

/// A clock that differs from the store's.
#[derive(Debug, Clone)]
pub(crate) struct NodeClock {
    pub(crate) base: VirtualClock,
    /// How wrong the wall clock is.
    pub(crate) skew: SignedDuration,
    /// Where the monotonic clock began.
    pub(crate) uptime: Duration,
}

impl Clock for NodeClock {
    fn now(&self) -> Timestamp {
        let now = self.base.now();
        now.checked_add(self.skew).unwrap_or(now)
    }

    fn monotonic(&self) -> Duration {
        self.base.monotonic() + self.uptime
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        self.base.sleep(duration)
    }
}
