//! What a restore from a backup means for leases, schedules and keys. The test makes the backup between the first two parts.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::model::{
    Claimed, Inserted, JobId, JobSpec, JobState, NewJob, ScheduleRecord, ScheduleWritten,
    WriteSchedule,
};

use crate::fixture::{JobExt as _, RunExt as _, mins, secs};
use crate::{Harness, World};

/// How long the lease of the node lasts that runs a job when the backup is made.
const LEASE: Duration = Duration::from_mins(1);

const SCHEDULE: &str = "nightly";

/// What the store contains when the backup is made, and what happens after it.
#[derive(Debug)]
pub struct Original {
    running: Claimed,
    early: JobId,
    late: Option<JobId>,
}

/// Submits and runs jobs before the backup.
///
/// # Panics
///
/// Panics if the store does not work.
pub async fn before(harness: Arc<dyn Harness>) -> Original {
    let world = World::new(harness);
    let node = world.mortal(LEASE).await;
    let running = world.run_on(&node, world.job()).await;
    let early = world.submit(world.job().idempotent("early").queue("other")).await;
    let now = world.now().await;
    let mut schedule =
        ScheduleRecord::new(SCHEDULE, JobSpec::new("mail", b"{}".to_vec()), "0 3 * * *");
    schedule.next = Some(now + mins(2));
    write(&world, None, schedule, Vec::new()).await;
    Original { running, early, late: None }
}

async fn write(
    world: &World,
    replaces: Option<u64>,
    record: ScheduleRecord,
    jobs: Vec<NewJob>,
) -> ScheduleWritten {
    let write = WriteSchedule {
        name: SCHEDULE.to_owned(),
        replaces,
        record: Some(record),
        declarations: None,
        jobs,
        notices: Vec::new(),
    };
    world.store.write_schedule(write).await.expect("is answered")
}

/// Fires the occurrence that is due. Returns whether there was one.
async fn fire(world: &World) -> bool {
    let Some(mut due) = world.store.due_schedules(10).await.expect("reads").pop() else {
        return false;
    };
    let (version, occurrence) = (due.version, due.next.take());
    due.last = occurrence;
    due.next = occurrence.map(|at| at + mins(60));
    let job = world.job().queue("nightly");
    let written = write(world, Some(version), due, vec![job]).await;
    matches!(written, ScheduleWritten::Written { .. })
}

/// Continues after the backup: the job ends, a key is used, and the schedule fires.
///
/// # Panics
///
/// Panics if the store does not work.
pub async fn after(harness: Arc<dyn Harness>, original: &mut Original) {
    let world = World::new(harness);
    world.apply(original.running.succeed()).await;
    original.late = Some(world.submit(world.job().idempotent("late").queue("other")).await);
    world.pass(mins(3)).await;
    assert!(fire(&world).await);
    assert!(!fire(&world).await, "an occurrence fires once");
}

/// Checks the store that was restored from the backup.
///
/// # Panics
///
/// Panics if a job, a key or an occurrence is not as documented.
pub async fn check(harness: Arc<dyn Harness>, original: &Original) {
    let world = World::new(harness);
    let id = original.running.id();
    // The job is running, as it was, until the lease of its node has expired.
    assert_eq!(world.state(id).await, JobState::Running);
    assert!(world.orphans().await.is_empty());
    world.pass(LEASE + secs(1)).await;
    let orphans = world.orphans().await;
    assert_eq!(orphans.len(), 1);
    let node = world.node().await;
    world.apply(original.running.rescue(1)).await;
    let again = node.claim_one().await;
    assert_eq!((again.id(), again.run), (id, original.running.run + 1));
    world.apply(again.succeed()).await;
    // Keys of before the backup are known, later ones are not.
    let repeat = world.try_submit(world.job().idempotent("early").queue("other")).await;
    assert_eq!(repeat.expect("a repeat"), Inserted::Duplicate(original.early));
    let late = world.try_submit(world.job().idempotent("late").queue("other")).await;
    assert!(matches!(late, Ok(Inserted::Created(new)) if Some(new) != original.late), "{late:?}");
    // The occurrence that had fired after the backup is due again, and fires once.
    world.pass(mins(3)).await;
    assert!(fire(&world).await, "it is not skipped");
    assert!(!fire(&world).await, "it does not fire twice");
}
