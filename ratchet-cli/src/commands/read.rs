//! Values of the command line: durations, due times, rates and filters.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ratchet_core::{Due, Filter, Placement, Priority, Rate};

use crate::args::Place;
use crate::exit::Failure;

/// Reads a duration such as `30s`, `1h30m` or `2d`.
pub(super) fn duration(text: &str) -> Result<Duration, Failure> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
    let days = days.and_then(|days| SignedDuration::try_from_hours(days.checked_mul(24)?));
    let duration = days.map_or_else(|| text.parse::<SignedDuration>(), Ok);
    let duration = duration.ok().and_then(|duration| Duration::try_from(duration).ok());
    duration.ok_or_else(|| {
        Failure::usage(format!("`{text}` is not a duration; write 30s, 5m, 1h30m or 2d"))
    })
}

/// Reads a due time: `now`, a delay, or an instant.
pub(super) fn due(text: &str) -> Result<Due, Failure> {
    if text == "now" {
        return Ok(Due::In(Duration::ZERO));
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(Due::At(instant));
    }
    let delay = duration(text.strip_prefix('+').unwrap_or(text)).map_err(|_| {
        Failure::usage(format!(
            "`{text}` is not a due time; write an instant (2026-11-18T08:00:00Z), a delay (30m) or `now`"
        ))
    })?;
    Ok(Due::In(delay))
}

/// Reads a rate such as `50/s`, `1000/m` or `5/10s`.
pub(super) fn rate(text: &str) -> Result<Rate, Failure> {
    let wrong =
        || Failure::usage(format!("`{text}` is not a rate; write 50/s, 1000/m, 10/h or 5/10s"));
    let (jobs, period) = text.split_once('/').ok_or_else(wrong)?;
    let jobs = jobs.trim().parse().map_err(|_| wrong())?;
    let period = period.trim();
    let period = if period.starts_with(|first: char| first.is_ascii_digit()) {
        period.to_owned()
    } else {
        format!("1{period}")
    };
    let per = duration(&period).map_err(|_| wrong())?;
    if per.is_zero() {
        return Err(wrong());
    }
    Ok(Rate { jobs, per })
}

/// Reads a filter from the words of the command line.
pub(super) fn filter(words: &[String], now: Timestamp) -> Result<Filter, Failure> {
    Ok(Filter::parse(&words.join(" "), now)?)
}

/// Reads where jobs are moved; `None` if nothing is given.
pub(super) fn placement(place: &Place) -> Result<Option<Placement>, Failure> {
    let mut placement = Placement::default();
    if let Some(queue) = &place.queue {
        placement = placement.queue(queue);
    }
    if let Some(text) = &place.priority {
        let priority = Priority::from_name(text).ok_or_else(|| {
            let names = Priority::ALL.map(Priority::name).join(", ");
            Failure::usage(format!("`{text}` is not a priority; they are {names}"))
        })?;
        placement = placement.priority(priority);
    }
    Ok((placement != Placement::default()).then_some(placement))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, seconds) in [("30s", 30), ("5m", 300), ("1h30m", 5400), ("2d", 172_800)] {
            assert_eq!(duration(text).expect(text), Duration::from_secs(seconds));
        }
        for text in ["", "soon", "-5s", "d", "99999999999999999d"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_read() {
        for (text, jobs, seconds) in
            [("50/s", 50, 1), ("1000/m", 1000, 60), ("5/10s", 5, 10), ("3/h", 3, 3600)]
        {
            assert_eq!(rate(text).expect(text), Rate { jobs, per: Duration::from_secs(seconds) });
        }
        for text in ["50", "x/s", "5/0s", "5/"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn due_times_are_read() {
        assert_eq!(due("now").expect("reads"), Due::In(Duration::ZERO));
        assert_eq!(due("+30m").expect("reads"), Due::In(Duration::from_mins(30)));
        assert!(matches!(due("2026-11-18T08:00:00Z").expect("reads"), Due::At(_)));
        assert!(due("tomorrow").is_err());
    }
}
