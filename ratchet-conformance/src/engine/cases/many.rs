//! Runs many jobs with random behavior and compares the results with a simple model.

use std::time::Duration;

use ratchet_core::{
    Backoff, Entropy, Filter, JobId, JobState, PageRequest, Ratchet, SeededEntropy,
};
use ratchet_store::model::{AttemptOutcome, AttemptRecord, FailureKind};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::script::{Script, Step};

/// The behavior of one job.
struct Plan {
    steps: Vec<Step>,
    max_retries: u32,
    cancel: bool,
}

fn plan(entropy: &SeededEntropy) -> Plan {
    let below = |n: u64| entropy.next_u64() % n;
    let steps = (0..=below(4)).map(|_| match below(20) {
        0..=3 => Step::Error("random".into()),
        4 | 5 => Step::Panic("random".into()),
        6 => Step::Hang,
        7 | 8 => Step::Snooze,
        9 => Step::Reject,
        10 => Step::Fatal,
        11 => Step::Permanent,
        12 => Step::Invalid,
        _ => Step::Ok,
    });
    Plan {
        steps: steps.collect(),
        max_retries: u32::try_from(below(4)).unwrap_or(0),
        cancel: below(20) == 0,
    }
}

/// The model: returns the final state of a job and its number of runs; `None` if the job never ends.
fn predict(plan: &Plan) -> Option<(JobState, u32)> {
    let (mut attempts, mut runs) = (0, 0);
    loop {
        let step = plan.steps.get(runs).or(plan.steps.last())?;
        runs += 1;
        let done = u32::try_from(runs).ok()?;
        match step {
            Step::Ok => return Some((JobState::Succeeded, done)),
            Step::Fatal | Step::Permanent | Step::Invalid => return Some((JobState::Failed, done)),
            Step::Snooze | Step::Reject if runs > plan.steps.len() => return None,
            Step::Snooze | Step::Reject => {}
            _ => attempts += 1,
        }
        if attempts > plan.max_retries {
            return Some((JobState::Failed, done));
        }
    }
}

/// The timeout of every job. On a busy machine any run may exceed it.
const TIMEOUT: Duration = Duration::from_millis(250);

/// Replays the recorded runs of a job against its plan, from step `at`. Returns whether the recorded outcomes and the
/// final state are what the plan and the retry rules allow. `handled` is how often the handler was called.
///
/// A run that is recorded as timed out may have been called or not: a busy machine can abort it before its first poll.
fn agrees(plan: &Plan, runs: &[AttemptRecord], at: u32, attempts: u32, end: End) -> bool {
    let Some((run, later)) = runs.split_first() else { return false };
    let timed_out = run.error.as_ref().is_some_and(|error| error.kind == FailureKind::Timeout);
    let go_on = |at: u32, attempts: u32| match attempts > plan.max_retries {
        true => later.is_empty() && end == End { state: JobState::Failed, handled: at },
        false => agrees(plan, later, at, attempts, end),
    };
    if timed_out {
        return go_on(at, attempts + 1) || go_on(at + 1, attempts + 1);
    }
    let Some(step) = plan.steps.get(at as usize).or(plan.steps.last()) else { return false };
    let ends = |outcome, state| {
        run.outcome == outcome && later.is_empty() && end == End { state, handled: at + 1 }
    };
    match step {
        Step::Ok => ends(AttemptOutcome::Success, JobState::Succeeded),
        Step::Fatal | Step::Permanent => ends(AttemptOutcome::Failure, JobState::Failed),
        Step::Invalid => ends(AttemptOutcome::Invalid, JobState::Failed),
        Step::Snooze => run.outcome == AttemptOutcome::Snoozed && go_on(at + 1, attempts),
        Step::Reject => run.outcome == AttemptOutcome::Rejected && go_on(at + 1, attempts),
        Step::Error(_) => run.outcome == AttemptOutcome::Failure && go_on(at + 1, attempts + 1),
        Step::Panic(_) => run.outcome == AttemptOutcome::Exception && go_on(at + 1, attempts + 1),
        _ => false,
    }
}

