//! Runs many jobs with random behavior and compares the results with a simple model.

use std::time::Duration;

use ratchet_core::{
    Backoff, Entropy, Filter, JobId, JobState, PageRequest, Ratchet, SeededEntropy,
};

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

async fn all_ended(fixture: &EngineFixture, ratchet: &Ratchet, jobs: u64) {
    eventually("every job has ended", async || {
        fixture.advance(Duration::from_secs(5)).await;
        let counts = ratchet.counts().await.expect("reads");
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

/// Runs 10,000 jobs, 50 at a time: errors, panics, timeouts, cancellations, snoozes, rejections.
pub async fn x_01_ten_thousand_random_jobs_end_as_the_model_predicts(fixture: EngineFixture) {
    const JOBS: usize = 10_000;
    quiet_about("random");
    let entropy = SeededEntropy::new(42);
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let builder = fixture
        .builder()
        .concurrency(50)
        .config(|config| config.lease = Duration::from_hours(24 * 365));
    let (ratchet, worker) = start(builder).await;
    let mut plans: Vec<(JobId, Plan)> = Vec::new();
    while plans.len() < JOBS {
        // Skip jobs that snooze forever: they never end.
        let plan = plan(&entropy);
        if predict(&plan).is_none() {
            continue;
        }
        let job = ratchet.enqueue(Script::of(plan.steps.clone()));
        let job = job
            .max_retries(plan.max_retries)
            .timeout(Duration::from_millis(250))
            .backoff(Backoff::fixed(Duration::from_secs(1)));
        plans.push((job.await.expect("enqueues").id(), plan));
        // Some jobs are canceled before they run, some while they run.
        if let Some((id, plan)) = plans.iter().rev().nth(20)
            && plan.cancel
        {
            ratchet.cancel(*id).await.expect("answers");
        }
    }
    all_ended(&fixture, &ratchet, JOBS as u64).await;
    for (id, plan) in &plans {
        let job = ratchet.get(*id).await.expect("reads").expect("exists");
        let (state, runs) = predict(plan).expect("predicted");
        if plan.cancel && job.state == JobState::Canceled {
            continue;
        }
        assert_eq!((job.state, fixture.stage().runs(*id)), (state, runs), "{:?}", plan.steps);
        let history = ratchet.attempts(*id).await.expect("reads");
        assert_eq!(history.len(), runs as usize, "a line per run");
    }
    worker.stop().await;
    assert_eq!(
        (fixture.stage().running(), worker.stats().running, worker.stats().runaways),
        (0, 0, 0)
    );
    assert_eq!(ratchet.counts().await.expect("reads").state(JobState::Running), 0);
    eventually("no task is left", async || {
        tokio::runtime::Handle::current().metrics().num_alive_tasks() <= before
    })
    .await;
    let left = ratchet
        .list(&Filter::any().state(JobState::Pending), PageRequest::default())
        .await
        .expect("reads");
    assert!(left.jobs.is_empty());
}
