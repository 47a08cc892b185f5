//! The text form of a [`Filter`], as operators write it: `queue:mail state:failed,paused queued>2h`.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::conditions::{Condition, FilterError, conditions, join, quoted, split};
use super::{ArgumentTest, Filter};
use crate::model::limits::brief;
use crate::model::{ArchivedJobs, GroupId, JobId, JobState, NodeId, TerminalReason};

/// Every condition that a filter may have, with an example of each.
pub const CONDITIONS: [(&str, &str); 26] = [
    ("state", "state:failed,paused"),
    ("id", "id:01a1e59f-1126-7000-aa3b-d90d531ee120"),
    ("queue", "queue:mail,import"),
    ("name", "name:shop.send_email"),
    ("tag", "tag:import"),
    ("tenant", "tenant:acme"),
    ("key", "key:order-42"),
    ("correlation", "correlation:req-7"),
    ("reason", "reason:retry_exhausted"),
    ("fingerprint", "fingerprint:7c1e09ab51fd7a90"),
    ("group", "group:01a1e59f-1126-7000-aa3b-d90d531ee121"),
    ("queued>", "queued>2h"),
    ("queued<", "queued<2026-11-01"),
    ("expires<", "expires<1h"),
    ("due>", "due>1h"),
    ("due<", "due<2026-11-01"),
    ("finished>", "finished>2h"),
    ("finished<", "finished<2026-11-01"),
    ("attempts>", "attempts>3"),
    ("attempts<", "attempts<10"),
    ("node", "node:01a1e59f-1126-7000-aa3b-d90d531ee122"),
    ("error", "error:ConnectError"),
    ("message", "message:\"connection refused\""),
    ("args", "args.order.id=42"),
    ("archived", "archived:only"),
    ("order", "order:oldest"),
];

impl Filter {
    /// Reads a filter from its text form: conditions of the form `field:value`, separated by spaces. A job must match
    /// all of them. An empty text selects every job.
    ///
    /// A value with spaces is quoted: `key:"order 42"`. In quotes, `\"` is a quotation mark and `\\` a backslash. Times
    /// are instants (`2026-11-01T12:00:00Z`), dates (the beginning of the day in UTC), or durations before `now`
    /// (`2h`, `1h 30m` in quotes): `queued>2h` selects jobs submitted within the last two hours. For `due` and `expires`,
    /// they are durations after `now`: `expires<1h` selects jobs that expire within the next hour.
    ///
    /// Conditions on state, id, queue and name take several values, separated by commas: `queue:mail,import`. A backslash
    /// precedes a comma that is part of a name.
    ///
    /// `error` is the type of the last error, and `message` a part of its message. `args.order.id=42` tests an argument
    /// ([`ArgumentTest`]); a backslash precedes a dot, a space or an operator in the name of an argument.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_store::model; }
    /// use ratchet::model::{Filter, JobState};
    ///
    /// let now = "2026-11-17T12:00:00Z".parse()?;
    /// let filter = Filter::parse("queue:mail state:failed queued>2h", now)?;
    /// assert_eq!(filter.states, [JobState::Failed]);
    /// assert_eq!(filter.to_string(), "state:failed queue:mail queued>2026-11-17T10:00:00Z");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that names the condition, its position, and what to write instead. A condition that is given
    /// twice is refused.
    pub fn parse(text: &str, now: Timestamp) -> Result<Self, FilterError> {
        let mut filter = Self::any();
        for condition in conditions(text)? {
            filter.read(&condition, now).map_err(|problem| condition.error(problem))?;
        }
        Ok(filter)
    }

