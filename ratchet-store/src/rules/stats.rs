//! How the history of metrics is added up, and for how long it is kept.
//!
//! Nodes write the minute tier. Whenever a slot of a tier changes, the slot above that contains it is marked. The leader
//! computes every marked slot as the sum of the tier below and writes the absolute result. Sums can therefore be
//! computed in any order and any number of times, and a write that comes late is added in the same way.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::model::{GaugeRow, StatRow, StatsBy, StatsQuery, StatsTier};

/// How far ahead of the store's clock a slot may begin.
const AHEAD: Duration = Duration::from_hours(1);

/// Into how many slots a span of time is divided at most, unless the tier is chosen. Enough for a chart.
pub const MOST_SLOTS: u32 = 400;

/// A slot of a tier.
pub type Slot = (StatsTier, i64);

/// Returns the first slot of a tier that must be kept. All slots before it can be deleted if nothing above is marked.
///
/// The slots that belong to one slot above are deleted together. Otherwise a later sum would be incomplete.
///
/// ```
/// use ratchet_store::model::StatsTier;
/// use ratchet_store::rules::stats::first_kept;
///
/// let now = "2026-11-17T12:34:56Z".parse().expect("a time");
/// let first = first_kept(StatsTier::Minute, now);
/// assert_eq!(StatsTier::Minute.start_of(first).to_string(), "2026-11-15T12:30:00Z");
/// ```
pub fn first_kept(tier: StatsTier, now: Timestamp) -> i64 {
    let horizon = now.checked_sub(tier.kept()).unwrap_or(Timestamp::MIN);
    let aligned = tier.above().unwrap_or(tier);
    aligned.slot_in(aligned.slot_of(horizon), tier)
}

/// Returns the finest tier that still contains the beginning of a span of time and divides it into at most
/// [`MOST_SLOTS`] slots; the coarsest tier if there is none.
///
/// ```
/// use ratchet_store::model::StatsTier;
/// use ratchet_store::rules::stats::tier_for;
///
/// let now = "2026-11-17T12:00:00Z".parse().expect("a time");
/// let day_before = "2026-11-16T12:00:00Z".parse().expect("a time");
/// assert_eq!(tier_for(day_before, now, now), StatsTier::TenMinutes);
/// ```
pub fn tier_for(from: Timestamp, until: Timestamp, now: Timestamp) -> StatsTier {
    let span = until.duration_since(from).unsigned_abs();
    let fits = |tier: &StatsTier| {
        span <= tier.slot_length() * MOST_SLOTS && tier.slot_of(from) >= first_kept(*tier, now)
    };
    StatsTier::ALL.into_iter().find(fits).unwrap_or(StatsTier::Day)
}

/// Returns `true` if rows of this slot of the minute tier can be written: it is neither about to be deleted nor in the
/// future.
pub fn accepts(slot: i64, now: Timestamp) -> bool {
    let latest = now.checked_add(AHEAD).unwrap_or(Timestamp::MAX);
    let tier = StatsTier::Minute;
    (first_kept(tier, now)..=tier.slot_of(latest)).contains(&slot)
}

/// Returns the slot above that must be marked when a slot changes.
pub fn mark_above((tier, slot): Slot) -> Option<Slot> {
    let above = tier.above()?;
    Some((above, tier.slot_in(slot, above)))
}

/// Returns the slots of the tier below that make up a slot: the first one, and the one after the last.
pub fn sources((tier, slot): Slot) -> Option<(StatsTier, std::ops::Range<i64>)> {
    let below = tier.below()?;
    Some((below, tier.slot_in(slot, below)..tier.slot_in(slot.saturating_add(1), below)))
}

/// Returns the marked slots that are folded next: those of the lowest tier first, because the others are sums of them,
/// and the oldest of a tier first.
pub fn next_folds(marks: impl IntoIterator<Item = Slot>, limit: u32) -> Vec<Slot> {
    let mut next: Vec<_> = marks.into_iter().collect();
    next.sort_unstable();
    next.dedup();
    next.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    next
}

/// Adds up rows of the tier below, and of different processes. Returns the rows of this slot, ordered by queue and name.
pub fn fold(slot: i64, rows: impl IntoIterator<Item = StatRow>) -> Vec<StatRow> {
    let mut sums = Sums::new(StatsBy::QueueAndName);
    for mut row in rows {
        row.slot = slot;
        sums.add(row);
    }
    sums.into_rows()
}

/// Adds up rows by slot, and by what a query wants.
#[derive(Debug, Default)]
pub struct Sums {
    by: StatsBy,
    rows: BTreeMap<(i64, String, String), StatRow>,
}

impl Sums {
    /// Creates sums without rows.
    pub fn new(by: StatsBy) -> Self {
        Self { by, rows: BTreeMap::new() }
    }

