//! Tests of the breaker's state machine: tables, and properties checked against a simple model.

use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn settings() -> BreakerSettings {
    BreakerSettings { window: 10, min_calls: 4, ..BreakerSettings::default() }
}

fn sample(result: CallResult, probe: Option<u64>) -> BreakerSample {
    BreakerSample { service: "pay".to_owned(), result, probe, settings: settings() }
}

fn after(seconds: u64) -> Timestamp {
    later(NOW, Duration::from_secs(seconds))
}

/// Counts a string of call results such as `"+-+"` and returns the last change.
fn count(breaker: &mut Breaker, samples: &str) -> Option<BreakerChange> {
    let result = |sample| match sample {
        '+' => CallResult::Success,
        '-' => CallResult::Failure,
        _ => CallResult::Ignored,
    };
    samples.chars().filter_map(|c| breaker.count(&sample(result(c), None), NOW)).last()
}

#[test]
fn b_02_opens_at_the_rate_and_not_before_the_least_number_of_calls() {
    let table = [
        ("---", false),
        ("----", true),
        ("+--", false),
        ("++--", true),
        ("+++--", false),
        ("+++---", true),
        ("+++++", false),
        // Blank results do not count as calls.
        ("---...", false),
    ];
    for (samples, opens) in table {
        let mut breaker = Breaker::new(settings(), NOW);
        assert_eq!(count(&mut breaker, samples).is_some(), opens, "{samples}");
        assert_eq!(breaker.is_closed(), !opens, "{samples}");
    }
}

#[test]
fn b_02_only_the_last_outcomes_count() {
    let mut breaker = Breaker::new(settings(), NOW);
    assert_eq!(count(&mut breaker, "++++++++++----"), None, "4 of the last 10 are bad");
    assert!(count(&mut breaker, "-").is_some(), "5 of the last 10 are");
}

#[test]
fn b_02_a_window_smaller_than_the_least_number_of_calls_still_judges() {
    let settings = BreakerSettings { window: 2, min_calls: 5, ..BreakerSettings::default() };
    let mut breaker = Breaker::new(settings, NOW);
    let sample = BreakerSample { settings, ..sample(CallResult::Failure, None) };
    assert_eq!(breaker.count(&sample, NOW), None);
    assert!(breaker.count(&sample, NOW).is_some());
}

#[test]
fn b_02_open_half_open_closed() {
    let mut breaker = Breaker::new(settings(), NOW);
    let opened = count(&mut breaker, "----");
    assert_eq!(opened, Some(BreakerChange::Opened { until: Some(after(30)) }));
    assert_eq!(breaker.admits(0, after(29)), Admission::Nothing { until: Some(after(30)) });
    assert_eq!(breaker.admits(0, after(30)), Admission::Probes { left: 3, opening: 1 });
    assert_eq!(breaker.admits(2, after(30)), Admission::Probes { left: 1, opening: 1 });
    let good = sample(CallResult::Success, Some(1));
    assert_eq!(breaker.count(&good, after(31)), None);
    assert_eq!(breaker.admits(2, after(31)), Admission::Probes { left: 0, opening: 1 });
    assert_eq!(breaker.count(&good, after(31)), None);
    assert_eq!(breaker.count(&good, after(32)), Some(BreakerChange::Closed));
    assert_eq!(breaker.admits(0, after(32)), Admission::All);
    assert_eq!(breaker.seen(), (0, 0), "what was before does not count against it");
}

#[test]
fn b_02_one_bad_probe_opens_it_again() {
    let mut breaker = Breaker::new(settings(), NOW);
    count(&mut breaker, "----");
    breaker.count(&sample(CallResult::Success, Some(1)), after(30));
    let change = breaker.count(&sample(CallResult::Failure, Some(1)), after(40));
    assert_eq!(change, Some(BreakerChange::Opened { until: Some(after(70)) }));
    assert_eq!(breaker.admits(0, after(70)), Admission::Probes { left: 3, opening: 2 });
}

#[test]
fn b_02_late_words_neither_open_nor_close_it() {
    let mut breaker = Breaker::new(settings(), NOW);
    count(&mut breaker, "----");
    for probe in [None, Some(0), Some(2)] {
        for result in [CallResult::Success, CallResult::Failure] {
            for at in [1, 31] {
                assert_eq!(breaker.count(&sample(result, probe), after(at)), None);
            }
        }
    }
    assert_eq!(breaker.state(after(31)), BreakerState::HalfOpen { good: 0 });
}

