//! Manual retries of failed jobs.

use ratchet_store::model::{CommandReply, Filter, JobState, TerminalReason};

use crate::World;
use crate::fixture::{JobExt, RunExt, failure, hours, secs};

pub async fn d_04_manual_retry_starts_a_new_life(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.defer(secs(0))).await;
    let run = node.claim_one().await;
    world.apply(run.fail()).await;
    world.pass(hours(1)).await;
    let reply = world.retry(run.id()).await;
    assert_eq!(reply, CommandReply::Done { from: JobState::Failed, to: JobState::Pending });
    let job = world.get(run.id()).await;
    assert_eq!((job.state, job.generation), (JobState::Pending, 2));
    assert_eq!((job.attempts, job.crashes, job.deferrals), (0, 0, 0));
    assert_eq!((job.error, job.envelope, job.finished_at), (None, None, None));
}

pub async fn d_04_manual_retry_is_due_now(world: &World) {
    let node = world.node().await;
    let id = world.failed(world.job()).await;
    world.pass(hours(1)).await;
    let before = world.now().await;
    world.retry(id).await;
    assert!(world.get(id).await.due >= before);
    let run = node.claim_one().await;
    assert_eq!((run.id(), run.generation, run.attempt()), (id, 2, 1));
}

pub async fn d_04_error_is_kept_in_the_history(world: &World) {
    let id = world.failed(world.job()).await;
    world.retry(id).await;
    let history = world.history(id).await;
    assert_eq!((history.len(), history[0].generation), (1, 1));
    assert_eq!(history[0].error, Some(failure("boom")));
}

pub async fn d_04_retried_job_can_fail_and_be_retried_again(world: &World) {
    let node = world.node().await;
    let id = world.failed(world.job()).await;
    for generation in 2..5 {
        world.retry(id).await;
        let run = node.claim_one().await;
        assert_eq!(run.generation, generation);
        world.apply(run.fail()).await;
    }
    assert_eq!(world.get(id).await.attempts, 1);
}

pub async fn d_04_redrive_brings_back_what_fits(world: &World) {
    let mail = world.failed(world.job()).await;
    let bill = world.failed(world.job().named("bill")).await;
    let done = world.succeeded(world.job().named("bill")).await;
    let redriven = world.redrive(Filter::any().name("bill"), 10).await;
    assert_eq!((redriven.retried, redriven.key_taken), (vec![bill], vec![]));
    assert_eq!(world.state(bill).await, JobState::Pending);
    assert_eq!(world.state(mail).await, JobState::Failed);
    assert_eq!(world.state(done).await, JobState::Succeeded);
}

pub async fn d_04_redrive_starts_a_new_life(world: &World) {
    let id = world.failed(world.job()).await;
    world.redrive(Filter::any(), 10).await;
    let job = world.get(id).await;
    assert_eq!((job.generation, job.attempts, job.envelope), (2, 0, None));
}

pub async fn d_04_redrive_by_what_went_wrong(world: &World) {
    let id = world.failed(world.job()).await;
    let other = Filter::any().reason(TerminalReason::Poisoned);
    assert!(world.redrive(other, 10).await.retried.is_empty());
    let unlike = Filter::any().fingerprint("bang");
    assert!(world.redrive(unlike, 10).await.retried.is_empty());
    let alike = Filter::any().fingerprint("boom").reason(TerminalReason::RetryExhausted);
    assert_eq!(world.redrive(alike, 10).await.retried, [id]);
}

pub async fn d_04_redrive_is_bounded_and_takes_the_oldest(world: &World) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(world.failed(world.job()).await);
    }
    assert_eq!(world.redrive(Filter::any(), 2).await.retried, ids[..2]);
    assert_eq!(world.redrive(Filter::any(), 2).await.retried, ids[2..4]);
    assert_eq!(world.redrive(Filter::any(), 2).await.retried, ids[4..]);
}

pub async fn d_04_redrive_repeats_without_doubling(world: &World) {
    world.failed(world.job()).await;
    assert_eq!(world.redrive(Filter::any(), 10).await.retried.len(), 1);
    assert_eq!(world.redrive(Filter::any(), 10).await.retried.len(), 0);
    assert_eq!(world.node().await.claim(10).await.len(), 1);
}

pub async fn d_04_redrive_passes_over_taken_keys(world: &World) {
    let blocked = world.failed(world.job().key("order")).await;
    let free = world.failed(world.job()).await;
    let holder = world.submit(world.job().key("order")).await;
    let redriven = world.redrive(Filter::any(), 1).await;
    assert_eq!((redriven.retried, redriven.key_taken), (vec![free], vec![blocked]));
    assert_eq!(world.state(blocked).await, JobState::Failed);
    assert_eq!(world.state(holder).await, JobState::Pending);
}

pub async fn d_04_redrive_gives_a_key_to_one_job_only(world: &World) {
    let first = world.failed(world.job().key("order")).await;
    let second = world.failed(world.job().key("order")).await;
    let redriven = world.redrive(Filter::any(), 10).await;
    assert_eq!((redriven.retried, redriven.key_taken), (vec![first], vec![second]));
}