    /// Adds a row.
    pub fn add(&mut self, mut row: StatRow) {
        if matches!(self.by, StatsBy::Slot | StatsBy::Name) {
            row.queue.clear();
        }
        if matches!(self.by, StatsBy::Slot | StatsBy::Queue) {
            row.name.clear();
        }
        let key = (row.slot, row.queue.clone(), row.name.clone());
        match self.rows.entry(key) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert(row);
            }
            std::collections::btree_map::Entry::Occupied(mut sum) => sum.get_mut().add(&row),
        }
    }

    /// Returns the sums, ordered by slot, queue and name.
    pub fn into_rows(self) -> Vec<StatRow> {
        self.rows.into_values().collect()
    }
}

/// Returns `true` if a query wants a row of its tier.
pub fn wants(query: &StatsQuery, row: &StatRow) -> bool {
    (query.from..query.until).contains(&row.slot)
        && query.queue.as_ref().is_none_or(|queue| *queue == row.queue)
        && query.name.as_ref().is_none_or(|name| *name == row.name)
}

/// Returns the row of a slot after a sample: the values of the newest sample, and the longest age of all samples.
/// Repeating it changes nothing.
#[must_use]
pub fn merge_gauge(kept: Option<GaugeRow>, sample: GaugeRow) -> GaugeRow {
    let Some(kept) = kept else { return sample };
    let oldest_age = kept.oldest_age.max(sample.oldest_age);
    let newest = if sample.at >= kept.at { sample } else { kept };
    GaugeRow { oldest_age, ..newest }
}

