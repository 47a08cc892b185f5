//! How long to wait before the next attempt.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::checked;

/// How long a failed job waits before its next attempt: a curve, and the jitter over it.
///
/// ```
/// use std::time::Duration;
/// use ratchet_core::{Backoff, Jitter};
///
/// let backoff = Backoff::exponential(Duration::from_secs(1), Duration::from_secs(30)).jitter(Jitter::None);
/// assert_eq!(backoff.delay(1, 0), Duration::from_secs(1));
/// assert_eq!(backoff.delay(2, 0), Duration::from_secs(2));
/// assert_eq!(backoff.delay(60, 0), Duration::from_secs(30));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// The curve.
    pub kind: BackoffKind,
    /// What is done to the curve so that jobs that failed together do not come back together.
    pub jitter: Jitter,
}

/// The curve of a [`Backoff`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackoffKind {
    /// No wait at all.
    None,
    /// The same wait every time.
    Fixed {
        /// The wait.
        delay: Duration,
    },
    /// `base`, twice `base`, three times `base` … up to `max`.
    Linear {
        /// The first wait, and the step.
        base: Duration,
        /// The longest wait.
        max: Duration,
    },
    /// `base`, `base × factor`, `base × factor²` … up to `max`.
    Exponential {
        /// The first wait.
        base: Duration,
        /// What each wait is multiplied by for the next; at least 1.
        factor: f64,
        /// The longest wait.
        max: Duration,
    },
}

/// How a [`Backoff`] spreads its waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Jitter {
    /// Exactly the curve.
    None,
    /// Anywhere between nothing and the curve.
    Full,
    /// Between half the curve and the curve.
    #[default]
    Equal,
}

impl Backoff {
    /// The longest wait where none is given.
    pub const DEFAULT_MAX: Duration = Duration::from_secs(30);

    /// The default of every job: exponential from 1 s to 30 s, with jitter.
    pub const DEFAULT: Self = Self::exponential(Duration::from_secs(1), Self::DEFAULT_MAX);

    /// No wait between attempts.
    pub const fn none() -> Self {
        Self { kind: BackoffKind::None, jitter: Jitter::None }
    }

    /// The same wait every time, without jitter.
    pub const fn fixed(delay: Duration) -> Self {
        Self { kind: BackoffKind::Fixed { delay }, jitter: Jitter::None }
    }

    /// A wait that grows by `base` with each attempt, up to `max`.
    pub const fn linear(base: Duration, max: Duration) -> Self {
        Self { kind: BackoffKind::Linear { base, max }, jitter: Jitter::Equal }
    }

    /// A wait that doubles with each attempt, from `base` up to `max`.
    pub const fn exponential(base: Duration, max: Duration) -> Self {
        Self { kind: BackoffKind::Exponential { base, factor: 2.0, max }, jitter: Jitter::Equal }
    }

    /// Another factor than 2 for an exponential backoff; other kinds stay as they are.
    ///
    /// # Panics
    ///
    /// If the factor is not between 1 and 1000: at compile time where the backoff is a constant.
    pub const fn factor(self, factor: f64) -> Self {
        let factor = checked::factor(factor);
        match self.kind {
            BackoffKind::Exponential { base, max, .. } => {
                Self { kind: BackoffKind::Exponential { base, factor, max }, jitter: self.jitter }
            }
            _ => self,
        }
    }

    /// Another jitter.
    pub const fn jitter(self, jitter: Jitter) -> Self {
        Self { kind: self.kind, jitter }
    }

    /// The wait before the run that follows attempt number `attempt` (1 is the first run).
    ///
    /// Pure: `seed` decides the jitter. Never overflows and never exceeds [`Backoff::ceiling`].
    pub fn delay(&self, attempt: u32, seed: u64) -> Duration {
        let curve = self.curve(attempt);
        match self.jitter {
            Jitter::None => curve,
            Jitter::Full => fraction(curve, seed),
            Jitter::Equal => {
                let half = curve / 2;
                half + fraction(curve.saturating_sub(half), seed)
            }
        }
    }

    /// The longest wait this backoff can ever ask for.
    pub fn ceiling(&self) -> Duration {
        match self.kind {
            BackoffKind::None => Duration::ZERO,
            BackoffKind::Fixed { delay } => delay,
            BackoffKind::Linear { max, .. } | BackoffKind::Exponential { max, .. } => max,
        }
    }

    /// The wait without jitter; grows with the attempt up to the ceiling.
    fn curve(&self, attempt: u32) -> Duration {
        let attempt = attempt.max(1);
        match self.kind {
            BackoffKind::None => Duration::ZERO,
            BackoffKind::Fixed { delay } => delay,
            BackoffKind::Linear { base, max } => base.saturating_mul(attempt).min(max),
            BackoffKind::Exponential { base, factor, max } => {
                // In floating point an enormous power becomes infinity, which the cap below takes care of.
                let exponent = f64::from(attempt - 1);
                let seconds = base.as_secs_f64() * factor.max(1.0).powf(exponent);
                if seconds.is_finite() && seconds < max.as_secs_f64() {
                    Duration::try_from_secs_f64(seconds).map_or(max, |delay| delay.min(max))
                } else if base.is_zero() {
                    Duration::ZERO
                } else {
                    max
                }
            }
        }
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A part of `whole` between nothing and all of it, chosen by `seed`.
fn fraction(whole: Duration, seed: u64) -> Duration {
    // The longest duration has 94 bits of nanoseconds; with 32 bits of seed the product still fits.
    let part = (whole.as_nanos() * u128::from(seed >> 32)) >> 32;
    let secs = u64::try_from(part / 1_000_000_000).unwrap_or(u64::MAX);
    #[allow(clippy::cast_possible_truncation)] // below one thousand million by construction
    let rest = (part % 1_000_000_000) as u32;
    Duration::new(secs, rest)
}
