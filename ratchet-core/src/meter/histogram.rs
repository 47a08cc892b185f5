//! [`Recorder`]: a [`Histogram`] that is recorded into.

// Counts are far below 2^52, and bucket positions are small.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ratchet_store::model::Histogram;

/// Buckets per power of two.
const PER_OCTAVE: i32 = 1 << Histogram::SCALE;

/// The index of the first bucket.
const FIRST: i32 = Histogram::FIRST;

/// The number of buckets.
const BUCKETS: usize = (Histogram::LAST - Histogram::FIRST + 1) as usize;

/// How many billionths one is.
pub(super) const BILLION: u128 = 1_000_000_000;

/// Returns the position of the bucket of a value; `None` if it counts as zero.
fn position(value: f64) -> Option<usize> {
    const MANTISSA: u64 = (1 << 52) - 1;
    /// The mantissas of `2^(1/4)`, `2^(1/2)` and `2^(3/4)`.
    const BOUNDS: [u64; 3] = [
        1.189_207_115_002_721_f64.to_bits() & MANTISSA,
        std::f64::consts::SQRT_2.to_bits() & MANTISSA,
        1.681_792_830_507_429_f64.to_bits() & MANTISSA,
    ];
    if value.is_nan() || value <= Histogram::ZERO_THRESHOLD {
        return None;
    }
    let bits = value.to_bits();
    let (exponent, mantissa) = (((bits >> 52) & 0x7ff) as i32 - 1023, bits & MANTISSA);
    let quarter = if mantissa == 0 {
        // A power of two is the upper bound of its bucket.
        -1
    } else {
        BOUNDS.iter().filter(|bound| mantissa > **bound).count() as i32
    };
    let position = exponent * PER_OCTAVE + quarter - FIRST;
    Some((position.max(0) as usize).min(BUCKETS - 1))
}

/// A histogram that is recorded into. Takes about 1.3 kB.
#[derive(Debug)]
pub(super) struct Recorder {
    zero: AtomicU64,
    buckets: Box<[AtomicU64]>,
    /// The sum of the values, in nanoseconds if they are durations.
    sum: AtomicU64,
}

impl Default for Recorder {
    fn default() -> Self {
        let buckets = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self { zero: AtomicU64::new(0), buckets, sum: AtomicU64::new(0) }
    }
}

impl Recorder {
    pub(super) fn duration(&self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.record(duration.as_secs_f64(), nanos);
    }

    pub(super) fn number(&self, number: u64) {
        self.record(number as f64, number);
    }

    fn record(&self, value: f64, raw: u64) {
        let bucket = position(value).map_or(&self.zero, |at| &self.buckets[at]);
        bucket.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(raw, Ordering::Relaxed);
    }

    /// Returns what was recorded. `unit` is how many billionths one unit of the sum is worth.
    pub(super) fn read(&self, unit: u128) -> Histogram {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets = counts.zip(FIRST..).filter(|(count, _)| *count > 0);
        let buckets = buckets.map(|(count, index)| (index, count)).collect();
        let sum = u128::from(self.sum.load(Ordering::Relaxed)) * unit;
        let zero = self.zero.load(Ordering::Relaxed);
        Histogram::from_parts(zero, buckets, sum).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOWEST: i32 = FIRST / PER_OCTAVE;
    const HIGHEST: i32 = (Histogram::LAST + 1) / PER_OCTAVE;

    fn of(values: &[f64]) -> Histogram {
        let recorder = Recorder::default();
        for value in values {
            recorder.record(*value, (value * 1e9) as u64);
        }
        recorder.read(1)
    }

    #[test]
    fn powers_of_two_are_the_upper_bounds_of_their_buckets() {
        for exponent in LOWEST + 1..=HIGHEST {
            let value = f64::from(exponent).exp2();
            let histogram = of(&[value, value * 1.000_001]);
            let last = exponent * PER_OCTAVE - 1;
            assert_eq!(histogram.buckets()[0].0, last);
            assert!((Histogram::upper_bound(last) - value).abs() < value * 1e-12);
            assert_eq!(histogram.at_most(exponent), if exponent == HIGHEST { 2 } else { 1 });
        }
        let smallest = Histogram::ZERO_THRESHOLD;
        assert_eq!(of(&[0.0, smallest, -1.0, f64::NAN]).zero_count(), 4);
        assert_eq!(of(&[f64::INFINITY, 1e300]).buckets(), [(FIRST + BUCKETS as i32 - 1, 2)]);
    }

    #[test]
    fn a_duration_is_counted_in_seconds() {
        let recorder = Recorder::default();
        recorder.duration(Duration::from_millis(1500));
        recorder.duration(Duration::ZERO);
        recorder.duration(Duration::MAX);
        let histogram = recorder.read(1);
        assert_eq!((histogram.count(), histogram.zero_count()), (3, 1));
        assert_eq!(histogram.at_most(1), 2);
    }

    proptest! {
        #[test]
        fn v_03_a_value_is_within_the_bounds_of_its_bucket(exponent in -19.9..19.9_f64) {
            let value = exponent.exp2();
            let index = of(&[value]).buckets()[0].0;
            let (low, high) = (Histogram::upper_bound(index - 1), Histogram::upper_bound(index));
            prop_assert!(low * (1.0 - 1e-12) < value && value <= high * (1.0 + 1e-12));
        }

        #[test]
        fn v_03_a_quantile_is_within_nine_percent(
            mut values in prop::collection::vec(0.001..10_000.0_f64, 1..200),
            quantile in 0.0..1.0_f64,
        ) {
            let estimate = of(&values).quantile(quantile).expect("there are values");
            values.sort_by(f64::total_cmp);
            let rank = ((quantile * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1];
            prop_assert!((estimate / exact - 1.0).abs() < 0.091, "{estimate} for {exact}");
        }

        #[test]
        fn parts_of_a_histogram_add_up(
            first in prop::collection::vec(0.0..100.0_f64, 0..50),
            second in prop::collection::vec(0.0..100.0_f64, 0..50),
        ) {
            let (one, two) = (of(&first), of(&second));
            let mut both = one.clone();
            both.merge(&two);
            let all = of(&[first, second].concat());
            prop_assert_eq!(both.buckets(), all.buckets());
            prop_assert_eq!(both.count(), all.count());
            let later = both.since(&one);
            prop_assert_eq!(later.buckets(), two.buckets());
            prop_assert_eq!(later.zero_count(), two.zero_count());
        }
    }

    #[test]
    fn a_restart_of_the_process_makes_all_values_new() {
        let (before, after) = (of(&[1.0, 1.0, 2.0]), of(&[1.0]));
        assert_eq!(after.since(&before), after);
    }
}
