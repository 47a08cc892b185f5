//! Base-2 exponential histograms of scale 2: four buckets per power of two, so a value is known to within 9 %.
//!
//! The bucket with the index `i` counts values in `(2^(i/4), 2^((i+1)/4)]`, as in OpenTelemetry and in native Prometheus
//! histograms. The layout must not change, because histograms of different processes and versions are added up.

// Counts are far below 2^52, and bucket positions are small.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

/// Buckets per power of two.
const PER_OCTAVE: i32 = 4;

/// Values up to `2^LOWEST` are counted as zero. In seconds, this is about a microsecond.
const LOWEST: i32 = -20;

/// Values above `2^HIGHEST` are counted in the last bucket. In seconds, this is twelve days.
const HIGHEST: i32 = 20;

/// The index of the first bucket.
const FIRST: i32 = LOWEST * PER_OCTAVE;

/// The number of buckets.
const BUCKETS: usize = ((HIGHEST - LOWEST) * PER_OCTAVE) as usize;

/// Returns the position of the bucket of a value; `None` if it counts as zero.
fn position(value: f64) -> Option<usize> {
    const MANTISSA: u64 = (1 << 52) - 1;
    /// The mantissas of `2^(1/4)`, `2^(1/2)` and `2^(3/4)`.
    const BOUNDS: [u64; 3] = [
        1.189_207_115_002_721_f64.to_bits() & MANTISSA,
        std::f64::consts::SQRT_2.to_bits() & MANTISSA,
        1.681_792_830_507_429_f64.to_bits() & MANTISSA,
    ];
    const SMALLEST: f64 = 1.0 / (1_u64 << -LOWEST) as f64;
    if value.is_nan() || value <= SMALLEST {
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

    /// Returns what was recorded. `unit` is what one unit of the sum is worth.
    pub(super) fn read(&self, unit: f64) -> Histogram {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        let buckets = counts.zip(FIRST..).filter(|(count, _)| *count > 0);
        Histogram {
            zero: self.zero.load(Ordering::Relaxed),
            buckets: buckets.map(|(count, index)| (index, count)).collect(),
            sum: self.sum.load(Ordering::Relaxed) as f64 * unit,
        }
    }
}

/// A distribution of values: a base-2 exponential histogram of scale 2.
///
/// The bucket with the index `i` counts values in `(2^(i/4), 2^((i+1)/4)]`. Values up to 2^-20 are counted as zero, and
/// values above 2^20 in the last bucket. Histograms can be added up without loss.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Histogram {
    zero: u64,
    /// The index and the count of each bucket that is not empty, in order.
    buckets: Vec<(i32, u64)>,
    sum: f64,
}

impl Histogram {
    /// The scale of the buckets: there are `2^SCALE` of them per power of two.
    pub const SCALE: i32 = 2;

    /// The largest value that counts as zero.
    pub const ZERO_THRESHOLD: f64 = 1.0 / (1_u64 << -LOWEST) as f64;

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.zero + self.buckets.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Returns the sum of the values.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns how many values count as zero.
    pub fn zero_count(&self) -> u64 {
        self.zero
    }

    /// Returns the index and the count of each bucket that is not empty, in order.
    pub fn buckets(&self) -> &[(i32, u64)] {
        &self.buckets
    }

    /// Returns the upper bound of a bucket, which belongs to the bucket.
    pub fn upper_bound(index: i32) -> f64 {
        (f64::from(index + 1) / f64::from(PER_OCTAVE)).exp2()
    }

    /// Returns the geometric middle of a bucket, which is within 9 % of every value in it.
    pub fn middle(index: i32) -> f64 {
        ((f64::from(index) + 0.5) / f64::from(PER_OCTAVE)).exp2()
    }

    /// Returns how many values are at most `2^exponent`. Exact, because every power of two is a bound of a bucket.
    pub fn at_most(&self, exponent: i32) -> u64 {
        let below = |(index, _): &&(i32, u64)| *index < exponent * PER_OCTAVE;
        self.zero + self.buckets.iter().take_while(below).map(|(_, count)| count).sum::<u64>()
    }