    fn read(&mut self, condition: &Condition, now: Timestamp) -> Result<(), String> {
        let Condition { field, value, .. } = condition;
        let text = |slot: &mut Option<String>| set(slot, value.clone());
        match field.as_str() {
            "state" => set_list(&mut self.states, "state:failed,paused", split(value, state)?),
            "id" => set_list(&mut self.ids, "id:ID,ID", split(value, job)?),
            "queue" => set_list(&mut self.queues, "queue:mail,import", split(value, listed)?),
            "name" => set_list(&mut self.names, "name:NAME,NAME", split(value, listed)?),
            "tag" => text(&mut self.tag),
            "tenant" => text(&mut self.tenant),
            "key" => text(&mut self.business_key),
            "correlation" => text(&mut self.correlation_id),
            "fingerprint" => text(&mut self.fingerprint),
            "reason" => set(&mut self.reason, reason(value)?),
            "group" => set(&mut self.group, group(value)?),
            "queued>" => set(&mut self.queued_after, instant(value, |ago| now.checked_sub(ago))?),
            "queued<" => set(&mut self.queued_before, instant(value, |ago| now.checked_sub(ago))?),
            "expires<" => {
                set(&mut self.expires_by, instant(value, |ahead| now.checked_add(ahead))?)
            }
            "due>" => set(&mut self.due_after, instant(value, |ahead| now.checked_add(ahead))?),
            "due<" => set(&mut self.due_before, instant(value, |ahead| now.checked_add(ahead))?),
            "finished>" => {
                set(&mut self.finished_after, instant(value, |ago| now.checked_sub(ago))?)
            }
            "finished<" => {
                set(&mut self.finished_before, instant(value, |ago| now.checked_sub(ago))?)
            }
            "attempts>" => set(&mut self.attempts_above, attempts(value)?),
            "attempts<" => set(&mut self.attempts_below, attempts(value)?),
            "node" => set(&mut self.node, node(value)?),
            "error" => text(&mut self.error_type),
            "message" => text(&mut self.error_text),
            "archived" => {
                self.archived = archived(value)?;
                Ok(())
            }
            "order" => {
                self.oldest_first = match value.as_str() {
                    "oldest" => true,
                    "newest" => false,
                    _ => return Err("must be `order:oldest` or `order:newest`".to_owned()),
                };
                Ok(())
            }
            field => match field.strip_prefix("args.").filter(|_| !condition.compares) {
                Some(path) => {
                    let path = path.strip_suffix('=').unwrap_or(path);
                    self.arguments.push(ArgumentTest::new(ArgumentTest::path(path)?, value));
                    Ok(())
                }
                None => Err(unknown_field(field)),
            },
        }
    }
}

/// Displays the text form, which [`Filter::parse`] reads.
impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.states.is_empty() {
            let states: Vec<_> =
                self.states.iter().map(|state| state.name().to_lowercase()).collect();
            parts.push(format!("state:{}", states.join(",")));
        }
        if !self.ids.is_empty() {
            let ids: Vec<_> = self.ids.iter().map(ToString::to_string).collect();
            parts.push(format!("id:{}", ids.join(",")));
        }
        for (field, values) in [("queue", &self.queues), ("name", &self.names)] {
            if !values.is_empty() {
                parts.push(format!("{field}:{}", quoted(&join(values))));
            }
        }
        let texts = [
            ("tag", &self.tag),
            ("tenant", &self.tenant),
            ("key", &self.business_key),
            ("correlation", &self.correlation_id),
            ("fingerprint", &self.fingerprint),
            ("error", &self.error_type),
            ("message", &self.error_text),
        ];
        for (field, value) in texts {
            parts.extend(value.as_ref().map(|value| format!("{field}:{}", quoted(value))));
        }
        parts.extend(self.reason.map(|reason| format!("reason:{}", reason.name())));
        parts.extend(self.group.map(|group| format!("group:{group}")));
        parts.extend(self.queued_after.map(|at| format!("queued>{at}")));
        parts.extend(self.queued_before.map(|at| format!("queued<{at}")));
        parts.extend(self.expires_by.map(|at| format!("expires<{at}")));
        parts.extend(self.due_after.map(|at| format!("due>{at}")));
        parts.extend(self.due_before.map(|at| format!("due<{at}")));
        parts.extend(self.finished_after.map(|at| format!("finished>{at}")));
        parts.extend(self.finished_before.map(|at| format!("finished<{at}")));
        parts.extend(self.attempts_above.map(|attempts| format!("attempts>{attempts}")));
        parts.extend(self.attempts_below.map(|attempts| format!("attempts<{attempts}")));
        parts.extend(self.node.map(|node| format!("node:{node}")));
        parts.extend(self.arguments.iter().map(ToString::to_string));
        if self.archived != ArchivedJobs::default() {
            parts.push(format!("archived:{}", self.archived.name()));
        }
        if self.oldest_first {
            parts.push("order:oldest".to_owned());
        }
        f.write_str(&parts.join(" "))
    }
}

fn set<T>(slot: &mut Option<T>, value: T) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice("remove one of the two")),
    }
}

fn set_list<T>(slot: &mut Vec<T>, several: &str, values: Vec<T>) -> Result<(), String> {
    if !slot.is_empty() {
        return Err(twice(&format!("list several as `{several}`")));
    }
    *slot = values;
    Ok(())
}

fn twice(remedy: &str) -> String {
    format!("the condition is given twice; {remedy}")
}

