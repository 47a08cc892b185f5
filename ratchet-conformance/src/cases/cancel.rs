//! Canceling jobs.

use ratchet_store::model::{
    AttemptOutcome, CancelCause, Command, CommandError, CommandReply, Heartbeat, JobState, Token,
};

use crate::World;
use crate::fixture::{JobExt, Node, RunExt, SettlementExt, days, hours, secs};

async fn reported(node: &Node) -> Vec<Token> {
    match node.heartbeat(days(10_000)).await {
        Heartbeat::Renewed { canceled, .. } => canceled,
        Heartbeat::Lost => panic!("the lease should hold"),
    }
}

async fn is_free(world: &World, key: &str) -> bool {
    world.try_submit(world.job().key(key)).await.is_ok()
}

pub async fn l_01_pending_job_is_canceled(world: &World) {
    let id = world.submit(world.job()).await;
    let reply = world.cancel(id).await;
    assert_eq!(reply, CommandReply::Done { from: JobState::Pending, to: JobState::Canceled });
    let job = world.get(id).await;
    assert_eq!((job.state, job.canceled), (JobState::Canceled, Some(CancelCause::Requested)));
    assert!(job.finished_at.is_some());
    assert!(world.node().await.claim(1).await.is_empty());
}

pub async fn l_01_future_job_is_canceled(world: &World) {
    let id = world.submit(world.job().due_in(hours(1))).await;
    world.cancel(id).await;
    world.pass(hours(1)).await;
    assert!(world.node().await.claim(1).await.is_empty());
}

pub async fn l_01_paused_job_is_canceled(world: &World) {
    let id = world.submit(world.job()).await;
    world.pause(id).await;
    world.cancel(id).await;
    let job = world.get(id).await;
    assert_eq!((job.state, job.paused_from), (JobState::Canceled, None));
}

pub async fn l_01_cause_of_a_cancel_is_kept(world: &World) {
    let causes =
        [CancelCause::Requested, CancelCause::UpstreamFailed, CancelCause::UpstreamCanceled];
    for cause in causes {
        let id = world.submit(world.job()).await;
        world.command(Command::Cancel(id, cause)).await.expect("a legal cancel");
        assert_eq!(world.get(id).await.canceled, Some(cause));
    }
}

pub async fn l_01_unknown_job_cannot_be_canceled(world: &World) {
    let id = world.unknown_id();
    let answer = world.command(Command::Cancel(id, CancelCause::Requested)).await;
    assert!(matches!(answer, Err(CommandError::NotFound(job)) if job == id), "{answer:?}");
}

pub async fn l_03_terminal_job_is_not_canceled(world: &World) {
    let done = world.succeeded(world.job()).await;
    let failed = world.failed(world.job()).await;
    let canceled = world.canceled(world.job()).await;
    for id in [done, failed, canceled] {
        let before = world.get(id).await;
        assert_eq!(world.cancel(id).await, CommandReply::Unchanged { state: before.state });
        assert_eq!(world.get(id).await, before);
    }
}

pub async fn l_04_cancel_of_a_run_takes_effect_at_once(world: &World) {
    let run = world.run(world.job()).await;
    let reply = world.cancel(run.id()).await;
    assert_eq!(reply, CommandReply::Done { from: JobState::Running, to: JobState::Canceled });
    assert_eq!(world.state(run.id()).await, JobState::Canceled);
}

pub async fn l_04_result_of_a_canceled_run_is_discarded(world: &World) {
    let run = world.run(world.job()).await;
    world.cancel(run.id()).await;
    let before = world.get(run.id()).await;
    let late = run.succeed().output("1").spawning(vec![world.job()]);
    assert_eq!(world.stale(late).await, Some(JobState::Canceled));
    assert_eq!(world.get(run.id()).await, before);
}

pub async fn l_04_node_hears_of_it_with_its_heartbeat(world: &World) {
    let (node, other) = (world.node().await, world.node().await);
    let run = world.run_on(&node, world.job()).await;
    assert!(reported(&node).await.is_empty());
    world.cancel(run.id()).await;
    assert_eq!(reported(&node).await, [run.token]);
    assert_eq!(reported(&node).await, [run.token]);
    assert!(reported(&other).await.is_empty());
}

pub async fn l_04_settling_the_run_ends_the_reminder(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.cancel(run.id()).await;
    world.stale(run.succeed()).await;
    assert!(reported(&node).await.is_empty());
}

pub async fn l_04_letting_go_ends_the_reminder(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.cancel(run.id()).await;
    world.release_holds(run.token).await;
    assert!(reported(&node).await.is_empty());
}

pub async fn l_07_canceled_run_leaves_a_line(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.pass(secs(60)).await;
    world.cancel(run.id()).await;
    world.stale(run.succeed()).await;
    let history = world.history(run.id()).await;
    assert_eq!(history.len(), 1);
    assert_eq!((history[0].outcome, history[0].node), (AttemptOutcome::Canceled, node.id));
    assert!(history[0].duration >= secs(60), "{:?}", history[0].duration);
    assert_eq!(world.get(run.id()).await.duration, Some(history[0].duration));
}

pub async fn q_02_canceled_run_keeps_its_business_key(world: &World) {
    let run = world.run(world.job().key("order")).await;
    world.cancel(run.id()).await;
    assert!(!is_free(world, "order").await);
    world.orphans().await;
    assert!(!is_free(world, "order").await);
}

pub async fn q_02_settling_a_canceled_run_frees_its_key(world: &World) {
    let run = world.run(world.job().key("order")).await;
    world.cancel(run.id()).await;
    world.stale(run.succeed()).await;
    assert!(is_free(world, "order").await);
}

pub async fn q_02_letting_go_of_a_canceled_run_frees_its_key(world: &World) {
    let run = world.run(world.job().key("order")).await;
    world.cancel(run.id()).await;
    world.release_holds(run.token).await;
    assert!(is_free(world, "order").await);
}

pub async fn q_02_canceled_run_that_lingers_keeps_its_key(world: &World) {
    let run = world.run(world.job().key("order")).await;
    world.cancel(run.id()).await;
    world.stale(run.fail().lingering()).await;
    assert!(!is_free(world, "order").await);
    world.release_holds(run.token).await;
    assert!(is_free(world, "order").await);
}

pub async fn q_02_only_the_runs_own_token_lets_go(world: &World) {
    let run = world.run(world.job().key("order")).await;
    world.cancel(run.id()).await;
    let mut forged = run.clone();
    forged.token = world.foreign(run.token);
    world.stale(forged.succeed()).await;
    world.release_holds(forged.token).await;
    assert!(!is_free(world, "order").await);
}

pub async fn q_02_end_of_the_node_frees_the_key_of_a_canceled_run(world: &World) {
    let node = world.mortal(secs(15)).await;
    let run = world.run_on(&node, world.job().key("order")).await;
    world.cancel(run.id()).await;
    world.pass(secs(15)).await;
    world.orphans().await;
    assert!(is_free(world, "order").await);
}

pub async fn q_02_letting_go_of_a_live_run_changes_nothing(world: &World) {
    let run = world.run(world.job().key("order").at_most(1, "k")).await;
    world.submit(world.job().at_most(1, "k")).await;
    world.release_holds(run.token).await;
    assert!(!is_free(world, "order").await);
    assert!(world.node().await.claim(5).await.is_empty());
    world.apply(run.succeed()).await;
}
