//! Orphans: jobs whose node's lease has expired.

use ratchet_store::model::{AttemptOutcome, ClaimRequest, Heartbeat, JobState, Verdict};

use crate::World;
use crate::fixture::{JobExt, RunExt, hours, secs};

const LEASE: std::time::Duration = secs(15);

pub async fn p_01_running_long_does_not_orphan(world: &World) {
    let node = world.mortal(LEASE).await;
    world.run_on(&node, world.job()).await;
    for _ in 0..10 {
        world.pass(secs(5)).await;
        let renewed = node.heartbeat(LEASE).await;
        assert!(matches!(renewed, Heartbeat::Renewed { .. }), "{renewed:?}");
        assert!(world.orphans().await.is_empty());
    }
}

pub async fn p_01_lapsed_lease_orphans(world: &World) {
    let node = world.mortal(LEASE).await;
    let run = world.run_on(&node, world.job().traced()).await;
    world.pass(LEASE).await;
    let orphans = world.orphans().await;
    assert_eq!(orphans.len(), 1);
    assert_eq!(orphans[0].claimed, run);
}

pub async fn p_01_listing_orphans_moves_nothing(world: &World) {
    let node = world.mortal(LEASE).await;
    let run = world.run_on(&node, world.job()).await;
    let before = world.get(run.id()).await;
    world.pass(LEASE).await;
    assert_eq!(world.orphans().await, world.orphans().await);
    assert_eq!(world.get(run.id()).await, before);
}

pub async fn p_02_rescue_brings_it_back_without_an_attempt(world: &World) {
    let node = world.mortal(LEASE).await;
    let run = world.run_on(&node, world.job()).await;
    world.pass(LEASE).await;
    let orphan = world.orphans().await.remove(0).claimed;
    let mut rescue = orphan.rescue(1);
    rescue.verdict = Verdict::Rescue { delay: secs(30), crashes: 1 };
    let applied = world.apply(rescue).await;
    assert_eq!(applied.due, Some(applied.at + secs(30)));
    let job = world.get(run.id()).await;
    assert_eq!((job.state, job.attempts, job.crashes), (JobState::Pending, 0, 1));
    assert!(world.orphans().await.is_empty());
    let other = world.node().await;
    assert!(other.claim(1).await.is_empty());
    world.pass(secs(30)).await;
    assert_eq!(other.claim_one().await.crashes, 1);
}

pub async fn p_02_crash_leaves_a_line(world: &World) {
    let node = world.mortal(LEASE).await;
    let run = world.run_on(&node, world.job()).await;
    world.pass(LEASE).await;
    world.apply(run.rescue(1)).await;
    let history = world.history(run.id()).await;
    assert_eq!((history[0].outcome, history[0].node), (AttemptOutcome::Crashed, node.id));
}

pub async fn p_02_whether_the_handler_started_is_told(world: &World) {
    let node = world.mortal(LEASE).await;
    let started = world.run_on(&node, world.job()).await;
    world.submit(world.job()).await;
    node.ask(ClaimRequest { starting: false, ..node.request(1) }).await;
    world.pass(LEASE).await;
    let orphans = world.orphans().await;
    assert_eq!(orphans.len(), 2);
    for orphan in orphans {
        assert_eq!(orphan.started, orphan.claimed.id() == started.id());
    }
}

pub async fn p_04_leaving_orphans_at_once(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    node.leave().await;
    assert_eq!(world.orphans().await[0].claimed.id(), run.id());
}

pub async fn p_05_orphans_come_in_bounded_batches(world: &World) {
    let node = world.mortal(LEASE).await;
    world.submit_all(world.jobs(5)).await;
    node.claim(5).await;
    world.pass(LEASE).await;
    let mut rescued = 0;
    for wanted in [2, 2, 1, 0] {
        let orphans = world.store.orphans(2).await.expect("orphans are listed");
        assert_eq!(orphans.len(), wanted);
        for orphan in orphans {
            world.apply(orphan.claimed.rescue(1)).await;
            rescued += 1;
        }
    }
    assert_eq!(rescued, 5);
}

pub async fn p_05_only_the_dead_are_orphaned(world: &World) {
    let (dead, alive) = (world.mortal(LEASE).await, world.mortal(hours(1)).await);
    let lost = world.run_on(&dead, world.job()).await;
    world.run_on(&alive, world.job()).await;
    world.pass(LEASE).await;
    let orphans = world.orphans().await;
    assert_eq!(orphans.len(), 1);
    assert_eq!(orphans[0].claimed.id(), lost.id());
}

pub async fn p_05_settled_and_waiting_jobs_are_not_orphaned(world: &World) {
    let node = world.mortal(LEASE).await;
    let done = world.run_on(&node, world.job()).await;
    world.apply(done.succeed()).await;
    let retried = world.run_on(&node, world.job()).await;
    world.apply(retried.retry(hours(1))).await;
    let canceled = world.run_on(&node, world.job()).await;
    world.cancel(canceled.id()).await;
    world.pass(LEASE).await;
    assert!(world.orphans().await.is_empty());
}
