//! Purging ended jobs.

use ratchet_store::model::{Filter, JobState};

use crate::World;
use crate::fixture::{RunExt, SettlementExt, hours, mins};

pub async fn d_05_purge_waits_for_the_age(world: &World) {
    let id = world.succeeded(world.job()).await;
    world.pass(mins(59)).await;
    assert_eq!(world.purge(JobState::Succeeded, hours(1)).await, 0);
    world.pass(mins(1)).await;
    assert_eq!(world.purge(JobState::Succeeded, hours(1)).await, 1);
    assert_eq!(world.find(id).await, None);
}

pub async fn d_05_age_counts_from_the_end(world: &World) {
    let run = world.run(world.job()).await;
    world.pass(hours(10)).await;
    world.apply(run.succeed()).await;
    world.pass(mins(30)).await;
    assert_eq!(world.purge(JobState::Succeeded, hours(1)).await, 0);
}

pub async fn d_05_purge_takes_one_state_at_a_time(world: &World) {
    let done = world.succeeded(world.job()).await;
    let failed = world.failed(world.job()).await;
    let canceled = world.canceled(world.job()).await;
    world.pass(hours(1)).await;
    assert_eq!(world.purge(JobState::Failed, hours(1)).await, 1);
    assert_eq!(world.list(Filter::any()).await, [canceled, done]);
    assert_eq!(world.purge(JobState::Canceled, hours(1)).await, 1);
    assert_eq!(world.list(Filter::any()).await, [done]);
    assert_eq!(world.find(failed).await, None);
}

pub async fn d_05_live_jobs_are_never_purged(world: &World) {
    world.run(world.job()).await;
    world.submit(world.job()).await;
    let paused = world.submit(world.job()).await;
    world.pause(paused).await;
    world.pass(hours(9)).await;
    for state in JobState::ALL {
        assert_eq!(world.purge(state, hours(1)).await, 0);
    }
}

pub async fn d_05_purge_is_bounded_and_takes_the_oldest(world: &World) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.succeeded(world.job()).await);
        world.pass(mins(1)).await;
    }
    world.pass(hours(1)).await;
    let purge = || world.store.purge(JobState::Succeeded, hours(1), 2);
    assert_eq!(purge().await.expect("purged"), 2);
    ids.reverse();
    assert_eq!(world.list(Filter::any()).await, ids[..3]);
    assert_eq!(purge().await.expect("purged"), 2);
    assert_eq!(purge().await.expect("purged"), 1);
}

pub async fn d_05_purge_takes_history_and_log_along(world: &World) {
    let run = world.run(world.job()).await;
    let mut notes = ratchet_store::model::RunNotes::default();
    notes.logs.push(super::notes::line(&run, "hello"));
    world.apply(run.succeed().notes(notes)).await;
    assert_eq!(world.logs(run.id()).await, ["hello"]);
    world.pass(hours(1)).await;
    world.purge(JobState::Succeeded, hours(1)).await;
    assert!(world.history(run.id()).await.is_empty());
    assert!(world.logs(run.id()).await.is_empty());
}

pub async fn a_01_purged_jobs_are_not_counted(world: &World) {
    world.succeeded(world.job()).await;
    world.pass(hours(1)).await;
    world.purge(JobState::Succeeded, hours(1)).await;
    assert_eq!(world.counts().await.state(JobState::Succeeded), 0);
}

pub async fn d_05_retried_job_is_not_purged_for_its_old_end(world: &World) {
    let id = world.failed(world.job()).await;
    world.pass(hours(9)).await;
    world.retry(id).await;
    let run = world.node().await.claim_one().await;
    world.apply(run.fail()).await;
    assert_eq!(world.purge(JobState::Failed, hours(1)).await, 0);
}
