//! The layout in which databases store a [`Histogram`].
//!
//! A version byte, the count of zeros, the sum in billionths, then for each bucket that is not empty the difference of
//! its index to the one before and its count. Numbers are variable-length integers: seven bits per byte, lowest first,
//! the highest bit set in all bytes but the last. The index before the first bucket is one less than
//! [`Histogram::FIRST`]. The layout must not change: a change needs another version.

use crate::model::Histogram;

/// The version of the layout.
const VERSION: u8 = 1;

/// How many bytes an encoded histogram takes at most.
pub const MAX_HISTOGRAM_BYTES: usize = 1 + 10 + 19 + 160 * 12;

/// Why bytes are not a stored histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// The bytes end within a number.
    #[error("a stored histogram is cut off")]
    CutOff,
    /// The layout has a version that this release does not know.
    #[error("a stored histogram has version {0}, which this release does not know; update it")]
    Version(u8),
    /// A number is too large or has superfluous bytes.
    #[error("a stored histogram contains an invalid number")]
    Number,
    /// A bucket is out of range, out of order or empty.
    #[error("a stored histogram contains an invalid bucket")]
    Bucket,
}

fn write(out: &mut Vec<u8>, mut number: u128) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    #[allow(clippy::cast_possible_truncation)] // less than 128
    out.push(number as u8);
}

/// Takes a number from the front. A number has only one valid form.
fn read(bytes: &mut &[u8]) -> Result<u128, HistogramError> {
    let mut number = 0_u128;
    for shift in (0..u128::BITS).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(HistogramError::CutOff)?;
        *bytes = rest;
        let bits = u128::from(byte & 0x7f);
        if bits.leading_zeros() < shift {
            return Err(HistogramError::Number);
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            let is_superfluous = *byte == 0 && shift > 0;
            return if is_superfluous { Err(HistogramError::Number) } else { Ok(number) };
        }
    }
    Err(HistogramError::Number)
}

fn read_count(bytes: &mut &[u8]) -> Result<u64, HistogramError> {
    u64::try_from(read(bytes)?).map_err(|_| HistogramError::Number)
}

