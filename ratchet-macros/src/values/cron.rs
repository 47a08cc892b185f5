//! Checks `cron = "0 3 * * *"` field by field, so that the error names the invalid field.
//!
//! The check is at least as strict as the scheduler's parser, so an accepted expression always runs (tested below).

use syn::Lit;

use super::{Checked, Literal};

/// A cron expression.
#[derive(Clone)]
pub(crate) struct Cron;

impl Literal for Cron {
    fn read(_: &str, lit: &Lit) -> Checked<Self> {
        match lit {
            Lit::Str(lit) => Some(check(&lit.value()).map(|()| Self)),
            _ => None,
        }
    }
}

struct Field {
    name: &'static str,
    min: u16,
    max: u16,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const NICKNAMES: [&str; 6] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly"];

const FIELDS: [Field; 6] = [
    Field { name: "second", min: 0, max: 59, names: &[] },
    Field { name: "minute", min: 0, max: 59, names: &[] },
    Field { name: "hour", min: 0, max: 23, names: &[] },
    Field { name: "day of month", min: 1, max: 31, names: &[] },
    Field { name: "month", min: 1, max: 12, names: &MONTHS },
    Field { name: "day of week", min: 0, max: 7, names: &DAYS },
];

fn check(expression: &str) -> Result<(), String> {
    if expression.starts_with('@') {
        let name = expression.to_lowercase();
        let meant = match name.as_str() {
            known if NICKNAMES.contains(&known) => return Ok(()),
            "@midnight" => "write `@daily`",
            "@reboot" => "a job cannot run at the start of a worker; enqueue it there",
            _ => "use `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`",
        };
        return Err(format!("unknown schedule `{expression}`; {meant}"));
    }
    let parts: Vec<_> = expression.split_whitespace().collect();
    let fields = match parts.len() {
        5 => &FIELDS[1..],
        6 => &FIELDS[..],
        n => {
            return Err(format!(
                "a cron expression has 5 fields (minute hour day month weekday) or 6 with seconds first; `{expression}` has {n}"
            ));
        }
    };
    parts.iter().zip(fields).try_for_each(|(part, field)| {
        field.check(part).map_err(|message| format!("{message} in `{expression}`"))
    })?;
    match parts[parts.len() - 3..] {
        [day, month, "*" | "?"] => check_days(day, month).map_err(|first| {
            format!("`{expression}` never fires: none of its months has a day {first}")
        }),
        _ => Ok(()),
    }
}

/// Returns the first of the days as an error if none of the months is that long.
fn check_days(day: &str, month: &str) -> Result<(), u16> {
    const LENGTHS: [u16; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let [_, _, _, days, months, _] = &FIELDS;
    // Days relative to the end of the month always exist.
    let Some(first) = days.values(day).and_then(|days| days.into_iter().min()) else {
        return Ok(());
    };
    let months = months.values(month).unwrap_or_else(|| (1..=12).collect());
    let lengths = months.iter().filter_map(|month| LENGTHS.get(usize::from(*month) - 1));
    if lengths.max().is_some_and(|longest| first > *longest) { Err(first) } else { Ok(()) }
}

impl Field {
    fn check(&self, part: &str) -> Result<(), String> {
        if part == "*" || (part == "?" && self.is_day()) {
            return Ok(());
        }
        part.split(',').try_for_each(|item| self.item(item))
    }

    fn item(&self, item: &str) -> Result<(), String> {
        let name = self.name;
        if item.is_empty() {
            return Err(format!("{name} has an empty item"));
        }
        if matches!(item, "*" | "?") {
            return Err(format!("`{item}` in {name} must stand alone"));
        }
        if let Some((range, step)) = item.split_once('/') {
            return self.step(range, step);
        }
        if let Some((from, to)) = item.split_once('-') {
            return self.range(from, to);
        }
        match name {
            "day of month" if matches!(item, "L" | "LW") => Ok(()),
            "day of month" if item.ends_with('W') => {
                self.number(item.trim_end_matches('W')).map(drop)
            }
            "day of week" if item == "L" => Ok(()),
            "day of week" if item.ends_with('L') => {
                self.number(item.trim_end_matches('L')).map(drop)
            }
            "day of week" if item.contains('#') => self.nth(item),
            _ => self.number(item).map(drop),
        }
    }

    /// Returns the numbers that a valid field names, or `None` if it is not a list of numbers and ranges.
    fn values(&self, part: &str) -> Option<Vec<u16>> {
        let mut values = Vec::new();
        for item in part.split(',') {
            let (range, step) = item.split_once('/').unwrap_or((item, "1"));
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (self.number(first).ok()?, self.number(last).ok()?),
                None if range == "*" => (self.min, self.max),
                None => (self.number(range).ok()?, self.number(range).ok()?),
            };
            values.extend((first..=last).step_by(step.parse().ok()?));
        }
        Some(values)
    }

    fn is_day(&self) -> bool {
        self.name.starts_with("day")
    }

    fn step(&self, range: &str, step: &str) -> Result<(), String> {
        let name = self.name;
        match range.split_once('-') {
            Some((from, to)) => self.range(from, to)?,
            None if range == "*" => {}
            None => {
                return Err(format!(
                    "{name} `{range}/{step}` steps from a range; write `*/{step}`"
                ));
            }
        }
        match step.parse::<u16>() {
            Ok(step) if (1..=self.max).contains(&step) => Ok(()),
            _ => Err(format!("step `{step}` of {name} is out of range 1–{}", self.max)),
        }
    }

    fn range(&self, from: &str, to: &str) -> Result<(), String> {
        let (first, last) = (self.number(from)?, self.number(to)?);
        if first <= last {
            Ok(())
        } else {
            Err(format!(
                "{} range `{from}-{to}` runs backwards; write `{}`",
                self.name,
                self.wrapped(from, to)
            ))
        }
    }

    /// Returns a backwards range as a list: `FRI-SAT,SUN` for `FRI-SUN`.
    fn wrapped(&self, from: &str, to: &str) -> String {
        let named = from.starts_with(char::is_alphabetic) && !self.names.is_empty();
        let (first, last) = match self.names {
            [first, .., last] if named => ((*first).to_owned(), (*last).to_owned()),
            // Sunday is both 0 and 7.
            _ if self.is_weekday() => ("0".to_owned(), "6".to_owned()),
            _ => (self.min.to_string(), self.max.to_string()),
        };
        let range = |from: &str, to: &str| match from.eq_ignore_ascii_case(to) {
            true => from.to_owned(),
            false => format!("{from}-{to}"),
        };
        format!("{},{}", range(from, &last), range(&first, to))
    }

    fn is_weekday(&self) -> bool {
        self.name == "day of week"
    }

    fn nth(&self, item: &str) -> Result<(), String> {
        let (day, nth) = item.split_once('#').unwrap_or((item, ""));
        self.number(day)?;
        match nth.parse::<u8>() {
            Ok(1..=5) => Ok(()),
            _ => Err(format!("`{item}` names the n-th weekday of a month, `MON#1` to `MON#5`")),
        }
    }

    /// Converts a number or a name (`MON`, `FEB`) to a number.
    fn number(&self, text: &str) -> Result<u16, String> {
        let Self { name, min, max, names } = self;
        let upper = text.to_uppercase();
        if let Some(index) = names.iter().position(|known| *known == upper) {
            return u16::try_from(index)
                .map(|index| index + min)
                .map_err(|error| error.to_string());
        }
        if text.is_empty() || !text.chars().all(|c| c.is_ascii_digit()) {
            return Err(format!("cannot read {name} `{text}`"));
        }
        match text.parse::<u16>() {
            Ok(number) if (*min..=*max).contains(&number) => Ok(number),
            _ => Err(format!("{name} `{text}` is out of range {min}–{max}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::{FIELDS, check};

    #[test]
    fn the_wrong_field_is_named() {
        // spec: T-01
        let message = |expression| check(expression).unwrap_err();
        assert_eq!(message("61 * * * *"), "minute `61` is out of range 0–59 in `61 * * * *`");
        assert!(message("0 24 * * *").starts_with("hour `24` is out of range 0–23"));
        assert!(message("0 0 0 * *").starts_with("day of month `0` is out of range 1–31"));
        assert!(message("0 0 1 13 *").starts_with("month `13`"));
        assert!(message("0 0 * * 8").starts_with("day of week `8`"));
        assert!(message("0 0 * * MOO").starts_with("cannot read day of week `MOO`"));
        assert!(message("5/10 * * * *").contains("write `*/10`"));
        assert!(message("*/0 * * * *").contains("step `0`"));
        assert!(message("0 17-9 * * *").contains("runs backwards; write `17-23,0-9`"));
        assert!(message("0 3 * * FRI-SUN").contains("write `FRI-SAT,SUN`"));
        assert!(message("0 3 * * 5-1").contains("write `5-6,0-1`"));
        assert!(message("0 3 1 NOV-FEB *").contains("write `NOV-DEC,JAN-FEB`"));
        assert!(message("@midnight").contains("write `@daily`"));
        assert!(message("0 0 * * MON#6").contains("n-th weekday"));
        assert!(message("1,* * * * *").contains("must stand alone"));
        assert!(message("* * * *").contains("has 4"));
        assert!(message("@fortnightly").contains("unknown schedule"));
        assert!(message("").contains("has 0"));
    }

    #[test]
    fn t_01_an_expression_that_never_fires_is_refused() {
        for never in ["0 3 31 2 *", "0 3 30,31 FEB ?", "0 0 3 31 4,6,9,11 *"] {
            let refused = check(never).unwrap_err();
            assert!(refused.contains("never fires"), "{never}: {refused}");
        }
        for sometimes in ["0 3 29 2 *", "0 3 31 2,3 *", "0 3 31 2 MON", "0 3 L 2 *", "0 3 1-31 2 *"]
        {
            assert_eq!(check(sometimes), Ok(()), "{sometimes}");
        }
    }

    #[test]
    fn usual_expressions_pass() {
        for expression in [
            "* * * * *",
            "*/5 * * * *",
            "0 3 * * *",
            "30 4 1,15 * 5",
            "0 9-17 * * MON-FRI",
            "0 0 L * *",
            "0 0 15W * *",
            "0 0 LW * *",
            "0 0 * * FRI#2",
            "0 0 * * 5L",
            "0 0 ? * MON",
            "15 30 4 * * *",
            "@daily",
            "0 0 1 JAN *",
            "0-30/10 * * * *",
        ] {
            assert_eq!(check(expression), Ok(()), "{expression}");
        }
    }

    /// The scheduler's parser must accept every expression that passes here. Otherwise it would fail at startup.
    #[test]
    fn what_passes_here_is_taken_by_the_scheduler() {
        // spec: T-01
        let mut random = fastrand::Rng::with_seed(7);
        let atoms = [
            "*", "?", "0", "1", "7", "12", "31", "59", "L", "W", "LW", "MON", "FEB", "5L", "3W",
            "2#3",
        ];
        let mut passed = 0;
        for _ in 0..40_000 {
            let fields = if random.bool() { 5 } else { FIELDS.len() };
            let expression: Vec<String> = (0..fields)
                .map(|_| {
                    let atom = |random: &mut fastrand::Rng| *random.choice(&atoms).unwrap_or(&"*");
                    match random.u8(..6) {
                        0 => format!("{}-{}", atom(&mut random), atom(&mut random)),
                        1 => format!("{}/{}", atom(&mut random), atom(&mut random)),
                        2 => format!("{},{}", atom(&mut random), atom(&mut random)),
                        3 => atom(&mut random).to_owned(),
                        _ => "*".to_owned(),
                    }
                })
                .collect();
            let expression = expression.join(" ");
            if check(&expression).is_ok() {
                passed += 1;
                assert!(croner::Cron::from_str(&expression).is_ok(), "{expression}");
            }
        }
        assert!(passed > 100, "only {passed} expressions passed: the test proves nothing");
    }
}
