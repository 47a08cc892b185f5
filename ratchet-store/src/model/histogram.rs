//! [`Histogram`]: base-2 exponential histograms of scale 2, with four buckets per power of two, so a value is known to
//! within 9 %.
//!
//! The bucket with the index `i` counts values in `(2^(i/4), 2^((i+1)/4)]`, as in OpenTelemetry and in native Prometheus
//! histograms. The layout must not change, because histograms of different processes and versions are added up, and
//! stored for years.

// Counts are far below 2^52, and bucket positions are small.
#![allow(clippy::cast_precision_loss)]

use serde::{Serialize, Serializer};

/// Buckets per power of two.
const PER_OCTAVE: i32 = 4;

/// Values up to `2^LOWEST` are counted as zero. In seconds, this is about a microsecond.
const LOWEST: i32 = -20;

/// Values above `2^HIGHEST` are counted in the last bucket. In seconds, this is twelve days.
const HIGHEST: i32 = 20;

/// What one unit of the stored sum is worth.
const BILLIONTH: f64 = 1e-9;

/// A distribution of values: a base-2 exponential histogram of scale 2.
///
/// The bucket with the index `i` counts values in `(2^(i/4), 2^((i+1)/4)]`. Values up to 2^-20 are counted as zero, and
/// values above 2^20 in the last bucket. Histograms can be added up without loss.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::Histogram;
///
/// // Durations in seconds: three of about 0.1 s, and one of about 30 s.
/// let buckets = vec![(-14, 3), (19, 1)];
/// let yesterday = Histogram::from_parts(0, buckets, 30_300_000_000).expect("it is valid");
/// assert_eq!((yesterday.count(), yesterday.at_most(0)), (4, 3));
/// assert_eq!(yesterday.mean(), Some(7.575));
/// assert!(yesterday.quantile(0.5) < Some(0.11));
///
/// let mut both = yesterday.clone();
/// both.merge(&yesterday);
/// assert_eq!(both.since(&yesterday), yesterday);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Histogram {
    zero: u64,
    /// The index and the count of each bucket that is not empty, in order.
    buckets: Vec<(i32, u64)>,
    /// In billionths, so that the order of additions makes no difference.
    #[serde(serialize_with = "in_units")]
    sum: u128,
}

impl Histogram {
    /// The scale of the buckets: there are `2^SCALE` of them per power of two.
    pub const SCALE: i32 = 2;

    /// The largest value that counts as zero.
    pub const ZERO_THRESHOLD: f64 = 1.0 / (1_u64 << -LOWEST) as f64;

    /// The index of the first bucket.
    pub const FIRST: i32 = LOWEST * PER_OCTAVE;

    /// The index of the last bucket.
    pub const LAST: i32 = HIGHEST * PER_OCTAVE - 1;

    /// Creates a histogram of these counts: how many values count as zero, the index and the count of other buckets, and
    /// the sum of the values in billionths. Returns `None` if the indexes are not in ascending order or out of range, or
    /// if there are more than `u64::MAX` values.
    ///
    /// ```
    /// # use ratchet_store::model::Histogram;
    /// let histogram = Histogram::from_parts(1, vec![(-1, 2)], 2_000_000_000).expect("it is valid");
    /// assert_eq!((histogram.count(), histogram.sum()), (3, 2.0));
    /// assert_eq!(Histogram::from_parts(0, vec![(3, 1), (3, 1)], 0), None);
    /// ```
    pub fn from_parts(zero: u64, mut buckets: Vec<(i32, u64)>, sum: u128) -> Option<Self> {
        let in_order = buckets.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let in_range = |(index, _): &(i32, u64)| (Self::FIRST..=Self::LAST).contains(index);
        if !in_order || !buckets.iter().all(in_range) {
            return None;
        }
        buckets.iter().try_fold(zero, |sum, (_, count)| sum.checked_add(*count))?;
        buckets.retain(|(_, count)| *count > 0);
        Some(Self { zero, buckets, sum })
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        let counts = self.buckets.iter().map(|(_, count)| *count);
        counts.fold(self.zero, u64::saturating_add)
    }

    /// Returns `true` if there are no values.
    pub fn is_empty(&self) -> bool {
        self.zero == 0 && self.buckets.is_empty()
    }

    /// Returns the sum of the values.
    pub fn sum(&self) -> f64 {
        self.sum as f64 * BILLIONTH
    }

    /// Returns the sum of the values in billionths: nanoseconds if they are durations.
    pub fn sum_billionths(&self) -> u128 {
        self.sum
    }

    /// Returns the mean of the values; `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum() / count as f64)
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
        let counts = self.buckets.iter().take_while(below).map(|(_, count)| *count);
        counts.fold(self.zero, u64::saturating_add)
    }

    /// Returns a quantile, such as 0.95, within 9 % of the exact value; `None` if there are no values.
    ///
    /// ```
    /// # use ratchet_store::model::Histogram;
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
            seen = seen.saturating_add(*count);
            if seen as f64 >= rank {
                return Some(Self::middle(*index));
            }
        }
        // The rank of very large counts is rounded.
        self.buckets.last().map_or(Some(0.0), |(index, _)| Some(Self::middle(*index)))
    }

    /// Adds the values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
        self.sum = self.sum.saturating_add(other.sum);
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
        added.combine(earlier, u64::saturating_sub);
        added.sum = self.sum.saturating_sub(earlier.sum);
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

fn in_units<S: Serializer>(sum: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*sum as f64 * BILLIONTH)
}
