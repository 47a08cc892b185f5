//! Circuit breakers with real workers: samples, probes, profiles.

use std::time::Duration;

use ratchet_core::{BreakerState, BuildError, Event, Explanation, Job, JobState, Waiting};
use ratchet_store::model::AttemptOutcome;

use crate::engine::fixture::{EngineFixture, event, eventually, outcomes, start};
use crate::engine::script::{Ignoring, Paying, Profiled, Recording, Step};

async fn state(ratchet: &ratchet_core::Ratchet, service: &str) -> Option<BreakerState> {
    ratchet.breakers().get(service).await.expect("reads").map(|record| record.state)
}

fn down() -> Step {
    Step::Error("connection refused".to_owned())
}

/// In an outage, jobs fail until the breaker opens. Then they wait without using attempts and are retried by probes.
pub async fn b_02_an_outage_from_end_to_end(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().concurrency(1)).await;
    let mut events = ratchet.events();
    let mut jobs = Vec::new();
    for _ in 0..6 {
        jobs.push(ratchet.enqueue(Paying::of([down(), Step::Ok])).await.expect("enqueues"));
    }
    let opened = event(&mut events, |event| matches!(event, Event::BreakerOpened { .. })).await;
    assert!(matches!(opened, Event::BreakerOpened { service, until: Some(_) } if service == "pay"));
    // Three calls opened the breaker; the remaining jobs have not run.
    let untouched: Vec<_> = jobs.iter().filter(|job| fixture.stage().runs(job.id()) == 0).collect();
    assert_eq!(untouched.len(), 3);
    let why = ratchet.jobs().explain(untouched[0].id()).await.expect("reads").expect("exists");
    assert!(
        matches!(&why, Explanation::Waits(why) if matches!(why[..], [Waiting::BreakerOpen { .. }])),
        "{why}"
    );
    for job in &jobs {
        fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    }
    event(&mut events, |event| matches!(event, Event::BreakerClosed { .. })).await;
    assert_eq!(state(&ratchet, "pay").await, Some(BreakerState::Closed));
    worker.stop().await;
}

/// A probe that fails is deferred and does not use an attempt.
pub async fn b_02_a_failed_probe_uses_no_attempt(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    ratchet.breakers().open("pay", Some(Duration::from_secs(30))).await.expect("opens");
    let steps = [down(), down(), Step::Ok];
    let job = ratchet.enqueue(Paying::of(steps)).max_retries(0).await.expect("enqueues");
    let done = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!((done.attempts, done.deferrals), (0, 2));
    let reported = outcomes(&ratchet, job.id()).await;
    assert_eq!(
        reported,
        [AttemptOutcome::BreakerOpen, AttemptOutcome::BreakerOpen, AttemptOutcome::Success]
    );
    worker.stop().await;
}

/// E-11: with `max_deferrals`, the application can limit the number of failed probes.
pub async fn e_11_failed_probes_count_as_deferrals(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().max_deferrals(2)).await;
    ratchet.breakers().open("pay", Some(Duration::from_secs(30))).await.expect("opens");
    let job = ratchet.enqueue(Paying::of([down()])).await.expect("enqueues");
    let failed = fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let reason = failed.envelope.expect("an envelope").reason;
    assert_eq!(reason, ratchet_store::model::TerminalReason::DeferralExhausted);
    worker.stop().await;
}

pub async fn b_05_what_says_nothing_of_the_service_does_not_count(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let steps =
        [Step::Permanent, Step::Fatal, Step::Invalid, Step::Snooze, Step::Reject, Step::Listen];
    for step in steps {
        for _ in 0..4 {
            let listens = matches!(step, Step::Listen);
            let job = ratchet.enqueue(Paying::of([step.clone(), Step::Permanent])).await;
            let job = job.expect("enqueues");
            if listens {
                eventually("it runs", async || fixture.stage().runs(job.id()) == 1).await;
                ratchet.jobs().cancel(job.id()).await.expect("cancels");
            }
            fixture.ended(&ratchet, job.id()).await;
        }
    }
    let breaker = ratchet.breakers().get("pay").await.expect("reads");
    assert!(breaker.is_none_or(|record| record.breaker.seen() == (0, 0)));
    worker.stop().await;
}

