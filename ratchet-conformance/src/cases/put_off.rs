//! Runs that end without using an attempt: deferred or released.

use ratchet_store::model::{AttemptOutcome, JobState};

use crate::World;
use crate::fixture::{RunExt, secs};

pub async fn e_07_deferral_uses_no_attempt(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.defer(secs(5))).await;
    let job = world.get(run.id()).await;
    assert_eq!((job.state, job.attempts, job.crashes), (JobState::Pending, 0, 0));
    assert_eq!(job.error, None);
}

pub async fn e_07_deferral_waits_for_its_delay(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let applied = world.apply(run.defer(secs(60))).await;
    assert_eq!(applied.due, Some(applied.at + secs(60)));
    world.pass(secs(30)).await;
    assert!(node.claim(1).await.is_empty());
    world.pass(secs(30)).await;
    assert_eq!(node.claim_one().await.deferrals, 1);
}

pub async fn e_11_deferrals_are_counted(world: &World) {
    let node = world.node().await;
    let id = world.run_on(&node, world.job()).await;
    world.apply(id.defer(secs(0))).await;
    for deferrals in 1..4 {
        let run = node.claim_one().await;
        assert_eq!(run.deferrals, deferrals);
        world.apply(run.defer(secs(0))).await;
    }
    assert_eq!(world.get(id.id()).await.deferrals, 4);
}

pub async fn e_11_deferral_leaves_a_line_that_says_why(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.defer(secs(5))).await;
    let history = world.history(run.id()).await;
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].outcome, AttemptOutcome::Snoozed);
    assert_eq!(history[0].note.as_deref(), Some("later"));
}

pub async fn x_07_release_uses_no_attempt(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.release()).await;
    let job = world.get(run.id()).await;
    assert_eq!((job.state, job.attempts, job.deferrals), (JobState::Pending, 0, 0));
}

pub async fn p_04_release_charges_no_crash(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.release()).await;
    assert_eq!(world.get(run.id()).await.crashes, 0);
}

pub async fn x_07_released_job_is_claimable_at_once(world: &World) {
    let run = world.run(world.job()).await;
    world.pass(secs(9)).await;
    let applied = world.apply(run.release()).await;
    assert_eq!(applied.due, Some(run.due));
    assert_eq!(world.node().await.claim_ids(1).await, [run.id()]);
}

pub async fn l_07_release_leaves_a_line(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.release()).await;
    assert_eq!(world.history(run.id()).await[0].outcome, AttemptOutcome::Released);
}
