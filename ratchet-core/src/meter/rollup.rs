//! [`Rollup`]: what a process has counted in the current minute, as it is written to the store.

use std::collections::BTreeMap;
use std::time::Duration;

use ratchet_store::model::StatRow;

/// What was counted since the process began, by queue and job name.
pub(crate) type Totals = BTreeMap<(String, String), StatRow>;

/// The current minute of a process.
///
/// The store gets absolute values of a minute: the totals at the last tick without those at its beginning. A write whose
/// result is unknown is repeated with the same values before the next minute begins, so nothing is lost or counted
/// twice.
#[derive(Debug, Default)]
pub(crate) struct Rollup {
    slot: i64,
    /// The totals at the beginning of the minute.
    base: Totals,
    /// The totals at the last tick.
    last: Totals,
    /// The rows at the last tick may not be stored.
    unconfirmed: bool,
    /// When the last tick was, by the monotonic clock.
    ticked: Option<Duration>,
}

impl Rollup {
    /// Returns `true` if the last tick was at least `interval` ago.
    pub(crate) fn is_due(&self, now: Duration, interval: Duration) -> bool {
        self.ticked.is_none_or(|at| now.saturating_sub(at) >= interval)
    }

    /// Returns the rows of the last tick if they may not be stored.
    pub(crate) fn unconfirmed(&self) -> Vec<StatRow> {
        if self.unconfirmed { self.rows(|_| true) } else { Vec::new() }
    }

    /// Records that the rows of the last tick are stored.
    pub(crate) fn confirm(&mut self) {
        self.unconfirmed = false;
    }

    /// Returns the rows of this minute that have changed since the last tick. They are unconfirmed from now on. The rows
    /// of the last tick must be confirmed before.
    pub(crate) fn tick(&mut self, slot: i64, totals: Totals, now: Duration) -> Vec<StatRow> {
        debug_assert!(!self.unconfirmed, "the last tick is not stored");
        let before = std::mem::replace(&mut self.last, totals);
        if self.slot != slot {
            self.slot = slot;
            self.base.clone_from(&before);
        }
        self.ticked = Some(now);
        let rows = self.rows(|key| self.last.get(key) != before.get(key));
        self.unconfirmed = !rows.is_empty();
        rows
    }

    /// Returns the rows of this minute.
    fn rows(&self, wanted: impl Fn(&(String, String)) -> bool) -> Vec<StatRow> {
        let rows = self.last.iter().filter(|(key, _)| wanted(key));
        let rows = rows.map(|(key, total)| {
            let mut row = match self.base.get(key) {
                Some(base) => total.since(base),
                None => total.clone(),
            };
            row.slot = self.slot;
            row
        });
        rows.filter(|row| !row.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(started: &[(&str, u64)]) -> Totals {
        let total = |(name, started): &(&str, u64)| {
            let mut row = StatRow::new(0, "mail", *name);
            row.counts.started = *started;
            (("mail".to_owned(), (*name).to_owned()), row)
        };
        started.iter().map(total).collect()
    }

    fn started(rows: &[StatRow]) -> Vec<(i64, &str, u64)> {
        rows.iter().map(|row| (row.slot, &*row.name, row.counts.started)).collect()
    }

    #[test]
    fn m_02_a_minute_is_written_as_absolute_values() {
        let mut rollup = Rollup::default();
        let at = Duration::ZERO;
        let rows = rollup.tick(7, totals(&[("a", 1), ("b", 1)]), at);
        assert_eq!(started(&rows), [(7, "a", 1), (7, "b", 1)]);
        rollup.confirm();
        let rows = rollup.tick(7, totals(&[("a", 3), ("b", 1)]), at);
        assert_eq!(started(&rows), [(7, "a", 3)], "what has not changed is not written");
        rollup.confirm();
        assert_eq!(rollup.tick(7, totals(&[("a", 3), ("b", 1)]), at), []);
        let rows = rollup.tick(9, totals(&[("a", 4), ("b", 1), ("c", 2)]), at);
        assert_eq!(started(&rows), [(9, "a", 1), (9, "c", 2)], "the next minute begins at zero");
        rollup.confirm();
        let rows = rollup.tick(9, totals(&[("a", 4), ("b", 2), ("c", 2)]), at);
        assert_eq!(started(&rows), [(9, "b", 1)]);
    }

    #[test]
    fn m_02_a_write_whose_result_is_unknown_is_repeated_unchanged() {
        let mut rollup = Rollup::default();
        rollup.tick(7, totals(&[("a", 2)]), Duration::ZERO);
        assert_eq!(started(&rollup.unconfirmed()), [(7, "a", 2)]);
        assert_eq!(started(&rollup.unconfirmed()), [(7, "a", 2)]);
        rollup.confirm();
        assert_eq!(rollup.unconfirmed(), []);
        let rows = rollup.tick(8, totals(&[("a", 5)]), Duration::ZERO);
        assert_eq!(
            started(&rows),
            [(8, "a", 3)],
            "what was counted in between is in the new minute"
        );
    }

    #[test]
    fn m_02_a_tick_is_due_after_its_interval() {
        let mut rollup = Rollup::default();
        let interval = Duration::from_secs(10);
        assert!(rollup.is_due(Duration::ZERO, interval));
        rollup.tick(7, Totals::new(), Duration::from_secs(5));
        assert!(!rollup.is_due(Duration::from_secs(14), interval));
        assert!(rollup.is_due(Duration::from_secs(15), interval));
    }
}
