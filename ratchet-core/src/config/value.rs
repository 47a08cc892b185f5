//! The text form of settings: how the environment writes them and how they are displayed.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::time::Duration;

use super::{ArchiveFor, PurgeWindow, RunMode};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{Backoff, BackoffKind, Jitter, Priority};

/// A value that can be read from an environment variable.
pub(super) trait SettingValue: Sized {
    /// What the text must be, after "must be".
    const EXPECTS: &'static str;

    /// Reads the value. `None` if the text is not as expected.
    fn read(text: &str) -> Option<Self>;

    /// Writes the value so that [`Self::read`] would accept it.
    fn show(&self) -> String;
}

macro_rules! number {
    ($($number:ty),*) => {$(
        impl SettingValue for $number {
            const EXPECTS: &'static str = "a whole number, such as `8`";

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

number!(u32, u64, usize);

impl SettingValue for bool {
    const EXPECTS: &'static str = "`true` or `false`";

    fn read(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for String {
    const EXPECTS: &'static str = "a text that is not empty";

    fn read(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

const UNITS: [(&str, u64); 5] =
    [("d", 24 * 3600 * 1000), ("h", 3600 * 1000), ("m", 60 * 1000), ("s", 1000), ("ms", 1)];

impl SettingValue for Duration {
    const EXPECTS: &'static str = "a duration, such as `500ms`, `30s` or `1h30m`";

    fn read(text: &str) -> Option<Self> {
        let (mut rest, mut total, mut largest) = (text, 0_u64, u64::MAX);
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, tail) = rest.split_at(digits);
            let letters =
                tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
            let (unit, tail) = tail.split_at(letters);
            let (_, millis) = UNITS.iter().find(|(known, _)| *known == unit)?;
            if *millis >= largest {
                return None;
            }
            largest = *millis;
            total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(*millis)?)?;
            rest = tail;
        }
        (!text.is_empty()).then(|| Self::from_millis(total))
    }

    fn show(&self) -> String {
        let mut millis = self.as_millis();
        if millis == 0 {
            return if self.is_zero() { "0s".to_owned() } else { format!("{self:?}") };
        }
        let mut shown = String::new();
        for (unit, size) in UNITS {
            let size = u128::from(size);
            if millis >= size {
                let _ = write!(shown, "{}{unit}", millis / size);
                millis %= size;
            }
        }
        shown
    }
}

/// Implements an optional value, for which one word means `None`.
macro_rules! optional {
    ($value:ty, $word:literal, $expects:literal) => {
        impl SettingValue for Option<$value> {
            const EXPECTS: &'static str = $expects;

            fn read(text: &str) -> Option<Self> {
                if text == $word { Some(None) } else { <$value>::read(text).map(Some) }
            }

            fn show(&self) -> String {
                self.as_ref().map_or_else(|| $word.to_owned(), SettingValue::show)
            }
        }
    };
}

optional!(Duration, "forever", "a duration, such as `7d` or `1h30m`, or `forever`");
optional!(u32, "none", "a whole number, such as `8`, or `none`");
optional!(u64, "none", "a whole number, such as `8`, or `none`");

/// The shortest and the longest of an interval.
impl SettingValue for (Duration, Duration) {
    const EXPECTS: &'static str = "two durations, such as `250ms..5s`";

    fn read(text: &str) -> Option<Self> {
        let (shortest, longest) = text.split_once("..")?;
        Some((Duration::read(shortest.trim())?, Duration::read(longest.trim())?))
    }

    fn show(&self) -> String {
        format!("{}..{}", self.0.show(), self.1.show())
    }
}

impl SettingValue for ArchiveFor {
    const EXPECTS: &'static str = "`off`, `forever`, or a duration, such as `365d`";

    fn read(text: &str) -> Option<Self> {
        match text {
            "off" => Some(Self::Off),
            "forever" => Some(Self::Forever),
            text => Duration::read(text).map(Self::Time),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::Forever => "forever".to_owned(),
            Self::Time(time) => time.show(),
        }
    }
}

impl fmt::Display for ArchiveFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}

impl SettingValue for Option<PurgeWindow> {
    const EXPECTS: &'static str = "`always`, or a cron expression, a duration and a time zone, such as `0 2 * * *; 4h; Europe/Vienna`";

    fn read(text: &str) -> Option<Self> {
        if text == "always" {
            return Some(None);
        }
        let mut parts = text.split(';').map(str::trim);
        let (opens, duration) = (parts.next()?, Duration::read(parts.next()?)?);
        let zone = parts.next().unwrap_or("UTC");
        if parts.next().is_some() {
            return None;
        }
        PurgeWindow::new(opens, duration, zone).ok().map(Some)
    }

    fn show(&self) -> String {
        match self {
            Some(window) => {
                format!("{}; {}; {}", window.opens, window.duration.show(), window.zone)
            }
            None => "always".to_owned(),
        }
    }
}

/// Names of queues.
impl SettingValue for BTreeSet<String> {
    const EXPECTS: &'static str = "names of queues, separated by commas";

    fn read(text: &str) -> Option<Self> {
        let names = text.split(',').map(str::trim);
        let valid = |name: &str| limits::check(Field::Queue, name).is_ok();
        names.map(|name| valid(name).then(|| name.to_owned())).collect()
    }

    fn show(&self) -> String {
        let names: Vec<_> = self.iter().map(String::as_str).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(",") }
    }
}

const PRIORITIES: [&str; 5] = ["lowest", "low", "normal", "high", "critical"];

impl SettingValue for Priority {
    const EXPECTS: &'static str = "`lowest`, `low`, `normal`, `high` or `critical`";

    fn read(text: &str) -> Option<Self> {
        let level = PRIORITIES.iter().position(|name| *name == text)?;
        Self::from_level(u8::try_from(level).ok()?)
    }

    fn show(&self) -> String {
        PRIORITIES[usize::from(self.level())].to_owned()
    }
}

impl SettingValue for RunMode {
    const EXPECTS: &'static str = "`until_stopped`, `drain` or `once`";

    fn read(text: &str) -> Option<Self> {
        match text {
            "until_stopped" => Some(Self::UntilStopped),
            "drain" => Some(Self::Drain),
            "once" => Some(Self::Once),
            _ => None,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::UntilStopped => "until_stopped",
            Self::Drain => "drain",
            Self::Once => "once",
        }
        .to_owned()
    }
}

impl SettingValue for Backoff {
    const EXPECTS: &'static str =
        "`none`, `fixed(30s)`, `linear(1s, max=1m)` or `exponential(1s, max=30s, factor=2)`";

    fn read(text: &str) -> Option<Self> {
        if text == "none" {
            return Some(Self::none());
        }
        let (kind, rest) = text.split_once('(')?;
        let mut parts = rest.strip_suffix(')')?.split(',').map(str::trim);
        let base = Duration::read(parts.next()?)?;
        let (mut max, mut factor) = (None, None);
        for part in parts {
            let (name, value) = part.split_once('=')?;
            match (name.trim(), value.trim()) {
                ("max", value) if max.is_none() => max = Some(Duration::read(value)?),
                ("factor", value) if factor.is_none() => factor = Some(value.parse::<f64>().ok()?),
                _ => return None,
            }
        }
        // The constructors panic on these.
        let valid_factor = factor.is_none_or(|factor| (1.0..=1000.0).contains(&factor));
        if !valid_factor || max.is_some_and(|max| max < base) {
            return None;
        }
        let longest = max.unwrap_or(Self::default_max(base));
        match (kind.trim(), max, factor) {
            ("fixed", None, None) => Some(Self::fixed(base)),
            ("linear", _, None) => Some(Self::linear(base, longest)),
            ("exponential", _, None) => Some(Self::exponential(base, longest)),
            ("exponential", _, Some(factor)) => {
                Some(Self::exponential(base, longest).factor(factor))
            }
            _ => None,
        }
    }

    fn show(&self) -> String {
        let curve = match self.kind {
            BackoffKind::None => "none".to_owned(),
            BackoffKind::Fixed { delay } => format!("fixed({})", delay.show()),
            BackoffKind::Linear { base, max } => {
                format!("linear({}, max={})", base.show(), max.show())
            }
            BackoffKind::Exponential { base, factor, max } => {
                format!("exponential({}, max={}, factor={factor})", base.show(), max.show())
            }
        };
        match (self.jitter, self.kind) {
            (Jitter::None, BackoffKind::None | BackoffKind::Fixed { .. })
            | (Jitter::Equal, BackoffKind::Linear { .. } | BackoffKind::Exponential { .. }) => {
                curve
            }
            (jitter, _) => format!("{curve} with {jitter:?} jitter"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: SettingValue + PartialEq + fmt::Debug>(texts: &[&str]) {
        for text in texts {
            let value = T::read(text).unwrap_or_else(|| panic!("`{text}` must be {}", T::EXPECTS));
            assert_eq!(value.show(), *text);
        }
    }

    fn refused<T: SettingValue>(texts: &[&str]) {
        for text in texts {
            assert!(T::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn s_12_every_value_is_read_as_it_is_shown() {
        round::<u32>(&["0", "8", "4294967295"]);
        round::<Duration>(&["0s", "500ms", "30s", "1h30m", "7d", "1d2h3m4s5ms"]);
        round::<Option<Duration>>(&["forever", "90d"]);
        round::<Option<u32>>(&["none", "3"]);
        round::<(Duration, Duration)>(&["250ms..5s"]);
        round::<bool>(&["true", "false"]);
        round::<BTreeSet<String>>(&["mail", "mail,reports"]);
        round::<Priority>(&PRIORITIES);
        round::<ArchiveFor>(&["off", "forever", "365d"]);
        round::<Option<PurgeWindow>>(&["always", "0 2 * * *; 4h; Europe/Vienna"]);
        round::<RunMode>(&["until_stopped", "drain", "once"]);
        round::<Backoff>(&[
            "none",
            "fixed(30s)",
            "linear(1s, max=1m)",
            "exponential(1s, max=30s, factor=2)",
            "exponential(1s, max=1h, factor=1.5)",
        ]);
        assert_eq!(Backoff::read("exponential(1s)"), Some(Backoff::DEFAULT));
    }

    #[test]
    fn s_12_other_texts_are_refused() {
        refused::<u32>(&["", "-1", "eight", "4294967296", "1.5"]);
        refused::<Duration>(&[
            "",
            "30",
            "s",
            "30x",
            "1m1h",
            "1s1s",
            "-1s",
            "99999999999999999999s",
            "18446744073709551615d",
        ]);
        refused::<(Duration, Duration)>(&["", "5s", "5s..", "..5s"]);
        refused::<ArchiveFor>(&["", "on"]);
        refused::<Option<PurgeWindow>>(&[
            "",
            "0 2 * * *",
            "nightly; 4h",
            "0 2 * * *; 4h; Mars",
            "0 2 * * *; 4h; UTC; x",
        ]);
        refused::<bool>(&["", "maybe"]);
        refused::<BTreeSet<String>>(&["", "a,,b", "a b", ","]);
        refused::<Priority>(&["", "High", "5"]);
        refused::<Backoff>(&[
            "",
            "fixed",
            "fixed()",
            "fixed(1s, max=2s)",
            "linear(2s, max=1s)",
            "linear(1s, factor=2)",
            "exponential(1s, factor=0.5)",
            "exponential(1s, factor=NaN)",
            "exponential(1s, max=2s, max=3s)",
            "cubic(1s)",
        ]);
    }
}
