//! Numbers, times and untrusted text for people.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use unicode_width::UnicodeWidthChar;

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
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
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

/// Returns a duration with its two greatest units: `9m12s`, `3d4h`, `250ms`.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        let milliseconds = duration.as_millis();
        return if milliseconds == 0 && !duration.is_zero() {
            "<1ms".to_owned()
        } else {
            format!("{milliseconds}ms")
        };
    }
    if seconds < 10 {
        let text = format!("{:.1}s", duration.as_secs_f64());
        return text.replace(".0s", "s");
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
        let _ = write!(text, "{value}{unit}");
    }
    text
}

/// Returns a line of bars of different height, at most `width` characters: neighboring values are added up.
pub(crate) fn sparkline(values: &[u64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let per_bar = values.len().div_ceil(width.max(1)).max(1);
    let sums: Vec<u64> = values
        .chunks(per_bar)
        .map(|part| part.iter().fold(0_u64, |a, b| a.saturating_add(*b)))
        .collect();
    let most = sums.iter().copied().max().unwrap_or(0);
    let bar = |sum: &u64| {
        if *sum == 0 {
            return ' ';
        }
        let height = u128::from(*sum) * (BARS.len() as u128 - 1) / u128::from(most.max(1));
        BARS[usize::try_from(height).unwrap_or(0)]
    };
    sums.iter().map(bar).collect()
}

/// Returns a time relative to now: `9m12s ago`, `in 30s`, `now`.
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

/// Escapes everything that could change what a terminal shows: control characters, and characters that change the
/// direction of text.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        let direction = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || direction {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Like [`printable`], but keeps line breaks and tabs.
pub(crate) fn printable_lines(text: &str) -> String {
    text.lines()
        .map(|line| line.split('\t').map(printable).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Cuts the text to a width on the screen.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width {
            let kept: String = text[..at].chars().collect();
            let kept = kept.strip_suffix(|_| true).unwrap_or_default();
            return format!("{kept}…");
        }
    }
    text.to_owned()
}

/// Returns a cell that a spreadsheet does not take for a formula.
pub(crate) fn harmless_cell(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_values() {
        assert_eq!(sparkline(&[0, 1, 4, 7, 8], 10), " ▁▄▇█");
        assert_eq!(sparkline(&[1, 1, 4, 4], 2), "▂█");
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(sparkline(&[u64::MAX, u64::MAX, 0], 2), "█ ");
    }

    #[test]
    fn sizes_have_one_decimal() {
        for (size, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (3 << 30, "3.0 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn numbers_have_separators() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (14_518, "14,518"), (1_000_000, "1,000,000")]
        {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn durations_have_two_units() {
        for (milliseconds, text) in [
            (0, "0ms"),
            (250, "250ms"),
            (1400, "1.4s"),
            (9_000, "9s"),
            (61_000, "1m1s"),
            (552_000, "9m12s"),
            (3_600_000, "1h"),
            (273_600_000, "3d4h"),
        ] {
            assert_eq!(duration(Duration::from_millis(milliseconds)), text);
        }
        assert_eq!(duration(Duration::from_micros(3)), "<1ms");
    }

    #[test]
    fn times_are_relative() {
        let now: Timestamp = "2026-11-17T12:00:00Z".parse().expect("an instant");
        for (at, text) in [
            ("2026-11-17T11:50:48Z", "9m12s ago"),
            ("2026-11-17T12:00:30Z", "in 30s"),
            ("2026-11-17T12:00:00Z", "now"),
        ] {
            assert_eq!(relative(at.parse().expect("an instant"), now), text);
        }
    }

    #[test]
    fn o_12_a_terminal_gets_no_control_characters() {
        assert_eq!(printable("\u{1b}[31mred\u{7}\n"), "\\u{1b}[31mred\\u{7}\\u{a}");
        assert_eq!(printable("abc\u{202e}def"), "abc\\u{202e}def");
        assert_eq!(printable_lines("a\tb\n\u{1b}c"), "a\tb\n\\u{1b}c");
    }

    #[test]
    fn o_12_a_spreadsheet_gets_no_formulas() {
        assert_eq!(harmless_cell("=1+1".to_owned()), "'=1+1");
        assert_eq!(harmless_cell("mail".to_owned()), "mail");
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(shortened("connect timeout", 8), "connect…");
        assert_eq!(shortened("short", 8), "short");
        assert_eq!(shortened("写真写真", 5), "写…");
    }
}