impl Histogram {
    /// Returns the bytes that databases store. A typical histogram takes 20 to 60 bytes.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_store::model; }
    /// use ratchet::model::Histogram;
    ///
    /// let histogram = Histogram::from_parts(3, vec![(-20, 300)], 9_500_000_000).expect("it is valid");
    /// let bytes = histogram.to_bytes();
    /// assert_eq!(Histogram::from_bytes(&bytes).expect("it is stored"), histogram);
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(16 + 3 * self.buckets().len());
        out.push(VERSION);
        write(&mut out, self.zero_count().into());
        write(&mut out, self.sum_billionths());
        let mut before = Self::FIRST - 1;
        for (index, count) in self.buckets() {
            write(&mut out, (index - before).unsigned_abs().into());
            write(&mut out, (*count).into());
            before = *index;
        }
        out
    }

    /// Reads a stored histogram.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, HistogramError> {
        let (version, rest) = bytes.split_first().ok_or(HistogramError::CutOff)?;
        if *version != VERSION {
            return Err(HistogramError::Version(*version));
        }
        bytes = rest;
        let zero = read_count(&mut bytes)?;
        let sum = read(&mut bytes)?;
        let (mut buckets, mut before) = (Vec::new(), Self::FIRST - 1);
        while !bytes.is_empty() {
            let step = i32::try_from(read(&mut bytes)?).map_err(|_| HistogramError::Bucket)?;
            let index = before.checked_add(step).filter(|index| *index <= Self::LAST);
            let count = read_count(&mut bytes)?;
            match index {
                Some(index) if step > 0 && count > 0 => buckets.push((index, count)),
                _ => return Err(HistogramError::Bucket),
            }
            before = buckets.last().map_or(before, |(index, _)| *index);
        }
        Self::from_parts(zero, buckets, sum).ok_or(HistogramError::Number)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn histograms() -> impl Strategy<Value = Histogram> {
        let bucket = (Histogram::FIRST..=Histogram::LAST, 1..u64::from(u32::MAX));
        let buckets = prop::collection::btree_map(bucket.0, bucket.1, 0..40);
        let zero = any::<u32>().prop_map(u64::from);
        (zero, buckets, any::<u64>()).prop_map(|(zero, buckets, sum)| {
            let buckets = buckets.into_iter().collect();
            Histogram::from_parts(zero, buckets, sum.into()).expect("it is valid")
        })
    }

    /// The layout of version 1. It must not change: databases contain it.
    #[test]
    fn m_02_the_layout_is_fixed() {
        assert_eq!(Histogram::default().to_bytes(), [1, 0, 0]);
        let buckets = vec![(-80, 1), (-1, 128), (79, 2)];
        let histogram = Histogram::from_parts(300, buckets, 1_000_000_000).expect("it is valid");
        let bytes = [1, 172, 2, 128, 148, 235, 220, 3, 1, 1, 79, 128, 1, 80, 2];
        assert_eq!(histogram.to_bytes(), bytes);
        assert_eq!(Histogram::from_bytes(&bytes), Ok(histogram));
    }

    #[test]
    fn m_02_the_largest_histogram_fits() {
        let most = u64::MAX / 161;
        let buckets = (Histogram::FIRST..=Histogram::LAST).map(|index| (index, most)).collect();
        let histogram = Histogram::from_parts(most, buckets, u128::MAX).expect("it is valid");
        let bytes = histogram.to_bytes();
        assert!(bytes.len() <= MAX_HISTOGRAM_BYTES, "{}", bytes.len());
        assert_eq!(Histogram::from_bytes(&bytes), Ok(histogram));
    }

    #[test]
    fn m_02_invalid_bytes_are_typed_errors() {
        use HistogramError as Error;
        let cases: [(&[u8], Error); 10] = [
            (&[], Error::CutOff),
            (&[2, 0, 0], Error::Version(2)),
            (&[1], Error::CutOff),
            (&[1, 0x80], Error::CutOff),
            (&[1, 0x80, 0, 0], Error::Number),
            (&[1, 0, 0, 0, 1], Error::Bucket),
            (&[1, 0, 0, 161, 1, 1], Error::Bucket),
            (&[1, 0, 0, 1, 0], Error::Bucket),
            (&[1, 0, 0, 1], Error::CutOff),
            // One value more than can be counted.
            (&[1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 1, 1], Error::Number),
        ];
        for (bytes, error) in cases {
            assert_eq!(Histogram::from_bytes(bytes), Err(error), "{bytes:?}");
        }
        let too_large = [[1, 0].as_slice(), &[255; 18], &[127]].concat();
        assert_eq!(Histogram::from_bytes(&too_large), Err(Error::Number));
    }

    proptest! {
        #[test]
        fn m_02_a_stored_histogram_is_read_unchanged(histogram in histograms()) {
            prop_assert_eq!(Histogram::from_bytes(&histogram.to_bytes()), Ok(histogram));
        }

        #[test]
        fn m_02_hostile_bytes_do_not_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for version in [None, Some(VERSION)] {
                if let (Some(version), Some(first)) = (version, bytes.first_mut()) {
                    *first = version;
                }
                // A histogram has only one valid form.
                if let Ok(histogram) = Histogram::from_bytes(&bytes) {
                    prop_assert_eq!(histogram.to_bytes(), bytes.clone());
                    let mut twice = histogram.clone();
                    twice.merge(&histogram);
                    let _ = (twice.count(), twice.quantile(0.5), twice.since(&histogram));
                }
            }
        }

        #[test]
        fn m_02_damaged_bytes_do_not_panic(histogram in histograms(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = histogram.to_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            let _ = Histogram::from_bytes(&bytes);
            bytes.truncate(at);
            let _ = Histogram::from_bytes(&bytes);
        }

        #[test]
        fn m_02_sums_do_not_depend_on_the_order(parts in prop::collection::vec(histograms(), 0..6)) {
            let sum = |parts: &mut dyn Iterator<Item = &Histogram>| {
                parts.fold(Histogram::default(), |mut sum, part| { sum.merge(part); sum })
            };
            let (forward, backward) = (sum(&mut parts.iter()), sum(&mut parts.iter().rev()));
            prop_assert_eq!(forward, backward);
        }
    }
}
