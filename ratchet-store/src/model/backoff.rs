//! The delay between attempts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The delay before the next attempt of a failed job: a curve with jitter.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use std::time::Duration;
/// use ratchet::model::{Backoff, Jitter};
///
/// let backoff = Backoff::exponential(Duration::from_secs(1), Duration::from_secs(30)).jitter(Jitter::None);
/// assert_eq!(backoff.delay(1, 0), Duration::from_secs(1));
/// assert_eq!(backoff.delay(2, 0), Duration::from_secs(2));
/// assert_eq!(backoff.delay(60, 0), Duration::from_secs(30));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Backoff {
    /// The curve of the delay over the attempts.
    pub kind: BackoffKind,
    /// The randomization of the delay, so that jobs that failed together are not retried together.
    pub jitter: Jitter,
}

/// The curve of a [`Backoff`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackoffKind {
    /// No delay.
    None,
    /// The same delay every time.
    Fixed {
        /// The delay before every attempt.
        delay: Duration,
    },
    /// `base`, twice `base`, three times `base` … up to `max`.
    Linear {
        /// The first delay, and the increment.
        base: Duration,
        /// The maximum delay.
        max: Duration,
    },
    /// `base`, `base × factor`, `base × factor²` … up to `max`.
    Exponential {
        /// The first delay.
        base: Duration,
        /// The factor by which the delay grows; at least 1.
        factor: f64,
        /// The maximum delay.
        max: Duration,
    },
}

/// The randomization of a [`Backoff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Jitter {
    /// Exactly the curve.
    None,
    /// Between zero and the curve.
    Full,
    /// Between half the curve and the curve.
    #[default]
    Equal,
}

impl Backoff {
    /// The default of every job: exponential from 1 s to 30 s, with [`Jitter::Equal`].
    pub const DEFAULT: Self =
        Self::exponential(Duration::from_secs(1), Self::default_max(Duration::from_secs(1)));

    /// Returns the maximum delay of a curve that is written without one: 30 s, or 16 times the first delay if that is
    /// longer.
    pub const fn default_max(base: Duration) -> Duration {
        let (shortest, grown) = (Duration::from_secs(30), base.saturating_mul(16));
        if grown.as_nanos() > shortest.as_nanos() { grown } else { shortest }
    }

    /// Creates a backoff without delay.
    pub const fn none() -> Self {
        Self { kind: BackoffKind::None, jitter: Jitter::None }
    }

    /// Creates a backoff with the same delay every time, without jitter.
    pub const fn fixed(delay: Duration) -> Self {
        Self { kind: BackoffKind::Fixed { delay }, jitter: Jitter::None }
    }

    /// Creates a backoff that grows by `base` with each attempt, up to `max`.
    ///
    /// # Panics
    ///
    /// Panics if `max` is below `base`: at compile time if the backoff is a constant.
    pub const fn linear(base: Duration, max: Duration) -> Self {
        check_max(base, max);
        Self { kind: BackoffKind::Linear { base, max }, jitter: Jitter::Equal }
    }

    /// Creates a backoff that doubles with each attempt, from `base` up to `max`.
    ///
    /// # Panics
    ///
    /// Panics if `max` is below `base`: at compile time if the backoff is a constant.
    pub const fn exponential(base: Duration, max: Duration) -> Self {
        check_max(base, max);
        Self { kind: BackoffKind::Exponential { base, factor: 2.0, max }, jitter: Jitter::Equal }
    }

    /// Sets the factor of an exponential backoff; the default is 2. Has no effect on other kinds.
    ///
    /// # Panics
    ///
    /// Panics if the factor is not between 1 and 1000: at compile time if the backoff is a constant.
    pub const fn factor(self, factor: f64) -> Self {
        let factor = valid_factor(factor);
        match self.kind {
            BackoffKind::Exponential { base, max, .. } => {
                Self { kind: BackoffKind::Exponential { base, factor, max }, jitter: self.jitter }
            }
            _ => self,
        }
    }

    /// Sets the jitter.
    pub const fn jitter(self, jitter: Jitter) -> Self {
        Self { kind: self.kind, jitter }
    }

    /// Returns the delay after attempt number `attempt`, where 1 is the first run.
    ///
    /// A pure function: `seed` determines the jitter. Never overflows and never exceeds [`Backoff::ceiling`].
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

    /// Returns the maximum delay of this backoff.
    pub fn ceiling(&self) -> Duration {
        match self.kind {
            BackoffKind::None => Duration::ZERO,
            BackoffKind::Fixed { delay } => delay,
            BackoffKind::Linear { max, .. } | BackoffKind::Exponential { max, .. } => max,
        }
    }

    /// Returns the delay without jitter. It grows with the attempts up to the ceiling.
    fn curve(&self, attempt: u32) -> Duration {
        let attempt = attempt.max(1);
        match self.kind {
            BackoffKind::None => Duration::ZERO,
            BackoffKind::Fixed { delay } => delay,
            BackoffKind::Linear { base, max } => base.saturating_mul(attempt).min(max),
            BackoffKind::Exponential { base, factor, max } => {
                // In floating point a huge power becomes infinity, which the check below caps at `max`.
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

/// Returns a part of `whole`, selected by `seed`.
fn fraction(whole: Duration, seed: u64) -> Duration {
    // The longest duration has 94 bits of nanoseconds; with 32 bits of seed the product still fits.
    let part = (whole.as_nanos() * u128::from(seed >> 32)) >> 32;
    let secs = u64::try_from(part / 1_000_000_000).unwrap_or(u64::MAX);
    #[allow(clippy::cast_possible_truncation)] // less than a billion by construction
    let rest = (part % 1_000_000_000) as u32;
    Duration::new(secs, rest)
}
/// A maximum below the first delay would turn the curve into a constant.
const fn check_max(base: Duration, max: Duration) {
    assert!(
        max.as_nanos() >= base.as_nanos(),
        "the `max` of a backoff must not be below its first delay"
    );
}

/// Returns the factor of an exponential backoff after a check. The macros call it at compile time.
///
/// # Panics
///
/// If the factor is not between 1 and 1000.
pub const fn valid_factor(factor: f64) -> f64 {
    assert!(
        factor >= 1.0 && factor <= 1000.0,
        "the factor of a backoff must be between 1 and 1000"
    );
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_14_a_curve_without_a_maximum_never_waits_less_than_its_base() {
        let seconds = Duration::from_secs;
        for (base, max) in [(0, 30), (1, 30), (2, 32), (60, 960), (3600, 57_600)] {
            assert_eq!(Backoff::default_max(seconds(base)), seconds(max), "{base}");
        }
        let long = Backoff::exponential(seconds(60), Backoff::default_max(seconds(60)));
        assert!((1..20).all(|attempt| long.jitter(Jitter::None).delay(attempt, 0) >= seconds(60)));
        assert_eq!(Backoff::default_max(Duration::MAX), Duration::MAX);
    }

    #[test]
    #[should_panic(expected = "must not be below its first delay")]
    fn e_14_a_maximum_below_the_base_is_refused() {
        let _ = Backoff::exponential(Duration::from_secs(2), Duration::from_secs(1));
    }
}
