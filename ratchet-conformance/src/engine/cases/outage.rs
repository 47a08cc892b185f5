//! Store outages and lost leases.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ratchet_core::JobState;
use ratchet_store::model::AttemptOutcome;

use crate::engine::fixture::{EngineFixture, eventually, outcomes, start};
use crate::engine::script::Step;

pub async fn x_08_outcomes_are_held_through_an_outage(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    let mut jobs = Vec::new();
    for _ in 0..10 {
        jobs.push(fixture.play(&ratchet, [Step::Gate]).await);
    }
    eventually("all run", async || fixture.stage().running() == 10).await;
    fixture.switches().down.store(true, Ordering::SeqCst);
    fixture.stage().open_gate();
    eventually("all ended", async || worker.stats().running == 0).await;
    assert_eq!(worker.stats().settled, 0);
    fixture.switches().down.store(false, Ordering::SeqCst);
    for job in jobs {
        let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
        assert_eq!(record.run, 1, "nothing ran twice");
    }
    let after = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, after.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn p_03_a_node_that_cannot_renew_its_lease_fences_itself(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().lease(Duration::from_millis(600))).await;
    let job = fixture.play(&ratchet, [Step::Hang, Step::Ok]).await;
    eventually("it runs", async || fixture.stage().running() == 1).await;
    fixture.switches().no_heartbeat.store(true, Ordering::SeqCst);
    eventually("it stops what it runs", async || fixture.stage().running() == 0).await;
    eventually("it is not ready", async || !worker.readiness().ok).await;
    assert!(worker.liveness().ok, "only readiness fails");
    fixture.switches().no_heartbeat.store(false, Ordering::SeqCst);
    eventually("it is ready again", async || worker.readiness().ok).await;
    // The clock must not advance: the lease in this test is shorter than one step of the clock.
    eventually("it runs again", async || {
        job.status().await.is_ok_and(|state| state == Some(JobState::Succeeded))
    })
    .await;
    assert_eq!(ratchet.jobs().get(job.id()).await.expect("reads").expect("exists").attempts, 0);
    worker.stop().await;
}

pub async fn p_03_claim_that_is_answered_after_the_lease_ran_out_is_not_started(
    fixture: EngineFixture,
) {
    let (ratchet, worker) = fixture.start().await;
    let before = worker.node();
    let answering = fixture.switches().answering.lock().await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    eventually("it is claimed", async || {
        job.status().await.is_ok_and(|state| state == Some(JobState::Running))
    })
    .await;
    fixture.advance(Duration::from_hours(2)).await;
    eventually("it has a new name", async || worker.node() != before).await;
    eventually("it works again", async || worker.readiness().ok).await;
    drop(answering);
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(record.run, 2, "rescued, or given back");
    assert_eq!(fixture.stage().runs(job.id()), 1, "the first claim came to nothing");
    worker.stop().await;
}

pub async fn c_04_a_node_that_lost_its_lease_joins_under_a_new_name(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().lease(Duration::from_millis(600))).await;
    let before = worker.node();
    fixture.advance(Duration::from_mins(1)).await;
    eventually("it has a new name", async || worker.node() != before).await;
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    // The clock does not advance from here on, so the new lease remains valid.
    eventually("it works again", async || {
        job.status().await.is_ok_and(|state| state == Some(JobState::Succeeded))
    })
    .await;
    worker.stop().await;
}

pub async fn h_05_a_success_is_settled_without_its_result_rather_than_not_at_all(
    fixture: EngineFixture,
) {
    let (ratchet, worker) = fixture.start().await;
    fixture.switches().refuse_outputs.store(true, Ordering::SeqCst);
    let job = fixture.play(&ratchet, [Step::Spawn(2)]).await;
    let record = fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(record.output, None);
    assert!(
        record.warnings.iter().any(|warning| warning.contains("could not be stored")),
        "{:?}",
        record.warnings
    );
    let children = ratchet_core::Filter::any().tag("child");
    assert_eq!(
        ratchet
            .jobs()
            .list(&children, ratchet_core::PageRequest::default())
            .await
            .expect("reads")
            .jobs
            .len(),
        2
    );
    assert_eq!(worker.stats().stuck, 0);
    worker.stop().await;
}

pub async fn h_05_what_cannot_be_settled_is_counted_as_stuck_and_rescued(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start().await;
    fixture.switches().refuse_settles.store(true, Ordering::SeqCst);
    let job = fixture.play(&ratchet, [Step::Ok]).await;
    eventually("it is stuck", async || worker.stats().stuck == 1).await;
    fixture.switches().refuse_settles.store(false, Ordering::SeqCst);
    let neighbour = fixture.play(&ratchet, [Step::Ok]).await;
    fixture.until(&ratchet, neighbour.id(), JobState::Succeeded).await;
    assert_eq!(job.status().await.expect("reads"), Some(JobState::Running));
    worker.stop().await;
    let (ratchet, worker) = fixture.start().await;
    fixture.until(&ratchet, job.id(), JobState::Succeeded).await;
    assert_eq!(
        outcomes(&ratchet, job.id()).await,
        [AttemptOutcome::Crashed, AttemptOutcome::Success]
    );
    worker.stop().await;
}
