//! Durations such as `"30s"` and `"1h30m"`.

use std::time::Duration;

use proc_macro2::{Literal as Number, TokenStream};
use quote::{ToTokens, quote};
use syn::Lit;

use super::{Checked, Literal, Value};

/// Zero is accepted here; options that need a positive duration check for it.
impl Literal for Duration {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        match lit {
            Lit::Str(lit) => Some(parse(&lit.value())),
            _ => None,
        }
    }
}

/// Generates `__ratchet::Duration::from_secs(30)`.
pub(crate) fn duration_tokens(value: &Value<Duration>) -> TokenStream {
    let Value::Literal(duration, _) = value else { return value.to_token_stream() };
    if duration.subsec_millis() == 0 {
        let seconds = Number::u64_unsuffixed(duration.as_secs());
        return quote!(__ratchet::Duration::from_secs(#seconds));
    }
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let millis = Number::u64_unsuffixed(millis);
    quote!(__ratchet::Duration::from_millis(#millis))
}

/// The longest accepted duration. It is far below any overflow.
const LONGEST: Duration = Duration::from_hours(100 * 366 * 24);

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60 * 1000), ("h", 3600 * 1000), ("d", 24 * 3600 * 1000)];

/// Parses a sequence of numbers with units, largest unit first: `1h30m`.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut smallest = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = rest.split_at(digits);
        let letters = tail.len() - tail.trim_start_matches(|c: char| c.is_alphabetic()).len();
        let (unit, tail) = tail.split_at(letters);
        if number.is_empty() {
            return Err(malformed(text));
        }
        if unit.is_empty() {
            return Err(if tail.is_empty() {
                format!("duration `{text}` has no unit; did you mean \"{text}s\"?")
            } else {
                malformed(text)
            });
        }
        let Some((_, millis)) = UNITS.iter().find(|(known, _)| *known == unit) else {
            return Err(format!(
                "unknown unit `{unit}` in duration `{text}`; use `ms`, `s`, `m`, `h` or `d`"
            ));
        };
        if *millis >= smallest {
            return Err(format!("duration `{text}` must go from larger to smaller units, `1h30m`"));
        }
        smallest = *millis;
        let part = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(*millis))
            .map(Duration::from_millis)
            .and_then(|part| total.checked_add(part))
            .filter(|total| *total <= LONGEST);
        total = part.ok_or_else(|| format!("duration `{text}` must be at most 100 years"))?;
        rest = tail;
    }
    if text.is_empty() {
        return Err("a duration must not be empty; write \"30s\"".to_owned());
    }
    Ok(total)
}

fn malformed(text: &str) -> String {
    format!("cannot read duration `{text}`; write \"500ms\", \"30s\", \"5m\" or \"1h30m\"")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse;

    #[test]
    fn durations_are_sums_of_parts() {
        let seconds = |n| Ok(Duration::from_secs(n));
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("30s"), seconds(30));
        assert_eq!(parse("1h30m"), seconds(5400));
        assert_eq!(parse("2d"), seconds(172_800));
        assert_eq!(parse("1m500ms"), Ok(Duration::from_millis(60_500)));
        assert_eq!(parse("0s"), seconds(0));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(parse("30").unwrap_err().contains("did you mean \"30s\"?"));
        assert!(parse("3w").unwrap_err().contains("unknown unit `w`"));
        assert!(parse("30m1h").unwrap_err().contains("larger to smaller"));
        assert!(parse("1.5h").unwrap_err().contains("cannot read"));
        assert!(parse("s").unwrap_err().contains("cannot read"));
        assert!(parse("-5s").unwrap_err().contains("cannot read"));
        assert!(parse("").unwrap_err().contains("empty"));
        assert!(parse("99999999999999999999d").unwrap_err().contains("100 years"));
    }
}
