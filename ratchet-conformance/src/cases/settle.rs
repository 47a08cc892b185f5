//! Settling a run: success, retry, failure.

use ratchet_store::model::{JobState, TerminalReason};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, failure, secs};

pub async fn l_08_output_is_kept(world: &World) {
    let run = world.run(world.job()).await;
    let applied = world.apply(run.succeed().output(r#"{"receipt":"é"}"#)).await;
    assert_eq!((applied.state, applied.due), (JobState::Succeeded, None));
    let job = world.get(run.id()).await;
    assert_eq!(job.state, JobState::Succeeded);
    assert_eq!(job.output.as_deref(), Some(r#"{"receipt":"é"}"#));
}

pub async fn l_08_success_without_output(world: &World) {
    let id = world.succeeded(world.job()).await;
    let job = world.get(id).await;
    assert_eq!((job.state, job.output), (JobState::Succeeded, None));
}

pub async fn l_07_times_of_a_run_are_recorded(world: &World) {
    let id = world.submit(world.job()).await;
    let node = world.node().await;
    world.pass(secs(5)).await;
    let run = node.claim_one().await;
    world.pass(secs(7)).await;
    let applied = world.apply(run.succeed().took(secs(6))).await;
    let job = world.get(id).await;
    assert_eq!((job.started_at, job.finished_at), (Some(run.claimed_at), Some(applied.at)));
    assert_eq!(job.duration, Some(secs(6)));
    assert_eq!(job.queue_wait, Some(run.queue_wait()));
    let seconds = applied.at.duration_since(run.claimed_at).as_secs();
    assert!((7..20).contains(&seconds), "{seconds}");
}

pub async fn l_07_a_new_run_has_no_duration_yet(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.retry(secs(0)).took(secs(3))).await;
    assert_eq!(world.get(run.id()).await.duration, Some(secs(3)));
    node.claim_one().await;
    assert_eq!(world.get(run.id()).await.duration, None);
}

pub async fn e_01_retry_counts_the_attempt(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.retry(secs(10))).await;
    let job = world.get(run.id()).await;
    assert_eq!((job.state, job.attempts, job.crashes), (JobState::Pending, 1, 0));
    assert_eq!((job.finished_at, job.envelope), (None, None));
}

pub async fn e_05_delay_of_a_retry_lives_in_the_store(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let applied = world.apply(run.retry(secs(60))).await;
    assert_eq!(applied.due, Some(applied.at + secs(60)));
    assert_eq!(world.get(run.id()).await.due, applied.at + secs(60));
    world.pass(secs(30)).await;
    assert!(node.claim(1).await.is_empty());
    world.pass(secs(30)).await;
    assert_eq!(node.claim_ids(1).await, [run.id()]);
}

pub async fn e_05_retry_without_delay_is_due_at_once(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.retry(secs(0))).await;
    assert_eq!(node.claim_ids(1).await, [run.id()]);
}

pub async fn e_05_retry_keeps_the_failure(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.retry(secs(1))).await;
    assert_eq!(world.get(run.id()).await.error, Some(failure("boom")));
}

pub async fn e_05_success_keeps_the_last_failure_of_its_life(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(run.retry(secs(0))).await;
    let second = node.claim_one().await;
    world.apply(second.succeed()).await;
    let job = world.get(run.id()).await;
    assert_eq!((job.attempts, job.error), (1, Some(failure("boom"))));
}

pub async fn e_08_endless_delay_does_not_overflow(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.retry(std::time::Duration::MAX)).await;
    assert_eq!(world.state(run.id()).await, JobState::Pending);
    assert!(world.node().await.claim(1).await.is_empty());
}

pub async fn d_01_failed_job_carries_its_envelope(world: &World) {
    let run = world.run(world.job().tenant("acme").queue("default")).await;
    let applied = world.apply(run.fail()).await;
    assert_eq!((applied.state, applied.due), (JobState::Failed, None));
    let job = world.get(run.id()).await;
    let mut wanted = run.envelope("boom");
    wanted.at = applied.at;
    assert_eq!((job.state, job.attempts), (JobState::Failed, 1));
    assert_eq!(job.envelope, Some(wanted));
    assert_eq!(job.error, Some(failure("boom")));
    assert_eq!(job.finished_at, Some(applied.at));
}

pub async fn d_01_failed_job_is_not_claimed_again(world: &World) {
    world.failed(world.job()).await;
    assert!(world.node().await.claim(10).await.is_empty());
}

pub async fn d_02_reason_reads_back(world: &World) {
    use TerminalReason as Reason;
    let node = world.node().await;
    for reason in [
        Reason::RetryExhausted,
        Reason::NonRetryable,
        Reason::PolicyRefused,
        Reason::Invalid,
        Reason::Poisoned,
        Reason::RejectedSignature,
        Reason::TimedOut,
        Reason::DeferralExhausted,
    ] {
        let run = world.run_on(&node, world.job()).await;
        let mut settlement = run.fail();
        if let ratchet_store::model::Verdict::Fail { envelope, .. } = &mut settlement.verdict {
            envelope.reason = reason;
            envelope.explanation = Some("said so".to_owned());
        }
        world.apply(settlement).await;
        let envelope = world.get(run.id()).await.envelope.expect("an envelope");
        assert_eq!(envelope.reason, reason);
        assert_eq!(envelope.explanation.as_deref(), Some("said so"));
    }
}

pub async fn p_02_poisoned_job_keeps_its_crashes(world: &World) {
    let run = world.run(world.job()).await;
    let mut settlement = run.fail();
    if let ratchet_store::model::Verdict::Fail { attempts, crashes, .. } = &mut settlement.verdict {
        (*attempts, *crashes) = (0, 11);
    }
    world.apply(settlement).await;
    let job = world.get(run.id()).await;
    assert_eq!((job.attempts, job.crashes), (0, 11));
}
