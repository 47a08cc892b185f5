//! Evaluates cron expressions in a time zone.

use std::str::FromStr;

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone, TimeZoneTransition};
use jiff::{SignedDuration, Timestamp};

use crate::model::limits::{self, brief};

/// A cron expression in a time zone: five fields, six fields starting with seconds, or a nickname such as `@daily`.
///
/// ```
/// use ratchet_store::rules::recurring::Cron;
///
/// // On the last Sunday of March clocks in Berlin jump from 2:00 to 3:00.
/// let cron = Cron::new("30 2 * * *", "Europe/Berlin")?;
/// let next = cron.after("2026-03-28T12:00:00Z".parse()?).unwrap();
/// assert_eq!(next.to_string(), "2026-03-29T01:00:00Z");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cron {
    pattern: croner::Cron,
    zone: TimeZone,
    /// Whether the hour field is a wildcard. If so, a repeated hour counts as two hours.
    every_hour: bool,
}

/// The error returned for an invalid schedule.
///
/// ```
/// # mod ratchet { pub use ratchet_store::rules::recurring as schedule; }
/// use ratchet::schedule::{Cron, CronError};
///
/// let help = |expression, zone| match Cron::new(expression, zone) {
///     Err(CronError::Zone(zone)) => format!("`{zone}` is not a time zone"),
///     Err(error) => error.to_string(),
///     Ok(_) => "it is valid".to_owned(),
/// };
/// assert_eq!(help("@daily", "Berlin"), "`Berlin` is not a time zone");
/// assert_eq!(help("@daily", "Europe/Berlin"), "it is valid");
/// assert!(help("daily", "UTC").starts_with("cannot read the cron expression `daily`"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CronError {
    /// The expression cannot be parsed.
    #[error("cannot read the cron expression `{expression}`: {why}")]
    Expression {
        /// The expression, truncated if it is long.
        expression: String,
        /// The error of the parser.
        why: String,
    },
    /// The expression is too long.
    #[error("the cron expression has {length} bytes, the limit is {limit}")]
    TooLong {
        /// The length in bytes.
        length: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// The expression has no future occurrence.
    #[error(
        "the cron expression `{expression}` never fires: no day or time that it names will come"
    )]
    Never {
        /// The expression that never fires.
        expression: String,
    },
    /// The time zone does not exist.
    #[error("there is no time zone `{0}`; write it like `Europe/Berlin`")]
    Zone(String),
}

/// A period during which the offset of the zone does not change.
struct Stretch {
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    offset: Offset,
    /// The offset before the period.
    before: Offset,
}

impl Cron {
    /// Parses an expression and looks up its time zone.
    pub fn new(expression: &str, zone: &str) -> Result<Self, CronError> {
        let length = expression.len();
        if length > limits::CRON {
            return Err(CronError::TooLong { length, limit: limits::CRON });
        }
        let pattern = croner::Cron::from_str(expression).map_err(|error| {
            CronError::Expression { expression: brief(expression), why: error.to_string() }
        })?;
        let found = Some(zone)
            .filter(|zone| zone.len() <= limits::ZONE)
            .and_then(|zone| TimeZone::get(zone).ok())
            .ok_or_else(|| CronError::Zone(brief(zone)))?;
        let fields: Vec<_> = expression.split_whitespace().collect();
        let hour = match fields.len() {
            6.. => fields.get(2),
            5 => fields.get(1),
            _ => None,
        };
        let every_hour = match hour {
            Some(hour) => hour.contains('*'),
            None => expression.eq_ignore_ascii_case("@hourly"),
        };
        Ok(Self { pattern, zone: found, every_hour })
    }

    /// Returns the time zone of the expression.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns the first occurrence after an instant, or `None` if there is none.
    pub fn after(&self, instant: Timestamp) -> Option<Timestamp> {
        let mut stretch = self.stretch(instant);
        // Occurrences are whole seconds, so the instant can be rounded down.
        let mut from = floor(instant);
        let mut inclusive = false;
        loop {
            let local = local(from, stretch.offset)?;
            // At the start of a new period, skipped local times fire first, and repeated ones have already fired.
            let first = match stretch.start {
                Some(start) if inclusive => {
                    let was = self::local(start, stretch.before)?;
                    if was < local && self.next(was, true).is_some_and(|skipped| skipped < local) {
                        return Some(start);
                    }
                    if self.every_hour { local } else { local.max(was) }
                }
                Some(start) if !self.every_hour => {
                    let was = self::local(start, stretch.before)?;
                    inclusive = was > local;
                    local.max(was)
                }
                _ => local,
            };
            let next = self.next(first, inclusive)?;
            let found = instant_of(next, stretch.offset)?;
            match stretch.end {
                Some(end) if found >= end => {
                    stretch = self.stretch(end);
                    from = end;
                    inclusive = true;
                }
                _ => return Some(found),
            }
        }
    }

    /// Returns the first matching local time, ignoring daylight saving time.
    fn next(&self, from: DateTime, inclusive: bool) -> Option<DateTime> {
        let from = from.to_zoned(TimeZone::UTC).ok()?;
        let next = self.pattern.find_next_occurrence(&from, inclusive).ok()?;
        Some(next.datetime())
    }

    fn stretch(&self, instant: Timestamp) -> Stretch {
        // A transition at the instant itself begins the period.
        let just_after = instant.checked_add(SignedDuration::from_nanos(1)).unwrap_or(instant);
        let begun = self.zone.preceding(just_after).next();
        let offset = self.zone.to_offset(instant);
        let start = begun.as_ref().map(TimeZoneTransition::timestamp);
        let before = start
            .and_then(|start| start.checked_sub(SignedDuration::from_nanos(1)).ok())
            .map_or(offset, |before| self.zone.to_offset(before));
        let end = self.zone.following(instant).next().map(|transition| transition.timestamp());
        Stretch { start, end, offset, before }
    }
}

fn floor(instant: Timestamp) -> Timestamp {
    let second = instant.as_second() - i64::from(instant.subsec_nanosecond() < 0);
    Timestamp::from_second(second).unwrap_or(instant)
}

/// Returns the local time of an instant at an offset.
fn local(instant: Timestamp, offset: Offset) -> Option<DateTime> {
    let shifted = instant.checked_add(SignedDuration::from_secs(offset.seconds().into())).ok()?;
    Some(Offset::UTC.to_datetime(shifted))
}

/// Returns the instant of a local time at an offset.
fn instant_of(local: DateTime, offset: Offset) -> Option<Timestamp> {
    let shifted = Offset::UTC.to_timestamp(local).ok()?;
    shifted.checked_sub(SignedDuration::from_secs(offset.seconds().into())).ok()
}
