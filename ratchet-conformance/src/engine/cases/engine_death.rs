//! Health checks must report an engine that ends unexpectedly and a store that refuses work.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::{EnginePart, Health, JobState, Stopped, Worker};

use crate::engine::fixture::{EngineFixture, eventually, start};
use crate::engine::hostile::{Losing, OddClock};
use crate::engine::script::Step;

/// Asserts that the worker reports this part of its engine as dead: nothing waits between the panic and the reports.
async fn assert_died(worker: &Worker, part: EnginePart) {
    match worker.stopped().await {
        Stopped::Died(died) => assert_eq!(died.part, part, "{died}"),
        other => panic!("it was not asked to stop: {other:?}"),
    }
    let Health { ok, problems, .. } = worker.liveness();
    assert!(!ok && !worker.readiness().ok, "it is reported at once");
    let problem = &problems[0];
    assert!(problem.contains("has died") && problem.contains(&part.to_string()), "{problem}");
    // Stopping a dead worker must not hang.
    worker.stop().await;
}

pub async fn h_06_the_death_of_the_claim_loop_is_seen_and_nothing_is_lost(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let job = fixture.play(&ratchet, [Step::Gate]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    assert!(worker.liveness().ok);
    fixture.switches().panic_in_claim.store(true, Ordering::SeqCst);
    assert_died(&worker, EnginePart::ClaimLoop).await;
    // The job will be rescued, so its run must not continue here.
    eventually("the run was called off", async || fixture.stage().running() == 0).await;
    fixture.switches().panic_in_claim.store(false, Ordering::SeqCst);
    fixture.advance(Duration::from_hours(2)).await;
    fixture.stage().open_gate();
    let (ratchet, worker) = fixture.start().await;
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!((record.attempts, record.crashes), (0, 1));
    worker.stop().await;
}

/// A duration that no other part of the engine sleeps for.
const ODD: Duration = Duration::from_micros(37_037);

pub async fn h_06_the_death_of_the_heartbeat_is_seen(fixture: EngineFixture) {
    let clock = OddClock::default();
    let builder = fixture.builder().clock(clock.clone()).config(|config| config.heartbeat = ODD);
    let (_ratchet, worker) = start(builder).await;
    clock.trip(ODD);
    assert_died(&worker, EnginePart::Heartbeat).await;
}

pub async fn h_06_the_death_of_maintenance_is_seen(fixture: EngineFixture) {
    let (_ratchet, worker) = fixture.start().await;
    fixture.switches().panic_in_orphans.store(true, Ordering::SeqCst);
    assert_died(&worker, EnginePart::Maintenance).await;
}

pub async fn h_06_the_death_of_the_watchdog_is_seen(fixture: EngineFixture) {
    let clock = OddClock::default();
    // The watchdog checks five times per `stall_after`.
    let builder =
        fixture.builder().clock(clock.clone()).config(|config| config.stall_after = 5 * ODD);
    let (_ratchet, worker) = start(builder).await;
    clock.trip(ODD);
    assert_died(&worker, EnginePart::Watchdog).await;
}

pub async fn h_06_the_death_of_the_health_checks_is_seen(fixture: EngineFixture) {
    let clock = OddClock::default();
    let builder = fixture.builder().clock(clock.clone()).config(|config| config.health_every = ODD);
    let builder = builder.health_check("fine", || async { Ok::<_, std::fmt::Error>(()) });
    let (_ratchet, worker) = start(builder).await;
    clock.trip(ODD);
    assert_died(&worker, EnginePart::HealthChecks).await;
}

pub async fn h_06_an_engine_dropped_by_its_runtime_is_seen(fixture: EngineFixture) {
    let home = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let ratchet = fixture.ratchet().await;
    let worker = ratchet.start_on(Losing::new(Some(home.handle().clone()))).await.expect("starts");
    assert!(worker.liveness().ok);
    home.shutdown_background();
    assert_died(&worker, EnginePart::Whole).await;
}

pub async fn h_06_a_worker_that_was_asked_to_stop_has_not_died(fixture: EngineFixture) {
    let (_ratchet, worker) = fixture.start().await;
    worker.stop().await;
    assert_eq!(worker.stopped().await, Stopped::Requested);
    assert!(worker.liveness().ok, "{:?}", worker.liveness());
}

/// Longer than the time after which a store that refuses work fails readiness.
const LONG: Duration = Duration::from_secs(11);

fn says(worker: &Worker, what: &str) -> bool {
    worker.readiness().problems.iter().any(|problem| problem.contains(what))
}

pub async fn h_06_claims_that_keep_failing_fail_readiness(fixture: EngineFixture) {
    let clock = OddClock::default();
    let (ratchet, worker) = start(fixture.builder().clock(clock.clone())).await;
    fixture.switches().asked.store(0, Ordering::SeqCst);
    fixture.switches().refuse_claims.store(true, Ordering::SeqCst);
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    // Wait for two claims after the switch: the first one may have been in flight.
    for _ in 0..2 {
        eventually("a claim was refused", async || {
            fixture.switches().asked.swap(0, Ordering::SeqCst) > 0
        })
        .await;
    }
    assert!(!says(&worker, "cannot be claimed"), "not at once");
    eventually("it is reported with the last error", async || {
        clock.jump(LONG);
        says(&worker, "jobs cannot be claimed for") && says(&worker, "an index row is too large")
    })
    .await;
    fixture.switches().refuse_claims.store(false, Ordering::SeqCst);
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    eventually("it is ready again", async || worker.readiness().ok).await;
    worker.stop().await;
}

pub async fn h_06_outcomes_that_a_damaged_store_refuses_are_held(fixture: EngineFixture) {
    let clock = OddClock::default();
    let (ratchet, worker) = start(fixture.builder().clock(clock.clone())).await;
    fixture.switches().corrupt.store(true, Ordering::SeqCst);
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    eventually("it is reported with the last error", async || {
        if fixture.stage().runs(job.id()) == 1 && fixture.stage().running() == 0 {
            clock.jump(LONG);
        }
        says(&worker, "outcomes cannot be stored for") && says(&worker, "a page is damaged")
    })
    .await;
    assert_eq!(worker.stats().stuck, 0, "the job is not given up");
    fixture.switches().corrupt.store(false, Ordering::SeqCst);
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(fixture.stage().runs(job.id()), 1);
    eventually("it is ready again", async || worker.readiness().ok).await;
    worker.stop().await;
}
