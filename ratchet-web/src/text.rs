//! Numbers, times and untrusted text for people.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// Returns a number with separators: `14,518`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with a noun: `1 job`, `14,518 jobs`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = match (number, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) if !noun.ends_with("ay") => format!("{stem}ies"),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(number))
}

/// Returns a number of bytes in its greatest unit: `512 B`, `1.4 MiB`.
pub(crate) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (bytes.max(1).ilog2() / 10).min(4);
    if unit == 0 {
        return format!("{bytes} B");
    }
    // In tenths, so that no number is too large to be exact.
    let tenths = (u128::from(bytes) * 10) >> (10 * unit);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit as usize])
}

/// Returns a duration with its two greatest units: `9 m 12 s`, `3 d 4 h`, `250 ms`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        let milliseconds = duration.as_millis();
        return if milliseconds == 0 && !duration.is_zero() {
            "< 1 ms".to_owned()
        } else {
            format!("{milliseconds} ms")
        };
    }
    if seconds < 10 {
        return format!("{:.1} s", duration.as_secs_f64()).replace(".0 s", " s");
    }
    let units = [
        (seconds / 86400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "m"),
        (seconds % 60, "s"),
    ];
    let first = units.iter().position(|(value, _)| *value > 0).unwrap_or(3);
    let mut text = String::new();
    for (value, unit) in units.iter().skip(first).take(2).filter(|(value, _)| *value > 0) {
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{value} {unit}");
    }
    text
}

/// Returns a duration in the syntax that forms and the command line read: `9m12s`.
pub(crate) fn written_duration(length: Duration) -> String {
    duration(length).replace(' ', "")
}

/// Returns a time relative to now: `9 m 12 s ago`, `in 30 s`, `now`.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let distance = at.duration_since(now);
    let text = duration(distance.unsigned_abs());
    if distance.unsigned_abs() < Duration::from_millis(500) {
        "now".to_owned()
    } else if distance > SignedDuration::ZERO {
        format!("in {text}")
    } else {
        format!("{text} ago")
    }
}

/// Returns an instant in UTC, to the second: `2026-11-17 13:41:02 UTC`.
pub(crate) fn exact(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// Returns how long ago an instant was. An instant in the future was no time ago.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(at)).unwrap_or_default()
}

/// Escapes what could change the rest of a line: control characters, and characters that change the direction of text.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\n' | '\t') {
            shown.push(character);
        } else if is_hidden(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// Like [`printable`], on one line and with at most `most` characters.
pub(crate) fn brief(text: &str, most: usize) -> String {
    let mut kept: String = text.chars().take(most).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    printable(&kept.replace(['\n', '\t'], " "))
}

/// Quotes an argument for a POSIX shell, if necessary.
pub(crate) fn shell(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// Reads a duration such as `30s`, `1h30m` or `2d`.
pub(crate) fn read_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let days = text.strip_suffix('d').and_then(|days| days.parse::<i64>().ok());
    let days = days.and_then(|days| SignedDuration::try_from_hours(days.checked_mul(24)?));
    let read = days.or_else(|| text.parse().ok()).and_then(|it| Duration::try_from(it).ok());
    read.ok_or_else(|| format!("`{}` is not a duration; write 30s, 10m or 1h30m", brief(text, 40)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_durations_are_readable() {
        assert_eq!(count(14_518), "14,518");
        assert_eq!(counted(1, "job"), "1 job");
        assert_eq!(counted(2, "query"), "2 queries");
        assert_eq!(counted(2, "day"), "2 days");
        assert_eq!((bytes(512), bytes(1_500_000)), ("512 B".to_owned(), "1.4 MiB".to_owned()));
        assert_eq!(duration(Duration::from_secs(552)), "9 m 12 s");
        assert_eq!(duration(Duration::from_millis(250)), "250 ms");
        assert_eq!(written_duration(Duration::from_secs(552)), "9m12s");
        assert_eq!(read_duration("9m12s"), Ok(Duration::from_secs(552)));
        assert_eq!(read_duration("2d"), Ok(Duration::from_hours(48)));
        assert!(read_duration("soon").is_err());
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(printable("a\u{202e}b\r"), "a\\u{202e}b\\u{d}");
        assert_eq!(brief("one\ntwo", 5), "one t…");
        assert_eq!(shell("it's"), "'it'\\''s'");
    }
}
