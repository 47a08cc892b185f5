//! Whether jobs have had to be looked up lately, or a breaker was open: if not, the next claim is asked of the statement that
//! can do neither.

use std::sync::atomic::{AtomicU32, Ordering};

/// So many claims in a row that had nothing to look up, before one is made that could not.
const SURE: u32 = 16;

/// Counts down the claims that had nothing to look up.
#[derive(Debug, Default)]
pub(crate) struct LookUps {
    left: AtomicU32,
}

impl LookUps {
    /// Whether a claim may meet a job that must be looked up.
    pub(crate) fn are_likely(&self) -> bool {
        self.left.load(Ordering::Relaxed) > 0
    }

    /// A claim has met one, or may have.
    pub(crate) fn needed(&self) {
        self.left.store(SURE, Ordering::Relaxed);
    }

    /// A claim has brought jobs, and none had to be looked up.
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