#[test]
fn b_07_a_blank_probe_is_handed_back() {
    let mut breaker = Breaker::new(settings(), NOW);
    count(&mut breaker, "----");
    assert_eq!(breaker.count(&sample(CallResult::Ignored, Some(1)), after(31)), None);
    assert_eq!(breaker.admits(0, after(31)), Admission::Probes { left: 3, opening: 1 });
}

#[test]
fn b_03_a_breaker_survives_being_written_down() {
    let mut breaker = Breaker::new(settings(), NOW);
    count(&mut breaker, "++-");
    let json = serde_json::to_string(&breaker).expect("it is JSON");
    assert!(json.contains("\"++-\""), "{json}");
    assert_eq!(serde_json::from_str::<Breaker>(&json).expect("it reads back"), breaker);
}

#[test]
fn b_06_operators_open_and_close() {
    let mut breaker = Breaker::new(settings(), NOW);
    assert_eq!(breaker.apply(BreakerUpdate::Close, NOW), None, "it is closed");
    assert_eq!(
        breaker.apply(BreakerUpdate::Open(None), NOW),
        Some(BreakerChange::Opened { until: None })
    );
    assert_eq!(breaker.state(Timestamp::MAX), BreakerState::Open { until: None });
    assert_eq!(breaker.apply(BreakerUpdate::Close, NOW), Some(BreakerChange::Closed));
    let minute = Some(Duration::from_mins(1));
    breaker.apply(BreakerUpdate::Open(minute), NOW);
    assert_eq!(breaker.state(after(60)), BreakerState::HalfOpen { good: 0 });
}

proptest! {
    /// The breaker matches a simple model: the window is the last N call results.
    #[test]
    fn b_02_a_closed_breaker_is_its_window(
        rate in 1..=100_u8, window in 1..20_u32, min_calls in 1..10_u32,
        bad in prop::collection::vec(any::<bool>(), 0..60),
    ) {
        let settings = BreakerSettings { failure_rate: rate, window, min_calls, ..BreakerSettings::default() };
        let mut breaker = Breaker::new(settings, NOW);
        let mut seen: Vec<bool> = Vec::new();
        for bad in bad {
            seen.push(bad);
            let last = &seen[seen.len().saturating_sub(window as usize)..];
            let failed = last.iter().filter(|bad| **bad).count();
            let expected = last.len() >= min_calls.min(window) as usize
                && failed * 100 >= usize::from(rate) * last.len();
            let result = if bad { CallResult::Failure } else { CallResult::Success };
            let sample = BreakerSample { settings, ..sample(result, None) };
            prop_assert_eq!(breaker.count(&sample, NOW).is_some(), expected);
            if expected {
                breaker.apply(BreakerUpdate::Close, NOW);
                seen.clear();
            }
        }
    }

    /// For any sequence of call results and delays, the breaker never admits more probes than configured, and closes
    /// only after a full set of successful ones.
    #[test]
    fn b_02_probes_are_never_more_than_allowed(
        steps in prop::collection::vec((0..4_u8, 0..40_u64), 1..200),
    ) {
        let (mut breaker, mut clock, mut out) = (Breaker::new(settings(), NOW), 0, Vec::new());
        count(&mut breaker, "----");
        for (step, seconds) in steps {
            clock += seconds;
            let now = after(clock);
            let probing = out.iter().filter(|opening| **opening == breaker.opening()).count() as u64;
            match step {
                0 | 1 => {
                    if let Admission::Probes { left, opening } = breaker.admits(probing, now) && left > 0 {
                        out.push(opening);
                        prop_assert!(probing < 3);
                    }
                }
                _ => {
                    let Some(opening) = out.pop() else { continue };
                    let result = if step == 2 { CallResult::Success } else { CallResult::Failure };
                    let before = breaker.state(now);
                    let change = breaker.count(&sample(result, Some(opening)), now);
                    if change == Some(BreakerChange::Closed) {
                        prop_assert_eq!(before, BreakerState::HalfOpen { good: 2 });
                        count(&mut breaker, "----");
                        // The breaker is open again, with the epoch as its start.
                    }
                }
            }
        }
    }
}