/// Returns `true` if a node that joins leaves a deploy mark.
///
/// `last` is the version of the newest mark of its program. `others` are the versions of other live nodes of the program,
/// so that a node of the earlier version that restarts during a deploy leaves none.
///
/// ```
/// use ratchet_store::rules::stats::is_deploy;
///
/// assert!(is_deploy("2.0", Some("1.0"), ["1.0"]));
/// assert!(!is_deploy("2.0", Some("2.0"), ["1.0"]));
/// assert!(!is_deploy("1.0", Some("2.0"), ["1.0", "2.0"]));
/// assert!(is_deploy("1.0", Some("2.0"), ["2.0"]), "a deploy can go back");
/// ```
pub fn is_deploy<'a>(
    version: &str,
    last: Option<&str>,
    others: impl IntoIterator<Item = &'a str>,
) -> bool {
    !version.is_empty()
        && last != Some(version)
        && (last.is_none() || others.into_iter().all(|other| other != version))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Histogram;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn row(slot: i64, queue: &str, name: &str, started: u64) -> StatRow {
        let mut row = StatRow::new(slot, queue, name);
        row.counts.started = started;
        row.wait = Histogram::from_parts(started, Vec::new(), 0).expect("it is valid");
        row
    }

    #[test]
    fn m_02_slots_that_make_up_one_slot_are_deleted_together() {
        for (tier, first) in [
            (StatsTier::Minute, "2026-11-15T12:30:00Z"),
            (StatsTier::TenMinutes, "2026-11-03T12:00:00Z"),
            (StatsTier::Hour, "2026-08-19T00:00:00Z"),
            (StatsTier::Day, "2023-11-18T00:00:00Z"),
        ] {
            let kept = first_kept(tier, at("2026-11-17T12:34:56Z"));
            assert_eq!(tier.start_of(kept), at(first), "{tier:?}");
        }
    }

    #[test]
    fn m_02_a_write_must_be_neither_too_late_nor_in_the_future() {
        let now = at("2026-11-17T12:34:56Z");
        let minute = |text| StatsTier::Minute.slot_of(at(text));
        assert!(accepts(minute("2026-11-15T12:30:00Z"), now));
        assert!(!accepts(minute("2026-11-15T12:29:59Z"), now));
        assert!(accepts(minute("2026-11-17T13:34:00Z"), now));
        assert!(!accepts(minute("2026-11-17T13:35:00Z"), now));
        assert!(!accepts(i64::MAX, now) && !accepts(i64::MIN, now));
    }

    #[test]
    fn m_02_the_tier_of_a_span_is_fine_enough_and_still_kept() {
        let now = at("2026-11-17T12:00:00Z");
        let last = |hours| tier_for(now - Duration::from_hours(hours), now, now);
        assert_eq!((last(1), last(6)), (StatsTier::Minute, StatsTier::Minute));
        assert_eq!((last(7), last(66)), (StatsTier::TenMinutes, StatsTier::TenMinutes));
        assert_eq!((last(67), last(400)), (StatsTier::Hour, StatsTier::Hour));
        assert_eq!((last(401), last(100_000)), (StatsTier::Day, StatsTier::Day));
        let old = |days: u64| {
            let from = now - Duration::from_hours(24 * days);
            tier_for(from, from + Duration::from_hours(1), now)
        };
        assert_eq!((old(1), old(3)), (StatsTier::Minute, StatsTier::TenMinutes));
        assert_eq!((old(15), old(91)), (StatsTier::Hour, StatsTier::Day));
    }

    #[test]
    fn m_02_lower_tiers_are_folded_first() {
        use StatsTier::{Day, Hour, TenMinutes};
        let marks = [(Day, 1), (TenMinutes, 9), (Hour, 3), (TenMinutes, 8), (Day, 1)];
        assert_eq!(next_folds(marks, 3), [(TenMinutes, 8), (TenMinutes, 9), (Hour, 3)]);
        assert_eq!(next_folds(marks, 9).len(), 4);
    }

    #[test]
    fn m_02_a_slot_is_made_up_of_the_slots_that_mark_it() {
        for tier in StatsTier::ALL {
            for slot in [-1, 0, 1, 1_000_003] {
                let Some((below, slots)) = sources((tier, slot)) else { continue };
                assert!(slots.clone().all(|it| mark_above((below, it)) == Some((tier, slot))));
                assert_ne!(mark_above((below, slots.end)), Some((tier, slot)));
                assert_ne!(mark_above((below, slots.start - 1)), Some((tier, slot)));
            }
        }
        assert_eq!(mark_above((StatsTier::Day, 1)), None);
        assert_eq!(sources((StatsTier::Minute, 1)), None);
    }

    #[test]
    fn m_02_rows_are_added_up_by_what_a_query_wants() {
        let rows =
            [row(1, "a", "x", 1), row(1, "a", "y", 2), row(1, "b", "x", 4), row(2, "a", "x", 8)];
        let sums = |by| {
            let mut sums = Sums::new(by);
            rows.iter().cloned().for_each(|row| sums.add(row));
            let sum = |row: StatRow| (row.slot, row.queue, row.name, row.counts.started);
            sums.into_rows().into_iter().map(sum).collect::<Vec<_>>()
        };
        let expect = |slot, queue: &str, name: &str, n| (slot, queue.into(), name.into(), n);
        assert_eq!(sums(StatsBy::Slot), [expect(1, "", "", 7), expect(2, "", "", 8)]);
        let by_queue = [expect(1, "a", "", 3), expect(1, "b", "", 4), expect(2, "a", "", 8)];
        assert_eq!(sums(StatsBy::Queue), by_queue);
        let by_name = [expect(1, "", "x", 5), expect(1, "", "y", 2), expect(2, "", "x", 8)];
        assert_eq!(sums(StatsBy::Name), by_name);
        assert_eq!(sums(StatsBy::QueueAndName).len(), 4);
        let folded = fold(7, rows.clone());
        let started: Vec<_> = folded.iter().map(|row| (row.slot, row.counts.started)).collect();
        assert_eq!(started, [(7, 9), (7, 2), (7, 4)]);
    }

    #[test]
    fn m_03_a_slot_keeps_the_newest_sample_and_the_longest_age() {
        let sample = |second, depth, age| {
            let at = Timestamp::from_second(second).expect("in range");
            let mut row = GaugeRow::new(0, "mail", at);
            (row.depth, row.oldest_age) = (depth, Duration::from_secs(age));
            row
        };
        let first = merge_gauge(None, sample(1, 5, 10));
        let second = merge_gauge(Some(first.clone()), sample(2, 3, 4));
        assert_eq!(second, sample(2, 3, 10));
        assert_eq!(merge_gauge(Some(second.clone()), sample(2, 3, 4)), second, "repeated");
        assert_eq!(merge_gauge(Some(second.clone()), first), second, "late");
    }

    #[test]
    fn m_03_a_new_version_of_a_program_is_a_deploy() {
        assert!(is_deploy("1", None, []));
        assert!(is_deploy("1", None, ["1"]), "nodes joined before marks were kept");
        assert!(!is_deploy("", Some("1"), []), "the version is unknown");
        assert!(!is_deploy("2", Some("2"), ["2"]));
    }

    proptest! {
        #[test]
        fn m_02_folding_twice_is_folding_once(
            counts in prop::collection::vec((0..60_i64, 0..3_usize, 0..100_u64), 0..40),
        ) {
            let rows: Vec<_> = counts
                .iter()
                .map(|(slot, name, n)| row(*slot, "q", ["a", "b", "c"][*name], *n))
                .collect();
            let direct = fold(0, rows.clone());
            // An hour as the sum of minutes is an hour as the sum of ten minutes.
            let tens: Vec<_> = (0..6)
                .flat_map(|ten| fold(ten, rows.iter().filter(|row| row.slot / 10 == ten).cloned()))
                .collect();
            prop_assert_eq!(&fold(0, tens), &direct);
            prop_assert_eq!(&fold(0, direct.clone()), &direct);
            prop_assert_eq!(&fold(0, rows.into_iter().rev()), &direct);
        }
    }
}