    /// Returns a quantile, such as 0.95, within 9 % of the exact value; `None` if there are no values.
    ///
    /// ```
    /// # use ratchet_core::Histogram;
    /// assert_eq!(Histogram::default().quantile(0.5), None);
    /// ```
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = (quantile.clamp(0.0, 1.0) * count as f64).ceil().max(1.0);
        let mut seen = self.zero;
        if seen as f64 >= rank {
            return Some(0.0);
        }
        for (index, count) in &self.buckets {
            seen += count;
            if seen as f64 >= rank {
                return Some(Self::middle(*index));
            }
        }
        None
    }

    /// Adds the values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.combine(other, |mine, theirs| mine + theirs);
        self.sum += other.sum;
    }

    /// Returns the values that were added since `earlier`. If `earlier` has more values in a bucket, the process was
    /// restarted, and all values are new.
    pub fn since(&self, earlier: &Self) -> Self {
        let count_of = |index: i32| {
            let found = self.buckets.binary_search_by_key(&index, |(index, _)| *index);
            found.map_or(0, |at| self.buckets[at].1)
        };
        let is_reset = earlier.zero > self.zero
            || earlier.buckets.iter().any(|(index, count)| count_of(*index) < *count);
        if is_reset {
            return self.clone();
        }
        let mut added = self.clone();
        added.combine(earlier, |mine, theirs| mine - theirs);
        added.sum = (self.sum - earlier.sum).max(0.0);
        added
    }

    fn combine(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        let mut buckets: std::collections::BTreeMap<_, _> = self.buckets.drain(..).collect();
        for (index, count) in &other.buckets {
            let mine = buckets.entry(*index).or_default();
            *mine = with(*mine, *count);
        }
        self.zero = with(self.zero, other.zero);
        self.buckets = buckets.into_iter().filter(|(_, count)| *count > 0).collect();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[f64]) -> Histogram {
        let recorder = Recorder::default();
        for value in values {
            recorder.record(*value, (value * 1e9) as u64);
        }
        recorder.read(1e-9)
    }

    #[test]
    fn powers_of_two_are_the_upper_bounds_of_their_buckets() {
        for exponent in LOWEST + 1..=HIGHEST {
            let value = f64::from(exponent).exp2();
            let histogram = of(&[value, value * 1.000_001]);
            let last = exponent * PER_OCTAVE - 1;
            assert_eq!(histogram.buckets[0].0, last);
            assert!((Histogram::upper_bound(last) - value).abs() < value * 1e-12);
            assert_eq!(histogram.at_most(exponent), if exponent == HIGHEST { 2 } else { 1 });
        }
        let smallest = Histogram::ZERO_THRESHOLD;
        assert_eq!(of(&[0.0, smallest, -1.0, f64::NAN]).zero_count(), 4);
        assert_eq!(of(&[f64::INFINITY, 1e300]).buckets, [(FIRST + BUCKETS as i32 - 1, 2)]);
    }

    #[test]
    fn a_duration_is_counted_in_seconds() {
        let recorder = Recorder::default();
        recorder.duration(Duration::from_millis(1500));
        recorder.duration(Duration::ZERO);
        recorder.duration(Duration::MAX);
        let histogram = recorder.read(1e-9);
        assert_eq!((histogram.count(), histogram.zero_count()), (3, 1));
        assert_eq!(histogram.at_most(1), 2);
    }

    proptest! {
        #[test]
        fn v_03_a_value_is_within_the_bounds_of_its_bucket(exponent in -19.9..19.9_f64) {
            let value = exponent.exp2();
            let index = of(&[value]).buckets[0].0;
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
            prop_assert_eq!(&both.buckets, &all.buckets);
            prop_assert_eq!(both.count(), all.count());
            let later = both.since(&one);
            prop_assert_eq!(&later.buckets, &two.buckets);
            prop_assert_eq!(later.zero_count(), two.zero_count());
        }
    }

    #[test]
    fn a_restart_of_the_process_makes_all_values_new() {
        let (before, after) = (of(&[1.0, 1.0, 2.0]), of(&[1.0]));
        assert_eq!(after.since(&before), after);
    }
}
