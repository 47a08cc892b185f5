//! Runs a bounded number of schedules, and checks that schedules are reproducible.

use std::collections::BTreeSet;

use ratchet_sim::{Bug, MIN_STEPS, Options, quiet_panics, run};

/// Runs the schedules and returns the hash of each. Panics on a violation.
fn run_clean(seeds: std::ops::Range<u64>) -> Vec<u64> {
    quiet_panics();
    seeds
        .map(|seed| {
            let report = run(seed, Options::default());
            assert_eq!(
                report.violation, None,
                "seed {seed}; again: ratchet-sim --seed {seed} --trace"
            );
            assert!(report.steps >= MIN_STEPS && report.nodes >= 3, "{report:?}");
            report.hash
        })
        .collect()
}

/// Regression test: a delayed join arrived after the node had joined with its next id, and the oracle used the old id.
#[test]
fn a_name_that_was_given_up_does_not_come_back() {
    run_clean(864_532..864_533);
}

#[test]
fn the_same_seed_is_the_same_schedule_and_another_is_another() {
    let (first, second) = (run_clean(0..100), run_clean(0..25));
    assert_eq!(first[..25], second);
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 100);
}

#[test]
fn no_schedule_breaks_a_promise() {
    run_clean(100..200);
}

/// A process that is killed loses at most the last ten seconds, which is a large part of a schedule.
#[test]
fn m_02_statistics_contain_most_runs_that_have_ended() {
    quiet_panics();
    let reports = (1000..1030).map(|seed| run(seed, Options::default()));
    let (counted, ended) =
        reports.fold((0, 0), |sum, report| (sum.0 + report.counted, sum.1 + report.ended));
    assert!(counted * 3 > ended, "{counted} of {ended} runs were counted");
}

/// Returns the first seed that finds an injected bug.
fn seeds_until_found(bug: Bug) -> Option<u64> {
    quiet_panics();
    let options = Options { bug: Some(bug), ..Options::default() };
    (0..10_000).find(|seed| run(*seed, options).violation.is_some())
}

#[test]
fn unfenced_settle_is_found() {
    assert!(seeds_until_found(Bug::UnfencedSettle).is_some());
}

#[test]
fn rescue_that_ignores_the_lease_is_found() {
    assert!(seeds_until_found(Bug::HastyRescue).is_some());
}
