//! Randomness for jitter and ids.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// The only source of randomness in the engine.
pub trait Entropy: Send + Sync + fmt::Debug + 'static {
    /// Returns 64 random bits.
    fn next_u64(&self) -> u64;
}

/// Randomness seeded by the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn next_u64(&self) -> u64 {
        fastrand::u64(..)
    }
}

/// Deterministic randomness: the same seed yields the same bits.
#[derive(Debug)]
pub struct SeededEntropy {
    state: AtomicU64,
}

impl SeededEntropy {
    /// Creates a generator with a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }
}

impl Entropy for SeededEntropy {
    fn next_u64(&self) -> u64 {
        // SplitMix64: every state yields well-mixed bits, so an atomic counter suffices and no lock is needed.
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut z = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
