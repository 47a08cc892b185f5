//! When to renew the lease of the node, how long a renewal may take, and when the node must fence itself.

use std::time::Duration;

use crate::config::Config;

/// The lease as this node sees it, by its monotonic clock.
///
/// The age of the lease is measured from when a renewal was *sent*, so that this node considers it expired before the
/// store does.
#[derive(Debug)]
pub(super) struct LeaseTimer {
    lease: Duration,
    heartbeat: Duration,
    /// When the last successful renewal was sent.
    renewed: Duration,
    /// Whether the last renewal failed.
    retrying: bool,
}

impl LeaseTimer {
    pub(super) fn new(config: &Config, now: Duration) -> Self {
        let Config { lease, heartbeat, .. } = *config;
        Self { lease, heartbeat, renewed: now, retrying: false }
    }

    /// Records a successful renewal that was sent at `sent`.
    pub(super) fn renewed(&mut self, sent: Duration) {
        self.renewed = sent;
        self.retrying = false;
    }

    /// Records a failed renewal.
    pub(super) fn failed(&mut self) {
        self.retrying = true;
    }

    pub(super) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.renewed)
    }

    /// When the node must fence itself: before the lease expires in the store, because runs need time to end.
    fn fence_at(&self) -> Duration {
        self.renewed.saturating_add(self.lease.saturating_sub(self.heartbeat / 2))
    }

    pub(super) fn must_fence(&self, now: Duration) -> bool {
        now >= self.fence_at()
    }

    /// Returns how long to wait before the next renewal. Never longer than until the node must fence itself.
    pub(super) fn pause(&self, now: Duration) -> Duration {
        let pause = if self.retrying {
            (self.heartbeat / 5).max(Duration::from_millis(10))
        } else {
            // A start or a reply that took long has used a part of the interval.
            self.heartbeat.saturating_sub(self.age(now))
        };
        self.until_fence(now).map_or(pause, |left| pause.min(left))
    }

    /// Returns how long a renewal may take. A store that does not answer must not keep the node from fencing itself.
    pub(super) fn timeout(&self, now: Duration) -> Duration {
        self.until_fence(now).map_or(self.heartbeat, |left| self.heartbeat.min(left))
    }

    /// Returns the time until the node must fence itself; `None` if that time has passed.
    fn until_fence(&self, now: Duration) -> Option<Duration> {
        let left = self.fence_at().saturating_sub(now);
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timer(lease: Duration, heartbeat: Duration) -> LeaseTimer {
        let config = Config { lease, heartbeat, ..Config::default() };
        LeaseTimer::new(&config, Duration::ZERO)
    }

    /// Returns when a node fences itself whose store answers renewals after `answer`, with an error.
    fn fenced_at(mut timer: LeaseTimer, answer: Duration) -> Duration {
        let mut now = Duration::ZERO;
        loop {
            now += timer.pause(now);
            if timer.must_fence(now) {
                return now;
            }
            now += timer.timeout(now).min(answer);
            timer.failed();
            if timer.must_fence(now) {
                return now;
            }
        }
    }

    #[test]
    fn p_03_node_fences_itself_in_time_if_the_store_does_not_answer() {
        let (lease, heartbeat) = (Duration::from_secs(15), Duration::from_secs(5));
        let fenced = fenced_at(timer(lease, heartbeat), Duration::MAX);
        assert_eq!(fenced, Duration::from_millis(12_500));
    }

    proptest! {
        #[test]
        fn p_03_node_fences_itself_before_its_lease_expires(
            lease in 100_u64..100_000,
            part in 2_u32..50,
            answer in 0_u64..200_000,
        ) {
            let lease = Duration::from_millis(lease);
            let heartbeat = (lease / part).max(Duration::from_millis(1));
            let fenced = fenced_at(timer(lease, heartbeat), Duration::from_millis(answer));
            prop_assert_eq!(fenced, lease.saturating_sub(heartbeat / 2));
        }
    }

    #[test]
    fn p_03_a_renewal_starts_a_new_lease() {
        let mut timer = timer(Duration::from_secs(15), Duration::from_secs(5));
        timer.failed();
        assert_eq!(timer.pause(Duration::from_secs(6)), Duration::from_secs(1));
        timer.renewed(Duration::from_secs(10));
        assert!(!timer.must_fence(Duration::from_secs(22)));
        assert_eq!(timer.pause(Duration::from_secs(11)), Duration::from_secs(4));
        assert_eq!(timer.pause(Duration::from_secs(16)), Duration::ZERO);
        assert!(timer.must_fence(Duration::from_millis(22_500)));
        assert_eq!(timer.age(Duration::from_secs(12)), Duration::from_secs(2));
        // A fenced node goes on trying at its usual pace.
        assert_eq!(timer.timeout(Duration::from_mins(1)), Duration::from_secs(5));
    }
}
