//! Tracks whether recent claims had to look up jobs or met an open breaker. If not, the next claim uses the simpler
//! statement, which supports neither.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of successive claims without a lookup before the simpler statement is used.
const SURE: u32 = 16;

/// Counts down the claims without a lookup.
#[derive(Debug, Default)]
pub(crate) struct PlainClaims {
    left: AtomicU32,
}

impl PlainClaims {
    /// Returns whether the next claim may have to look up a job.
    pub(crate) fn need_lookups(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// Records that a claim needed a lookup, or may have needed one.
    pub(crate) fn lookup_needed(&self) {
        self.left.store(SURE, Ordering::Relaxed);
    }

    /// Records that a claim returned jobs and needed no lookup.
    pub(crate) fn lookup_avoided(&self) {
        let less = |left: u32| left.checked_sub(1);
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_look_up_is_remembered_for_a_while() {
        let plain_claims = PlainClaims::default();
        assert!(!plain_claims.need_lookups());
        plain_claims.lookup_needed();
        for _ in 0..SURE {
            assert!(plain_claims.need_lookups());
            plain_claims.lookup_avoided();
        }
        assert!(!plain_claims.need_lookups());
        plain_claims.lookup_avoided();
        assert!(!plain_claims.need_lookups());
    }
}
