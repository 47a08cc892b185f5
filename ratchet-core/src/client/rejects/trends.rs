//! How the number of rejected items changes over time.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    RejectCount, RejectFilter, RejectGroup, interval_micros, reject_interval,
};
use serde::Serialize;

/// The lengths of an interval, in minutes: up to an hour, a day, and a week.
const MINUTES: [u64; 12] = [1, 2, 5, 10, 30, 60, 180, 360, 720, 1440, 2880, 10_080];

/// The maximum number of intervals, unless the time is longer than a year.
const INTERVALS: i64 = 60;

/// When items were rejected that are still stored, in intervals of the same length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectTrends {
    /// When the first interval begins.
    pub from: Timestamp,
    /// The length of an interval. The last interval contains the present.
    pub interval: Duration,
    /// One entry per job name, error type and fingerprint, in this order.
    pub groups: Vec<RejectTrend>,
}

/// The stored items with the same job name, error type and fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectTrend {
    /// The name of the jobs that rejected them.
    pub job_name: String,
    /// The type of the error.
    pub error_type: String,
    /// The fingerprint shared by the errors.
    pub fingerprint: String,
    /// How many of the items were rejected in each interval.
    pub rejected: Vec<u64>,
    /// How many of the items had been rejected at the end of each interval, including those of earlier times.
    pub backlog: Vec<u64>,
}

/// A time up to now, divided into intervals.
#[derive(Debug, Clone, Copy)]
pub(super) struct RejectSpan {
    first: i64,
    last: i64,
    pub(super) interval: Duration,
}

impl RejectSpan {
    pub(super) fn new(now: Timestamp, last: Duration) -> Self {
        let fits = |minutes: &Duration| {
            let most = i128::from(interval_micros(*minutes)) * i128::from(INTERVALS - 1);
            i128::try_from(last.as_micros()).is_ok_and(|last| last <= most)
        };
        let lengths = MINUTES.map(|minutes| Duration::from_secs(minutes * 60));
        let longest = lengths[lengths.len() - 1];
        let interval = lengths.into_iter().find(fits).unwrap_or(longest);
        let from =
            now.checked_sub(last).unwrap_or(Timestamp::UNIX_EPOCH).max(Timestamp::UNIX_EPOCH);
        Self {
            first: reject_interval(from, interval),
            last: reject_interval(now, interval),
            interval,
        }
    }

    fn from(self) -> Timestamp {
        let micros = self.first.saturating_mul(interval_micros(self.interval));
        Timestamp::from_microsecond(micros).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// Selects the items of this time that match a filter.
    pub(super) fn inside(self, filter: &RejectFilter) -> RejectFilter {
        let since = filter.since.map_or(self.from(), |since| since.max(self.from()));
        filter.clone().since(since)
    }

    /// Selects the items of earlier times that match a filter.
    pub(super) fn earlier(self, filter: &RejectFilter) -> RejectFilter {
        let before = filter.before.map_or(self.from(), |before| before.min(self.from()));
        filter.clone().before(before)
    }

    pub(super) fn trends(
        self,
        earlier: Vec<RejectGroup>,
        counts: Vec<RejectCount>,
    ) -> RejectTrends {
        let length = usize::try_from(self.last - self.first + 1).unwrap_or(1);
        // Before the first interval, and in each of them.
        let mut groups = BTreeMap::<_, (u64, Vec<u64>)>::new();
        for group in earlier {
            let kind = (group.job_name, group.error_type, group.fingerprint);
            groups.entry(kind).or_insert_with(|| (0, vec![0; length])).0 = group.count;
        }
        for count in counts {
            let kind = (count.job_name, count.error_type, count.fingerprint);
            let (_, rejected) = groups.entry(kind).or_insert_with(|| (0, vec![0; length]));
            // An item that was rejected after the present was read belongs to the last interval.
            let number = count.interval.clamp(self.first, self.last) - self.first;
            if let Some(rejected) = usize::try_from(number).ok().and_then(|it| rejected.get_mut(it))
            {
                *rejected += count.count;
            }
        }
        let trends = groups.into_iter().map(|(kind, (earlier, rejected))| {
            let (job_name, error_type, fingerprint) = kind;
            let backlog = running_totals(earlier, &rejected);
            RejectTrend { job_name, error_type, fingerprint, rejected, backlog }
        });
        RejectTrends { from: self.from(), interval: self.interval, groups: trends.collect() }
    }
}

/// Returns the sum of all values up to each of them, beginning with `sum`.
fn running_totals(mut sum: u64, values: &[u64]) -> Vec<u64> {
    let add = |value: &u64| {
        sum += value;
        sum
    };
    values.iter().map(add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + minutes * 60).expect("in range")
    }

    #[test]
    fn a_time_has_at_most_sixty_intervals() {
        for (hours, minutes) in [(1, 2), (6, 10), (24, 30), (7 * 24, 180), (90 * 24, 2880)] {
            let span = RejectSpan::new(at(0), Duration::from_hours(hours));
            assert_eq!(span.interval, Duration::from_secs(minutes * 60), "{hours} hours");
            assert!((24..=60).contains(&(span.last - span.first + 1)), "{hours} hours");
        }
        assert!(RejectSpan::new(at(0), Duration::MAX).first >= 0);
        assert_eq!(RejectSpan::new(at(0), Duration::ZERO).trends(vec![], vec![]).groups, []);
    }

    #[test]
    fn the_backlog_contains_what_was_rejected_earlier() {
        let span = RejectSpan::new(at(0), Duration::from_mins(2));
        let group = |fingerprint: &str, count| RejectGroup {
            job_name: "import".to_owned(),
            error_type: "Parse".to_owned(),
            fingerprint: fingerprint.to_owned(),
            count,
            oldest: at(-9),
            latest: at(-8),
        };
        let count = |fingerprint: &str, minute, count| RejectCount {
            job_name: "import".to_owned(),
            error_type: "Parse".to_owned(),
            fingerprint: fingerprint.to_owned(),
            interval: reject_interval(at(minute), span.interval),
            count,
        };
        let counts = vec![count("a", -2, 1), count("a", 0, 2), count("b", 3, 7)];
        let trends = span.trends(vec![group("a", 10), group("c", 4)], counts);
        assert_eq!(trends.from, at(-2));
        let found: Vec<_> = trends
            .groups
            .iter()
            .map(|it| (it.fingerprint.as_str(), it.rejected.clone(), it.backlog.clone()))
            .collect();
        let expected = [
            ("a", vec![1, 0, 2], vec![11, 11, 13]),
            ("b", vec![0, 0, 7], vec![0, 0, 7]),
            ("c", vec![0, 0, 0], vec![4, 4, 4]),
        ];
        assert_eq!(found, expected);
    }
}
