//! Tracks whether recent claims had to look up jobs or met an open breaker. If not, the next claim uses the simpler
//! statement, which supports neither.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of successive claims without a lookup before the simpler statement is used.
const SURE: u32 = 16;

/// Counts down the claims without a lookup.
#[derive(Debug, Default)]
pub(crate) struct LookUps {
    left: AtomicU32,
}

impl LookUps {
    /// Returns whether the next claim may have to look up a job.
    pub(crate) fn are_likely(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Records that a claim needed a lookup, or may have needed one.
    pub(crate) fn needed(&self) {
        self.left.store(SURE, Ordering::Relaxed);
    }

    /// Records that a claim returned jobs and needed no lookup.
    pub(crate) fn spared(&self) {
        let less = |left: u32| left.checked_sub(1);
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_look_up_is_remembered_for_a_while() {
        let look_ups = LookUps::default();
        assert!(!look_ups.are_likely());
        look_ups.needed();
        for _ in 0..SURE {
            assert!(look_ups.are_likely());
            look_ups.spared();
        }
        assert!(!look_ups.are_likely());
        look_ups.spared();
        assert!(!look_ups.are_likely());
    }
}
