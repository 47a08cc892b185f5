//! [`SeriesTable`]: the series of a metric by their labels. Bounded, and read without locks.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The maximum number of series of a metric.
pub(super) const MOST: usize = 1000;

/// The label value under which all further series are counted together.
pub(super) const OVERFLOW: &str = "overflow";

/// The number of slots of each level, and how many of them are probed. The last level always has an empty slot.
const LEVELS: [(usize, usize); 2] = [(64, 8), (2048, 2048)];

/// The slots of one level.
type Slots<T> = Box<[OnceLock<Series<T>>]>;

/// Series by labels. A series is never removed.
///
/// An open-addressing hash table whose slots are written once, so that a lookup needs no lock, and allocates only for the
/// first measurement of a series. A series occupies the first empty slot of its probe sequence, and slots are never
/// emptied, so two threads cannot insert the same series twice.
pub(super) struct SeriesTable<T> {
    /// Allocated when they are needed.
    levels: [OnceLock<Slots<T>>; LEVELS.len()],
    count: AtomicUsize,
    overflow: OnceLock<Series<T>>,
}

/// The labels and the value of a series.
pub(super) struct Series<T> {
    pub(super) labels: Box<[Arc<str>]>,
    pub(super) value: Arc<T>,
}

impl<T> Default for SeriesTable<T> {
    fn default() -> Self {
        Self { levels: Default::default(), count: AtomicUsize::new(0), overflow: OnceLock::new() }
    }
}

impl<T> std::fmt::Debug for SeriesTable<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.count.load(Ordering::Relaxed);
        f.debug_struct("SeriesTable").field("count", &count).finish_non_exhaustive()
    }
}

impl<T> SeriesTable<T> {
    /// Returns the value of a series. `new` creates it for the first measurement.
    pub(super) fn get(&self, labels: &[&str], new: impl Fn() -> T) -> &Arc<T> {
        let mut hasher = DefaultHasher::new();
        labels.hash(&mut hasher);
        let hash = usize::try_from(hasher.finish() & 0xffff).unwrap_or(0);
        for (level, (size, probes)) in self.levels.iter().zip(LEVELS) {
            let slots =
                level.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(size).collect());
            for probe in 0..probes {
                let slot = &slots[(hash + probe) % size];
                if slot.get().is_none() && !self.fill(slot, labels, &new) {
                    return self.overflow(labels.len(), &new);
                }
                if let Some(series) = slot.get()
                    && series.labels.iter().map(|label| &**label).eq(labels.iter().copied())
                {
                    return &series.value;
                }
            }
        }
        self.overflow(labels.len(), &new)
    }

    /// Writes a series to an empty slot, unless another thread is faster. Returns `false` if there are too many series.
    fn fill(&self, slot: &OnceLock<Series<T>>, labels: &[&str], new: impl Fn() -> T) -> bool {
        let more = |count| (count < MOST).then_some(count + 1);
        if self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
            return false;
        }
        let labels = labels.iter().map(|label| Arc::from(*label)).collect();
        if slot.set(Series { labels, value: Arc::new(new()) }).is_err() {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        true
    }

    fn overflow(&self, labels: usize, new: impl Fn() -> T) -> &Arc<T> {
        let labels = || vec![Arc::from(OVERFLOW); labels].into_boxed_slice();
        let series = || Series { labels: labels(), value: Arc::new(new()) };
        &self.overflow.get_or_init(series).value
    }

    /// Returns the series of all measurements that exceeded the limit, if there are any.
    pub(super) fn overflowed(&self) -> Option<&Series<T>> {
        self.overflow.get()
    }

    /// Returns all series, including that of the measurements that exceeded the limit, ordered by their labels.
    pub(super) fn all(&self) -> Vec<&Series<T>> {
        let levels = self.levels.iter().filter_map(OnceLock::get).flatten();
        let mut all: Vec<_> = levels.filter_map(OnceLock::get).chain(self.overflowed()).collect();
        all.sort_by(|one, other| one.labels.cmp(&other.labels));
        all
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    fn add(table: &SeriesTable<AtomicU64>, labels: &[&str]) {
        table.get(labels, AtomicU64::default).fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn m_04_a_metric_has_at_most_a_thousand_series_and_one_for_the_rest() {
        let table = SeriesTable::default();
        for round in 0..3 {
            for number in 0..10_000 {
                add(&table, &["queue", &number.to_string()]);
            }
            let all = table.all();
            assert_eq!(all.len(), MOST + 1);
            let total: u64 = all.iter().map(|series| series.value.load(Ordering::Relaxed)).sum();
            assert_eq!(total, 10_000 * (round + 1), "nothing is lost");
        }
        let rest = table.overflowed().expect("there are too many");
        assert_eq!(rest.labels.iter().map(|label| &**label).collect::<Vec<_>>(), [OVERFLOW; 2]);
        assert_eq!(rest.value.load(Ordering::Relaxed), 3 * 9000);
    }

    #[test]
    fn labels_are_compared_one_by_one() {
        let table = SeriesTable::default();
        for labels in [["a", "bc"], ["ab", "c"], ["", "abc"], ["a", "bc"]] {
            add(&table, &labels);
        }
        let values: Vec<_> =
            table.all().iter().map(|series| series.value.load(Ordering::Relaxed)).collect();
        assert_eq!(values, [1, 2, 1]);
    }

    #[test]
    fn threads_that_use_a_new_series_at_once_share_it() {
        let table = SeriesTable::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for number in 0..2000 {
                        add(&table, &[&(number % 500).to_string()]);
                    }
                });
            }
        });
        let values: Vec<_> =
            table.all().iter().map(|series| series.value.load(Ordering::Relaxed)).collect();
        assert_eq!(values, [8 * 4; 500]);
    }
}
