//! Moving jobs to another queue or priority.

use ratchet_store::model::{Command, CommandReply, JobId, JobState, Placement, Priority};

use crate::World;
use crate::fixture::{JobExt, RunExt, hours, secs};

async fn relocate(world: &World, id: JobId, placement: Placement) -> CommandReply {
    world.command(Command::Move(id, placement)).await.expect("moves")
}

fn elsewhere() -> Placement {
    Placement::default().queue("elsewhere")
}

pub async fn l_09_a_waiting_job_is_claimed_from_its_new_queue(world: &World) {
    let id = world.submit(world.job()).await;
    relocate(world, id, elsewhere()).await;
    let node = world.stranger().serving(&["default"]);
    node.join(hours(9)).await;
    assert!(node.claim(10).await.is_empty());
    let node = world.stranger().serving(&["elsewhere"]);
    node.join(hours(9)).await;
    let run = node.claim_one().await;
    assert_eq!((run.id(), run.spec.queue.as_str()), (id, "elsewhere"));
    world.apply(run.succeed()).await;
    let counts = world.counts().await;
    assert_eq!(counts.on("elsewhere", JobState::Succeeded), 1);
    assert_eq!(counts.on("default", JobState::Pending), 0);
}

pub async fn l_09_a_new_priority_is_a_new_place_in_line(world: &World) {
    let ids = world.submit_all(world.jobs(3)).await;
    relocate(world, ids[2], Placement::default().priority(Priority::Critical)).await;
    relocate(world, ids[0], Placement::default().priority(Priority::Lowest)).await;
    let node = world.node().await;
    let runs = node.claim(10).await;
    let claimed: Vec<_> = runs.iter().map(|run| (run.id(), run.spec.priority)).collect();
    let wanted =
        [(ids[2], Priority::Critical), (ids[1], Priority::Normal), (ids[0], Priority::Lowest)];
    assert_eq!(claimed, wanted);
    // The place is kept by what follows.
    world.apply(runs[2].release()).await;
    world.apply(runs[0].release()).await;
    assert_eq!(node.claim_ids(10).await, [ids[2], ids[0]]);
}

pub async fn l_09_a_move_changes_nothing_else(world: &World) {
    let job = world.job().due_in(hours(2)).key("order").tag("t").tenant("acme");
    let id = world.submit(job).await;
    let mut wanted = world.get(id).await;
    let placement = elsewhere().priority(Priority::High);
    let reply = relocate(world, id, placement.clone()).await;
    let pending = JobState::Pending;
    assert_eq!(reply, CommandReply::Done { from: pending, to: pending });
    wanted.spec = placement.of(&wanted.spec).expect("another place").into();
    wanted.version += 1;
    assert_eq!(world.get(id).await, wanted);
    let reply = relocate(world, id, placement).await;
    assert_eq!(reply, CommandReply::Unchanged { state: pending });
    assert_eq!(world.get(id).await, wanted);
}

pub async fn l_09_a_paused_job_resumes_in_its_new_queue(world: &World) {
    let failed = world.failed(world.job()).await;
    let waiting = world.submit(world.job()).await;
    for id in [waiting, failed] {
        world.pause(id).await;
        relocate(world, id, elsewhere()).await;
    }
    assert_eq!(world.counts().await.on("elsewhere", JobState::Paused), 2);
    world.resume(waiting).await;
    world.resume(failed).await;
    let counts = world.counts().await;
    assert_eq!(counts.on("elsewhere", JobState::Pending), 1);
    assert_eq!(counts.on("elsewhere", JobState::Failed), 1);
    assert_eq!(
        (counts.on("default", JobState::Failed), counts.on("default", JobState::Paused)),
        (0, 0)
    );
    world.retry(failed).await;
    let node = world.stranger().serving(&["elsewhere"]);
    node.join(hours(9)).await;
    let mut claimed = node.claim_ids(10).await;
    claimed.sort_unstable();
    let mut wanted = [waiting, failed];
    wanted.sort_unstable();
    assert_eq!(claimed, wanted);
}

pub async fn l_09_jobs_that_cannot_run_now_are_moved(world: &World) {
    let later = world.submit(world.job().due_in(secs(60))).await;
    let unknown = world.submit(world.job().named("strange")).await;
    let holder = world.run(world.job().at_most(1, "k")).await;
    let blocked = world.submit(world.job().at_most(1, "k")).await;
    // A claim sets aside what cannot run.
    assert!(world.node().await.claim(10).await.is_empty());
    for id in [later, unknown, blocked] {
        relocate(world, id, elsewhere()).await;
        assert_eq!(world.get(id).await.spec.queue, "elsewhere");
    }
    assert_eq!(world.counts().await.on("elsewhere", JobState::Pending), 3);
    let node = world.stranger().serving(&["elsewhere"]);
    node.join(hours(9)).await;
    assert!(node.claim(10).await.is_empty());
    world.apply(holder.succeed()).await;
    assert_eq!(node.claim_ids(10).await, [blocked]);
    world.pass(secs(61)).await;
    assert_eq!(node.claim_ids(10).await, [later]);
}