fn state(text: &str) -> Result<JobState, String> {
    let found = JobState::ALL.into_iter().find(|state| state.name().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let names = JobState::ALL.map(|state| state.name().to_lowercase());
        format!("there is no state `{}`; the states are {}", brief(text), names.join(", "))
    })
}

fn reason(text: &str) -> Result<TerminalReason, String> {
    let found = TerminalReason::ALL.into_iter().find(|reason| reason.name() == text);
    found.ok_or_else(|| {
        let names = TerminalReason::ALL.map(TerminalReason::name);
        format!("there is no reason `{}`; the reasons are {}", brief(text), names.join(", "))
    })
}

fn job(text: &str) -> Result<JobId, String> {
    text.parse().map_err(|_| format!("`{}` is not the id of a job", brief(text)))
}

fn listed(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("a value is missing in the list".to_owned());
    }
    Ok(text.to_owned())
}

fn group(text: &str) -> Result<GroupId, String> {
    text.parse().map_err(|_| format!("`{}` is not the id of a group", brief(text)))
}

fn node(text: &str) -> Result<NodeId, String> {
    text.parse().map_err(|_| format!("`{}` is not the id of a node", brief(text)))
}

fn archived(text: &str) -> Result<ArchivedJobs, String> {
    let found = ArchivedJobs::ALL.into_iter().find(|value| value.name() == text);
    found.ok_or_else(|| "must be `archived:true`, `archived:only` or `archived:false`".to_owned())
}