pub async fn b_05_panics_and_timeouts_count(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    for step in [Step::Panic("boom".to_owned()), Step::Hang, down()] {
        let job = ratchet.enqueue(Paying::of([step])).max_retries(0);
        let job = job.timeout(Duration::from_millis(100)).await.expect("enqueues");
        fixture.ended(&ratchet, job.id()).await;
    }
    let record = ratchet.breakers().get("pay").await.expect("reads").expect("it has seen them");
    assert!(!record.breaker.is_closed());
    worker.stop().await;
}

/// `ignore` and `record` apply to every error in the source chain.
pub async fn b_05_lists_refine_what_counts(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let seen = async |service| {
        let record = ratchet.breakers().get(service).await.expect("reads").expect("it was asked");
        record.breaker.seen()
    };
    for (what, ignoring, recording) in [("busy", 0, 0), ("other", 1, 0), ("format", 2, 1)] {
        let what = what.to_owned();
        let one = ratchet.enqueue(Ignoring { what: what.clone() }).await.expect("enqueues").id();
        let two = ratchet.enqueue(Recording { what: what.clone() }).await.expect("enqueues").id();
        for id in [one, two] {
            fixture.until(&ratchet, id, JobState::Failed).await;
        }
        assert_eq!(seen("ignoring").await, (ignoring, ignoring), "{what}");
        assert_eq!(seen("recording").await, (recording, recording), "{what}");
    }
    worker.stop().await;
}

pub async fn b_07_a_refusal_before_the_run_does_not_trip_it(fixture: EngineFixture) {
    let job = {
        let ratchet = fixture.ratchet().await;
        ratchet.enqueue(Paying::of([Step::Ok])).await.expect("enqueues")
    };
    let (ratchet, worker) =
        start(fixture.builder().queue("default", |queue| queue.allow(["test.script"]))).await;
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let breaker = ratchet.breakers().get("pay").await.expect("reads");
    assert!(breaker.is_none_or(|record| record.breaker.seen() == (0, 0)));
    worker.stop().await;
}

pub async fn b_06_operators_open_close_and_inspect(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut events = ratchet.events();
    ratchet.breakers().open("pay", None).await.expect("opens");
    event(&mut events, |event| matches!(event, Event::BreakerOpened { until: None, .. })).await;
    let job = ratchet.enqueue(Paying::of([Step::Ok])).await.expect("enqueues");
    let other = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, other.id(), JobState::Succeeded).await;
    assert_eq!(fixture.stage().runs(job.id()), 0);
    assert_eq!(state(&ratchet, "pay").await, Some(BreakerState::Open { until: None }));
    ratchet.breakers().close("pay").await.expect("closes");
    event(&mut events, |event| matches!(event, Event::BreakerClosed { .. })).await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn b_08_profiles_and_configuration(fixture: EngineFixture) {
    let jobs = || [Profiled::JOB];
    let unknown = fixture.builder().jobs(jobs()).build().await;
    let Err(BuildError::Config(problems)) = unknown else { panic!("the profile is not defined") };
    assert!(
        problems[0].contains("careful") && problems[0].contains("breaker_profile"),
        "{problems:?}"
    );

    let builder = || {
        let builder = fixture.builder().jobs(jobs());
        builder.breaker_profile("careful", |breaker| breaker.min_calls(1).failure_rate(10))
    };
    let (ratchet, worker) = start(builder().breaker("slow", |breaker| breaker.probes(7))).await;
    let job = ratchet.enqueue(Profiled {}).await.expect("enqueues");
    fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let record = ratchet.breakers().get("slow").await.expect("reads").expect("it was asked");
    let set = record.breaker.settings;
    assert!(!record.breaker.is_closed(), "one call was enough");
    assert_eq!((set.min_calls, set.failure_rate, set.probes), (1, 10, 7));
    // The attribute takes precedence over the profile.
    assert_eq!(set.open_for, Duration::from_secs(90));
    worker.stop().await;

    let bad = builder().breaker("slow", |breaker| breaker.failure_rate(0).probes(0)).build().await;
    let Err(BuildError::Config(problems)) = bad else { panic!("these cannot work") };
    assert_eq!(problems.len(), 2, "{problems:?}");
}

/// Two jobs that share a service must not configure its breaker differently.
pub async fn b_01_jobs_that_share_a_service_agree(fixture: EngineFixture) {
    let jobs = [Profiled::JOB, crate::engine::script::Contrary::JOB];
    let built = fixture.builder().jobs(jobs).breaker_profile("careful", |it| it).build().await;
    let Err(BuildError::Config(problems)) = built else { panic!("they contradict each other") };
    assert!(problems[0].contains("share the breaker of `slow`"), "{problems:?}");
}
