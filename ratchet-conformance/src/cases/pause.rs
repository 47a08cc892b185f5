//! Pausing and resuming jobs.

use ratchet_store::model::{Command, CommandError, CommandReply, Filter, JobState, TransitionKind};

use crate::World;
use crate::fixture::{JobExt, hours};

pub async fn l_02_paused_job_is_not_claimed(world: &World) {
    let id = world.submit(world.job()).await;
    let reply = world.pause(id).await;
    assert_eq!(reply, CommandReply::Done { from: JobState::Pending, to: JobState::Paused });
    let job = world.get(id).await;
    assert_eq!((job.state, job.paused_from), (JobState::Paused, Some(JobState::Pending)));
    assert!(world.node().await.claim(1).await.is_empty());
}

pub async fn l_02_pausing_twice_changes_nothing(world: &World) {
    let id = world.submit(world.job()).await;
    world.pause(id).await;
    let before = world.get(id).await;
    assert_eq!(world.pause(id).await, CommandReply::Unchanged { state: JobState::Paused });
    assert_eq!(world.get(id).await, before);
}

pub async fn l_02_running_job_cannot_be_paused(world: &World) {
    let run = world.run(world.job()).await;
    let before = world.get(run.id()).await;
    match world.command(Command::Pause(run.id())).await {
        Err(CommandError::IllegalTransition { job, state, verb }) => {
            assert_eq!((job, state, verb), (run.id(), JobState::Running, TransitionKind::Pause));
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(world.get(run.id()).await, before);
}

pub async fn l_02_resumed_job_goes_on(world: &World) {
    let id = world.submit(world.job()).await;
    let mut wanted = world.get(id).await;
    world.pause(id).await;
    let reply = world.resume(id).await;
    assert_eq!(reply, CommandReply::Done { from: JobState::Paused, to: JobState::Pending });
    wanted.version += 2;
    assert_eq!(world.get(id).await, wanted);
    assert_eq!(world.node().await.claim_ids(1).await, [id]);
}

pub async fn l_02_resumed_job_keeps_its_due_time(world: &World) {
    let id = world.submit(world.job().due_in(hours(2))).await;
    world.pause(id).await;
    world.resume(id).await;
    let node = world.node().await;
    assert!(node.claim(1).await.is_empty());
    world.pass(hours(2)).await;
    assert_eq!(node.claim_ids(1).await, [id]);
}

pub async fn l_02_failed_job_resumes_as_failed(world: &World) {
    let id = world.failed(world.job()).await;
    let mut wanted = world.get(id).await;
    world.pause(id).await;
    assert_eq!(world.get(id).await.paused_from, Some(JobState::Failed));
    let reply = world.resume(id).await;
    assert_eq!(reply, CommandReply::Done { from: JobState::Paused, to: JobState::Failed });
    wanted.version += 2;
    assert_eq!(world.get(id).await, wanted);
}

pub async fn l_02_paused_failed_job_is_not_cancelable(world: &World) {
    let id = world.paused_failed(world.job()).await;
    let before = world.get(id).await;
    let cause = ratchet_store::model::CancelCause::Requested;
    match world.command(Command::Cancel(id, cause)).await {
        Err(CommandError::IllegalTransition { job, state, verb }) => {
            assert_eq!((job, state, verb), (id, JobState::Paused, TransitionKind::Cancel));
        }
        answer => panic!("{answer:?}"),
    }
    assert_eq!(world.get(id).await, before);
}

pub async fn l_02_paused_failed_job_is_not_redriven(world: &World) {
    let id = world.paused_failed(world.job()).await;
    for filter in [Filter::any(), Filter::any().state(JobState::Paused)] {
        assert!(world.redrive(filter, 10).await.retried.is_empty());
    }
    assert_eq!(world.state(id).await, JobState::Paused);
}

pub async fn l_02_paused_failed_job_is_not_purged(world: &World) {
    let id = world.paused_failed(world.job()).await;
    world.pass(hours(100)).await;
    for state in JobState::ALL {
        assert_eq!(world.purge(state, hours(1)).await, 0);
    }
    assert_eq!(world.state(id).await, JobState::Paused);
}

pub async fn l_02_resumed_failed_job_is_purged(world: &World) {
    let id = world.paused_failed(world.job()).await;
    world.resume(id).await;
    world.pass(hours(2)).await;
    assert_eq!(world.purge(JobState::Failed, hours(1)).await, 1);
}