fn attempts(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{}` is not a number of attempts", brief(text)))
}

/// Reads an instant, a date, or a duration, which `relative` adds to or subtracts from the present.
fn instant(
    text: &str,
    relative: impl FnOnce(SignedDuration) -> Result<Timestamp, jiff::Error>,
) -> Result<Timestamp, String> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant);
    }
    if let Ok(date) = text.parse::<Date>() {
        let start = date.to_zoned(TimeZone::UTC).map_err(|error| error.to_string())?;
        return Ok(start.timestamp());
    }
    let duration = text.parse::<SignedDuration>().or_else(|_| days(text)).map_err(|()| {
        format!(
            "`{}` is not a time; write an instant (2026-11-01T12:00:00Z), a date (2026-11-01), or a duration (2h)",
            brief(text)
        )
    })?;
    relative(duration).map_err(|_| format!("`{}` is too far from now", brief(text)))
}

/// Reads a number of days, such as `14d`, which [`SignedDuration`] does not accept.
fn days(text: &str) -> Result<SignedDuration, ()> {
    let days = text.strip_suffix('d').ok_or(())?.parse::<i64>().map_err(|_| ())?;
    SignedDuration::try_from_hours(days.checked_mul(24).ok_or(())?).ok_or(())
}

fn unknown_field(field: &str) -> String {
    let bare = field.trim_end_matches(['>', '<', '=']);
    let bare = if bare.starts_with("args.") { "args" } else { bare };
    let names = CONDITIONS.map(|(name, _)| name);
    let other_operator = names.iter().find(|name| name.trim_end_matches(['>', '<']) == bare);
    if let Some(name) = other_operator {
        let example =
            CONDITIONS.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text);
        return format!("`{bare}` is written as `{example}`");
    }
    format!("there is no condition `{}`; the conditions are {}", brief(field), names.join(", "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-17T12:00:00Z".parse().expect("an instant")
    }

    fn problem(text: &str) -> String {
        Filter::parse(text, now()).expect_err(text).to_string()
    }

    #[test]
    fn every_example_is_read() {
        for (name, example) in CONDITIONS {
            let filter = Filter::parse(example, now()).expect(name);
            assert_ne!(filter, Filter::any(), "{example}");
        }
        assert_eq!(Filter::parse("  ", now()), Ok(Filter::any()));
    }

    #[test]
    fn o_03_times_are_instants_dates_or_how_long_ago() {
        for (text, instant) in [
            ("queued<2026-11-01", "2026-11-01T00:00:00Z"),
            ("queued<2026-11-01T09:30:00+01:00", "2026-11-01T08:30:00Z"),
            ("queued<90m", "2026-11-17T10:30:00Z"),
            ("queued<\"1h 30m\"", "2026-11-17T10:30:00Z"),
            ("queued<14d", "2026-11-03T12:00:00Z"),
        ] {
            let filter = Filter::parse(text, now()).expect(text);
            assert_eq!(filter.queued_before, Some(instant.parse().expect("an instant")), "{text}");
        }
    }

    #[test]
    fn o_03_jobs_that_expire_soon_are_selected() {
        let filter = Filter::parse("expires<1h", now()).expect("reads");
        assert_eq!(filter.to_string(), "expires<2026-11-17T13:00:00Z");
        assert_eq!(Filter::parse(&filter.to_string(), now()), Ok(filter));
    }

    #[test]
    fn o_03_arguments_are_tested_by_their_path() {
        let filter =
            Filter::parse("args.order.id=42 args.to:\"a b\" args.a\\.b.0=x", now()).expect("reads");
        let tests = [
            ArgumentTest::new(["order", "id"], "42"),
            ArgumentTest::new(["to"], "a b"),
            ArgumentTest::new(["a.b", "0"], "x"),
        ];
        assert_eq!(filter.arguments, tests);
        assert_eq!(Filter::parse(&filter.to_string(), now()), Ok(filter));
    }

    #[test]
    fn o_03_mistakes_name_the_condition_and_what_to_write() {
        assert_eq!(
            problem("queue:mail state:faild"),
            "cannot read `state:faild` at character 12 of the filter: there is no state `faild`; the states are \
             pending, running, succeeded, failed, paused, canceled"
        );
        for (text, part) in [
            ("mail", "a condition has the form `field:value`"),
            ("queue:", "the value is missing"),
            ("queue:a queue:b", "list several as `queue:mail,import`"),
            ("tag:a tag:b", "the condition is given twice; remove one of the two"),
            ("name:a,,b", "a value is missing in the list"),
            ("id:7", "`7` is not the id of a job"),
            ("state:failed state:paused", "list several as `state:failed,paused`"),
            ("key:\"order 42", "the closing quotation mark is missing"),
            ("sate:failed", "there is no condition `sate`"),
            ("queued:2h", "`queued` is written as `queued>2h`"),
            ("queue>mail", "`queue` is written as `queue:mail,import`"),
            ("queued>soon", "is not a time"),
            ("queued>99999999999d", "is too far from now"),
            ("reason:bad", "there is no reason `bad`"),
            ("group:7", "is not the id of a group"),
            ("order:up", "must be `order:oldest`"),
            ("archived:yes", "must be `archived:true`, `archived:only`"),
            ("queue=mail", "`queue` is written as `queue:mail,import`"),
            ("attempts:3", "`attempts` is written as `attempts>3`"),
            ("attempts>many", "is not a number of attempts"),
            ("node:7", "is not the id of a node"),
            ("args.order.id>4", "`args` is written as `args.order.id=42`"),
            ("args..id=4", "a name is missing in the path"),
            ("args=4", "`args` is written as `args.order.id=42`"),
            ("finished>soon", "is not a time"),
        ] {
            assert!(problem(text).contains(part), "{text}: {}", problem(text));
        }
    }

    proptest! {
        #[test]
        fn o_03_what_is_displayed_is_read_back(
            queues in proptest::collection::vec("\\PC{1,12}", 0..3),
            ids in proptest::collection::vec(any::<u128>(), 0..3),
            key in proptest::option::of(any::<String>().prop_filter("not empty", |key| !key.is_empty())),
            states in proptest::sample::subsequence(JobState::ALL.to_vec(), 0..=6),
            reason in proptest::option::of(proptest::sample::select(TerminalReason::ALL.to_vec())),
            seconds in proptest::option::of(0_i64..4_000_000_000),
            (attempts, message) in (any::<Option<u32>>(), proptest::option::of(any::<String>())),
            arguments in proptest::collection::vec(
                (proptest::collection::vec("\\PC{1,6}", 1..3), any::<String>()), 0..3,
            ),
            oldest_first: bool,
            archived in proptest::sample::select(ArchivedJobs::ALL.to_vec()),
        ) {
            let arguments: Vec<_> = arguments
                .into_iter()
                .map(|(path, value)| ArgumentTest::new(path, value))
                .collect();
            let at = seconds.map(|at| Timestamp::from_second(at).expect("in range"));
            let ids = ids.into_iter().map(|id| JobId::from_uuid(uuid::Uuid::from_u128(id))).collect();
            let filter = Filter {
                queues, ids, business_key: key, states, reason, queued_before: at, oldest_first, arguments, archived,
                attempts_above: attempts, finished_after: at, due_before: at, error_text: message, ..Filter::any()
            };
            prop_assert_eq!(Filter::parse(&filter.to_string(), now()), Ok(filter));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String) {
            let _ = Filter::parse(&text, now());
        }
    }
}
