//! Published outcomes: at least once, and in commit order for each job.

use ratchet_store::model::{
    Channel, Claimed, Delivery, DeliveryBody, EdgeTrigger, GroupKind, JobId, JobOutcome, JobState,
    OutcomeKind,
};

use crate::World;
use crate::fixture::{RunExt, SettlementExt, Sketch, secs};

fn outcome(delivery: &Delivery) -> &JobOutcome {
    match &delivery.body {
        DeliveryBody::Outcome(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

/// Takes undelivered outcomes and holds them for 30 seconds.
async fn reported(world: &World) -> Vec<Delivery> {
    world.take_deliveries(Channel::Outcomes, secs(30)).await
}

/// Returns the job and the run of each delivery.
fn ends(deliveries: &[Delivery]) -> Vec<(JobId, u64)> {
    let end = |delivery| {
        let outcome: &JobOutcome = outcome(delivery);
        (outcome.job_id, outcome.run)
    };
    deliveries.iter().map(end).collect()
}

async fn acknowledge(world: &World, deliveries: &[Delivery]) {
    let ids = deliveries.iter().map(|delivery| delivery.id).collect();
    world.store.ack_deliveries(ids).await.expect("acknowledged");
}

async fn succeeded(world: &World) -> Claimed {
    let run = world.run(world.job()).await;
    world.apply(run.succeed().telling(&run)).await;
    run
}

/// Runs a job that fails, is retried and succeeds.
async fn ended_twice(world: &World) -> JobId {
    let run = world.run(world.job()).await;
    world.apply(run.fail().telling(&run)).await;
    world.retry(run.id()).await;
    let again = world.node().await.claim(1).await.remove(0);
    assert_eq!(again.id(), run.id());
    world.apply(again.succeed().telling(&again)).await;
    run.id()
}

pub async fn i_04_outcome_is_handed_out_as_it_was_committed(world: &World) {
    let run = world.run(world.job()).await;
    let well = run.succeed().output(r#"{"sum":"42 ✓"}"#).took(secs(2)).telling(&run);
    let at = world.apply(well).await.at;
    let reported = world.take_deliveries(Channel::Outcomes, secs(30)).await;
    let wanted = JobOutcome::success(&run, Some(r#"{"sum":"42 ✓"}"#.to_owned()), secs(2));
    assert_eq!(reported.iter().map(outcome).collect::<Vec<_>>(), [&wanted.with_commit_time(at)]);
    acknowledge(world, &reported).await;

    let run = world.run(world.job()).await;
    world.apply(run.fail().telling(&run)).await;
    let reported = world.take_deliveries(Channel::Outcomes, secs(30)).await;
    let stored = world.get(run.id()).await.envelope.expect("an envelope");
    assert_eq!(outcome(&reported[0]).kind, OutcomeKind::Failure);
    assert_eq!(outcome(&reported[0]).envelope.as_deref(), Some(&stored), "with the same time");
}

pub async fn i_04_outcomes_of_different_jobs_come_in_commit_order(world: &World) {
    let mut wanted = Vec::new();
    for _ in 0..3 {
        wanted.push((succeeded(world).await.id(), 1));
    }
    assert_eq!(ends(&reported(world).await), wanted);
    assert!(reported(world).await.is_empty(), "they are held");
}

pub async fn i_04_next_outcome_of_a_job_waits_for_the_one_before(world: &World) {
    let id = ended_twice(world).await;
    let first = reported(world).await;
    assert_eq!(ends(&first), [(id, 1)]);
    assert!(reported(world).await.is_empty(), "the second waits although it is not held");
    acknowledge(world, &first).await;
    let second = reported(world).await;
    assert_eq!(ends(&second), [(id, 2)]);
    assert_eq!(outcome(&second[0]).generation, 2);
    acknowledge(world, &second).await;
    world.pass(secs(60)).await;
    assert!(reported(world).await.is_empty());
}

pub async fn i_04_outcome_that_was_not_acknowledged_comes_again_before_the_next(world: &World) {
    let id = ended_twice(world).await;
    let first = reported(world).await;
    world.pass(secs(31)).await;
    let again = reported(world).await;
    assert_eq!((ends(&again), again[0].id), (vec![(id, 1)], first[0].id));
}

pub async fn i_04_a_held_job_does_not_hold_up_others(world: &World) {
    let slow = ended_twice(world).await;
    assert_eq!(ends(&reported(world).await), [(slow, 1)]);
    let other = succeeded(world).await.id();
    assert_eq!(ends(&reported(world).await), [(other, 1)]);
}

pub async fn i_04_outcome_of_a_stale_run_is_not_told(world: &World) {
    let run = world.run(world.job()).await;
    world.cancel(run.id()).await;
    assert_eq!(world.stale(run.succeed().telling(&run)).await, Some(JobState::Canceled));
    let run = world.run(world.job()).await;
    let both = vec![run.succeed().telling(&run), run.succeed().telling(&run)];
    world.settle_all(both).await;
    assert_eq!(ends(&reported(world).await), [(run.id(), 1)], "once");
}

/// A batch may be settled by several code paths: successes, successes with additional data, and failures.
pub async fn i_04_outcomes_of_a_mixed_batch_are_all_told(world: &World) {
    let node = world.node().await;
    world.submit_all(world.jobs(4)).await;
    let runs = node.claim(4).await;
    let settlements = vec![
        runs[0].succeed().telling(&runs[0]),
        runs[1].fail().alerting().publishing().telling(&runs[1]),
        runs[2].succeed().spawning(world.jobs(1)).telling(&runs[2]),
        // This run publishes no outcome.
        runs[3].succeed(),
    ];
    world.settle_all(settlements).await;
    let mut reported = ends(&reported(world).await);
    reported.sort_unstable();
    let mut wanted: Vec<_> = runs[..3].iter().map(|run| (run.id(), 1)).collect();
    wanted.sort_unstable();
    assert_eq!(reported, wanted);
}

pub async fn i_04_outcome_of_a_step_is_told(world: &World) {
    let mut sketch = Sketch::new();
    let chain = sketch.group(world, GroupKind::Chain);
    let first = sketch.add(Some(chain), world.job());
    let second = sketch.add(Some(chain), world.job());
    sketch.edge(first, second, EdgeTrigger::Success);
    world.insert_graph(sketch).await;
    let node = world.node().await;
    for step in [first, second] {
        let run = node.claim(1).await.remove(0);
        assert_eq!(run.id(), step);
        world.apply(run.succeed().telling(&run)).await;
    }
    assert_eq!(ends(&reported(world).await), [(first, 1), (second, 1)]);
}

pub async fn i_04_outcome_outlives_its_job(world: &World) {
    let id = succeeded(world).await.id();
    world.pass(secs(60)).await;
    assert_eq!(world.purge(JobState::Succeeded, secs(1)).await, 1);
    assert_eq!(ends(&reported(world).await), [(id, 1)]);
}

pub async fn i_04_outcomes_and_dead_letters_are_apart(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.fail().alerting().publishing().telling(&run)).await;
    for channel in [Channel::Alerts, Channel::DeadLetters, Channel::Outcomes] {
        let handed_out = world.take_deliveries(channel, secs(30)).await;
        let of_this = matches!(
            (&handed_out[0].body, channel),
            (DeliveryBody::Alert(_), Channel::Alerts)
                | (DeliveryBody::DeadLetter(_), Channel::DeadLetters)
                | (DeliveryBody::Outcome(_), Channel::Outcomes)
        );
        assert!(of_this && handed_out.len() == 1, "{channel:?}: {handed_out:?}");
    }
}
