//! The history of a job: one line per ended run.

use ratchet_store::model::{AttemptOutcome, JobState};

use crate::World;
use crate::fixture::{RunExt, SettlementExt, failure, secs};

pub async fn l_07_history_tells_every_run(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, world.job()).await;
    world.apply(first.retry(secs(0))).await;
    let second = node.claim_one().await;
    world.apply(second.fail()).await;
    world.retry(first.id()).await;
    let third = node.claim_one().await;
    world.apply(third.succeed()).await;
    let history = world.history(first.id()).await;
    let lines: Vec<_> = history
        .iter()
        .map(|line| (line.run, line.attempt, line.generation, line.outcome))
        .collect();
    assert_eq!(
        lines,
        [
            (1, 1, 1, AttemptOutcome::Failure),
            (2, 2, 1, AttemptOutcome::Failure),
            (3, 1, 2, AttemptOutcome::Success),
        ]
    );
}

pub async fn l_07_line_tells_node_times_and_error(world: &World) {
    let node = world.node().await;
    let id = world.submit(world.job()).await;
    world.pass(secs(4)).await;
    let run = node.claim_one().await;
    world.pass(secs(7)).await;
    let applied = world.apply(run.retry(secs(1)).took(secs(6))).await;
    let line = world.history(id).await.remove(0);
    assert_eq!((line.node, line.started_at), (node.id, run.claimed_at));
    assert_eq!((line.finished_at, line.duration), (applied.at, secs(6)));
    assert_eq!(line.queue_wait, run.queue_wait());
    assert_eq!(line.error, Some(failure("boom")));
}

pub async fn l_07_terminal_failure_is_in_the_history(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.fail_with("bang")).await;
    let line = world.history(run.id()).await.remove(0);
    assert_eq!(line.error, Some(failure("bang")));
}

pub async fn l_07_outcome_is_told_as_it_was_given(world: &World) {
    let node = world.node().await;
    for outcome in [
        AttemptOutcome::Exception,
        AttemptOutcome::Invalid,
        AttemptOutcome::Rejected,
        AttemptOutcome::BreakerOpen,
    ] {
        let run = world.run_on(&node, world.job()).await;
        let mut settlement = run.fail();
        settlement.outcome = outcome;
        world.apply(settlement).await;
        assert_eq!(world.history(run.id()).await[0].outcome, outcome);
    }
}

pub async fn l_07_waiting_job_has_no_history(world: &World) {
    let id = world.submit(world.job()).await;
    assert!(world.history(id).await.is_empty());
    assert!(world.history(world.unknown_id()).await.is_empty());
}

pub async fn l_07_running_run_is_not_in_the_history_yet(world: &World) {
    let run = world.run(world.job()).await;
    assert!(world.history(run.id()).await.is_empty());
}

pub async fn e_12_domain_failure_is_a_success_of_its_own_kind(world: &World) {
    let run = world.run(world.job()).await;
    let mut settlement = run.succeed().output("{\"Err\":1}").telling(&run);
    settlement.outcome = AttemptOutcome::DomainFailure;
    let applied = world.apply(settlement).await;
    assert_eq!(applied.state, JobState::Succeeded);
    let job = world.get(run.id()).await;
    assert_eq!((job.state, job.attempts), (JobState::Succeeded, 0));
    assert_eq!(job.output.as_deref(), Some("{\"Err\":1}"));
    let history = world.history(run.id()).await;
    let lines: Vec<_> = history.iter().map(|line| (line.run, line.outcome)).collect();
    assert_eq!(lines, [(1, AttemptOutcome::DomainFailure)]);
}
