//! Suspects: jobs that have crashed their workers run in small numbers, then by themselves.

use ratchet_store::model::{ClaimReply, ClaimRequest, Claimed, JobId, NewJob, Suspects};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

/// Creates a due job that has crashed its worker `crashes` times.
async fn crashed(world: &World, job: NewJob, crashes: u32) -> JobId {
    let id = world.submit(job.clone()).await;
    let node = world.node().await.serving(&[&job.spec.queue]);
    let run = node.knowing(&[(&job.spec.name, 1)]).claim_one().await;
    world.apply(run.rescue(crashes)).await;
    world.pass(secs(1)).await;
    id
}

/// Creates a due job for each number of crashes.
async fn all_crashed(world: &World, crashes: &[u32]) {
    for _ in crashes {
        world.submit(world.job()).await;
    }
    let runs = world.node().await.claim(u32::MAX).await;
    assert_eq!(runs.len(), crashes.len());
    for (run, crashes) in runs.iter().zip(crashes) {
        world.apply(run.rescue(*crashes)).await;
    }
    world.pass(secs(1)).await;
}

fn ids(reply: &ClaimReply) -> Vec<JobId> {
    reply.jobs.iter().map(Claimed::id).collect()
}

pub async fn p_02_busy_worker_passes_over_a_crashed_job(world: &World) {
    crashed(world, world.job(), 5).await;
    let innocent = world.submit(world.job()).await;
    let node = world.node().await;
    let reply = node.ask(node.request(10)).await;
    assert_eq!(ids(&reply), [innocent]);
    assert!(reply.isolated_waiting);
}

pub async fn p_02_idle_worker_gets_a_crashed_job_alone(world: &World) {
    let isolated = crashed(world, world.job(), 5).await;
    world.submit(world.job()).await;
    let reply = world.node().await.claim_idle(10).await;
    assert_eq!(ids(&reply), [isolated]);
    assert_eq!(reply.jobs[0].crashes, 5);
}

pub async fn p_02_crashed_job_waits_for_its_turn(world: &World) {
    let before = world.submit(world.job().queue("b")).await;
    world.pass(secs(1)).await;
    let isolated = crashed(world, world.job(), 5).await;
    let after = world.submit(world.job()).await;
    let node = world.node().await.serving(&["default", "b"]);
    let reply = node.claim_idle(10).await;
    assert_eq!(ids(&reply), [after, before]);
    assert!(reply.isolated_waiting);
    assert_eq!(ids(&node.claim_idle(10).await), [isolated]);
}

pub async fn p_02_first_means_first_of_all_queues(world: &World) {
    let isolated = crashed(world, world.job().queue("b"), 5).await;
    world.submit(world.job().queue("a")).await;
    let reply = world.node().await.serving(&["a", "b"]).claim_idle(10).await;
    assert_eq!(ids(&reply), [isolated]);
}

pub async fn p_02_two_crashed_jobs_do_not_run_together(world: &World) {
    let first = crashed(world, world.job(), 5).await;
    let second = crashed(world, world.job().named("bill"), 6).await;
    let node = world.node().await;
    assert_eq!(ids(&node.claim_idle(10).await), [first]);
    assert_eq!(ids(&node.claim_idle(10).await), [second]);
}

pub async fn p_06_two_crashes_change_nothing(world: &World) {
    all_crashed(world, &[2; 10]).await;
    let node = world.node().await;
    let reply = node.ask(node.request(10)).await;
    assert_eq!(reply.jobs.len(), 10);
    assert!(!reply.isolated_waiting && !reply.suspects_waiting);
}

pub async fn p_06_a_claim_returns_a_limited_number_of_suspects(world: &World) {
    all_crashed(world, &[3, 4, 3, 4, 3, 4]).await;
    let innocent = world.submit(world.job()).await;
    let node = world.node().await;
    let reply = node.ask(ClaimRequest { suspects: Suspects::none(5), ..node.request(10) }).await;
    assert_eq!(ids(&reply), [innocent]);
    assert!(reply.suspects_waiting && !reply.isolated_waiting);
    let suspects = Suspects { few: 2, ..Suspects::beside_others(5) };
    let reply = node.ask(ClaimRequest { suspects, ..node.request(10) }).await;
    let mut crashes: Vec<_> = reply.jobs.iter().map(|job| job.crashes).collect();
    crashes.sort_unstable();
    assert_eq!(crashes, [3, 3, 4]);
    assert!(reply.suspects_waiting);
    assert_eq!(node.claim(10).await.len(), 2);
    let reply = node.ask(node.request(10)).await;
    assert_eq!(reply.jobs.len(), 1);
    assert!(!reply.suspects_waiting);
}

pub async fn p_02_crashed_job_of_an_unknown_name_is_not_reported(world: &World) {
    crashed(world, world.job().named("strange"), 5).await;
    let node = world.node().await;
    let reply = node.ask(node.request(10)).await;
    assert!(!reply.isolated_waiting && reply.jobs.is_empty(), "{reply:?}");
}

pub async fn p_02_manual_retry_forgives_crashes(world: &World) {
    let node = world.node().await;
    let id = crashed(world, world.job(), 5).await;
    let run = node.claim_idle(1).await.jobs.remove(0);
    world.apply(run.fail()).await;
    world.retry(id).await;
    assert_eq!(node.claim_one().await.crashes, 0);
}
