//! Every command in every state: an illegal transition must be rejected without a change.

use ratchet_store::model::{
    CancelCause, Command, CommandError, CommandReply, Due, JobId, JobState, Placement,
    TransitionKind,
};

use crate::World;
use crate::fixture::{RunExt, secs};

/// The state of a job. Paused jobs are distinguished by the state they were paused in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Pending,
    Running,
    Succeeded,
    Failed,
    Canceled,
    PausedPending,
    PausedFailed,
}

use At::{Canceled, Failed, PausedFailed, PausedPending, Pending, Running, Succeeded};

const EVERYWHERE: [At; 7] =
    [Pending, Running, Succeeded, Failed, Canceled, PausedPending, PausedFailed];

async fn bring(world: &World, at: At) -> JobId {
    let job = world.job();
    match at {
        Pending => world.submit(job).await,
        Running => world.run(job).await.id(),
        Succeeded => world.succeeded(job).await,
        Failed => world.failed(job).await,
        Canceled => world.canceled(job).await,
        PausedPending => {
            let id = world.submit(job).await;
            world.pause(id).await;
            id
        }
        PausedFailed => world.paused_failed(job).await,
    }
}

/// Runs a command in every state. It must apply the transitions in `moves`, do nothing in the states in `idle`, and be
/// rejected in all others.
async fn everywhere(
    world: &World,
    verb: TransitionKind,
    command: impl Fn(JobId) -> Command,
    moves: &[(At, JobState)],
    idle: &[At],
) {
    for at in EVERYWHERE {
        let id = bring(world, at).await;
        let before = world.get(id).await;
        let answer = world.command(command(id)).await;
        let after = world.get(id).await;
        if let Some((_, to)) = moves.iter().find(|(from, _)| *from == at) {
            let done = CommandReply::Done { from: before.state, to: *to };
            assert_eq!(answer.expect("legal"), done, "{verb} when {at:?}");
            assert_eq!((after.state, after.version), (*to, before.version + 1), "{at:?}");
        } else {
            assert_eq!(after, before, "{verb} when {at:?} changed something");
            match answer {
                Ok(CommandReply::Unchanged { state }) => {
                    assert!(idle.contains(&at), "{verb} when {at:?} should be refused");
                    assert_eq!(state, before.state);
                }
                Err(CommandError::IllegalTransition { job, state, verb: reported }) => {
                    assert!(!idle.contains(&at), "{verb} when {at:?} should do nothing");
                    assert_eq!((job, state, reported), (id, before.state, verb), "{at:?}");
                }
                other => panic!("{verb} when {at:?}: {other:?}"),
            }
        }
        if !after.state.is_terminal() {
            clear(world, id).await;
        }
    }
}

/// Cancels a job so that it does not interfere with the next one.
async fn clear(world: &World, id: JobId) {
    let _ = world.command(Command::Cancel(id, CancelCause::Requested)).await;
}

pub async fn l_01_pause_from_every_state(world: &World) {
    let moves = [(Pending, JobState::Paused), (Failed, JobState::Paused)];
    everywhere(
        world,
        TransitionKind::Pause,
        Command::Pause,
        &moves,
        &[PausedPending, PausedFailed],
    )
    .await;
}

pub async fn l_01_resume_from_every_state(world: &World) {
    let moves = [(PausedPending, JobState::Pending), (PausedFailed, JobState::Failed)];
    everywhere(world, TransitionKind::Resume, Command::Resume, &moves, &[]).await;
}

pub async fn l_01_cancel_from_every_state(world: &World) {
    let cancel = |id| Command::Cancel(id, CancelCause::Requested);
    let moves = [Pending, Running, PausedPending].map(|at| (at, JobState::Canceled));
    everywhere(world, TransitionKind::Cancel, cancel, &moves, &[Succeeded, Failed, Canceled]).await;
}

pub async fn l_01_reschedule_from_every_state(world: &World) {
    let reschedule = |id| Command::Reschedule(id, Due::In(secs(60)));
    everywhere(world, TransitionKind::Reschedule, reschedule, &[(Pending, JobState::Pending)], &[])
        .await;
}

pub async fn l_09_move_from_every_state(world: &World) {
    let relocate = |id| Command::Move(id, Placement::default().queue("elsewhere"));
    let moves = [
        (Pending, JobState::Pending),
        (PausedPending, JobState::Paused),
        (PausedFailed, JobState::Paused),
    ];
    everywhere(world, TransitionKind::Move, relocate, &moves, &[]).await;
}

pub async fn l_01_manual_retry_from_every_state(world: &World) {
    let moves = [(Failed, JobState::Pending)];
    everywhere(world, TransitionKind::RetryManually, Command::Retry, &moves, &[]).await;
}

pub async fn l_01_settle_from_every_state(world: &World) {
    for at in EVERYWHERE {
        let run = world.run(world.job()).await;
        world.apply(run.release()).await;
        world.cancel(run.id()).await;
        let id = bring(world, at).await;
        let before = world.get(id).await;
        let mut forged = run.clone();
        forged.token.job = id;
        forged.token.version = before.version;
        assert_eq!(world.stale(forged.succeed()).await, Some(before.state), "{at:?}");
        assert_eq!(world.get(id).await, before);
        clear(world, id).await;
    }
}

pub async fn l_01_unknown_job_is_told_as_such(world: &World) {
    let id = world.unknown_id();
    for command in [
        Command::Pause(id),
        Command::Resume(id),
        Command::Cancel(id, CancelCause::Requested),
        Command::Reschedule(id, Due::Now),
        Command::Move(id, Placement::default().queue("elsewhere")),
        Command::Retry(id),
    ] {
        let answer = world.command(command).await;
        assert!(matches!(answer, Err(CommandError::NotFound(job)) if job == id), "{answer:?}");
    }
}
