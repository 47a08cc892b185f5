//! The clock of one node: it advances with the shared clock, with an error that depends on the seed.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ratchet_core::{Clock, Sleep, VirtualClock};

/// A clock with an offset from the store's clock.
#[derive(Debug, Clone)]
pub(crate) struct NodeClock {
    pub(crate) base: VirtualClock,
    /// The error of the wall clock.
    pub(crate) skew: SignedDuration,
    /// The initial value of the monotonic clock.
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