/// How a job ended: its state, and how often its handler was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    state: JobState,
    handled: u32,
}

async fn all_ended(fixture: &EngineFixture, ratchet: &Ratchet, jobs: u64) {
    eventually("every job has ended", async || {
        fixture.advance(Duration::from_secs(5)).await;
        let counts = ratchet.jobs().counts().await.expect("reads");
        JobState::ALL
            .into_iter()
            .filter(|state| state.is_terminal())
            .map(|state| counts.state(state))
            .sum::<u64>()
            == jobs
    })
    .await;
}

/// Suppresses the output of panics with this message. Printing thousands of backtraces would take too long.
fn quiet_about(message: &'static str) {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str() != Some(message) {
            previous(info);
        }
    }));
}

/// Runs 10,000 jobs, or some of them on a slow store, 50 at a time: errors, panics, timeouts, cancellations, snoozes, rejections.
pub async fn x_01_thousands_of_random_jobs_end_as_the_model_predicts(fixture: EngineFixture) {
    let jobs = fixture.rounds(10_000);
    quiet_about("random");
    let entropy = SeededEntropy::new(42);
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let builder = fixture
        .builder()
        .concurrency(50)
        .config(|config| config.lease = Duration::from_hours(24 * 365));
    let (ratchet, worker) = start(builder).await;
    let mut plans: Vec<(JobId, Plan)> = Vec::new();
    while plans.len() < jobs {
        // Skip jobs that snooze forever: they never end.
        let plan = plan(&entropy);
        if predict(&plan).is_none() {
            continue;
        }
        let job = ratchet.enqueue(Script::of(plan.steps.clone()));
        let job = job
            .max_retries(plan.max_retries)
            .timeout(TIMEOUT)
            .backoff(Backoff::fixed(Duration::from_secs(1)));
        plans.push((job.await.expect("enqueues").id(), plan));
        // Some jobs are canceled before they run, some while they run.
        if let Some((id, plan)) = plans.iter().rev().nth(20)
            && plan.cancel
        {
            ratchet.jobs().cancel(*id).await.expect("answers");
        }
    }
    all_ended(&fixture, &ratchet, jobs as u64).await;
    let mut exact = 0;
    for (id, plan) in &plans {
        let job = ratchet.jobs().get(*id).await.expect("reads").expect("exists");
        if plan.cancel && job.state == JobState::Canceled {
            continue;
        }
        let runs = ratchet.jobs().attempts(*id).await.expect("reads");
        let end = End { state: job.state, handled: fixture.stage().runs(*id) };
        assert!(agrees(plan, &runs, 0, 0, end), "{:?} {end:?} {runs:?}", plan.steps);
        // If only the runs that hang have timed out, the result is predicted exactly.
        let timed_out = |run: &&AttemptRecord| {
            run.error.as_ref().is_some_and(|error| error.kind == FailureKind::Timeout)
        };
        if runs.iter().filter(timed_out).count() == 0 {
            let (state, handled) = predict(plan).expect("predicted");
            assert_eq!((end, runs.len()), (End { state, handled }, handled as usize));
            exact += 1;
        }
    }
    assert!(exact > 0, "no job ended without a timeout");
    worker.stop().await;
    assert_eq!(
        (fixture.stage().running(), worker.stats().running, worker.stats().runaways),
        (0, 0, 0)
    );
    assert_eq!(ratchet.jobs().counts().await.expect("reads").state(JobState::Running), 0);
    eventually("no task is left", async || {
        tokio::runtime::Handle::current().metrics().num_alive_tasks() <= before
    })
    .await;
    let left = ratchet
        .jobs()
        .list(&Filter::any().state(JobState::Pending), PageRequest::default())
        .await
        .expect("reads");
    assert!(left.jobs.is_empty());
}
