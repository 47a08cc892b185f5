//! Schedules of recurring jobs.

use ratchet_store::model::{
    Filter, JobSpec, JobState, Missed, NewJob, ScheduleRecord, ScheduleWritten, WriteSchedule,
};

use crate::World;
use crate::fixture::{JobExt, hours, mins};

fn nightly(world_now: jiff::Timestamp) -> ScheduleRecord {
    let mut schedule =
        ScheduleRecord::new("nightly", JobSpec::new("mail", b"{}".to_vec()), "0 3 * * *");
    schedule.zone = "Europe/Berlin".to_owned();
    schedule.missed = Missed::CatchUp(3);
    schedule.next = Some(whole(world_now));
    schedule
}

/// Truncates an instant to microseconds, the precision that every store supports.
fn whole(instant: jiff::Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(instant.as_microsecond()).expect("in range")
}

async fn write(
    world: &World,
    replaces: Option<u64>,
    record: Option<ScheduleRecord>,
    jobs: Vec<NewJob>,
) -> ScheduleWritten {
    let write = WriteSchedule { name: "nightly".to_owned(), replaces, record, jobs };
    world.store.write_schedule(write).await.expect("is answered")
}

async fn all(world: &World) -> Vec<ScheduleRecord> {
    world.store.schedules().await.expect("reads")
}

async fn due(world: &World) -> usize {
    world.store.due_schedules(10).await.expect("reads").len()
}

pub async fn t_05_schedule_reads_back_as_it_was_written(world: &World) {
    let mut schedule = nightly(world.now().await);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    schedule.version = 1;
    assert_eq!(all(world).await, [schedule.clone()]);
    let by_name = async |name| world.store.schedule(name).await.expect("reads");
    assert_eq!(by_name("nightly").await, Some(schedule.clone()));
    assert_eq!(by_name("nightl").await, None);
    schedule.paused = true;
    schedule.last = schedule.next.take();
    write(world, Some(1), Some(schedule.clone()), Vec::new()).await;
    schedule.version = 2;
    assert_eq!(all(world).await, [schedule]);
}

pub async fn t_02_firing_and_advance_are_one_commit(world: &World) {
    let node = world.node().await;
    let mut schedule = nightly(world.now().await);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    let job = world.job();
    let id = job.id;
    schedule.next = None;
    let written = write(world, Some(1), Some(schedule), vec![job]).await;
    let expected = ScheduleWritten::Written { created: vec![id], dropped: Vec::new() };
    assert_eq!(written, expected);
    assert_eq!(node.claim_ids(5).await, [id]);
    assert_eq!(all(world).await[0].next, None);
}

pub async fn t_02_only_one_of_many_fires_an_occurrence(world: &World) {
    let schedule = nightly(world.now().await);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    let mut nodes = Vec::new();
    for _ in 0..5 {
        let (store, job) = (std::sync::Arc::clone(&world.store), world.job());
        let record = Some(schedule.clone());
        nodes.push(tokio::spawn(async move {
            let write = WriteSchedule {
                name: "nightly".to_owned(),
                replaces: Some(1),
                record,
                jobs: vec![job],
            };
            store.write_schedule(write).await.expect("is answered")
        }));
    }
    let mut fired = 0;
    for node in nodes {
        if let ScheduleWritten::Written { .. } = node.await.expect("ends") {
            fired += 1;
        }
    }
    assert_eq!(fired, 1);
    assert_eq!(world.list(Filter::any()).await.len(), 1);
}

pub async fn t_02_stale_write_changes_nothing(world: &World) {
    let schedule = nightly(world.now().await);
    assert_eq!(
        write(world, Some(3), Some(schedule.clone()), world.jobs(1)).await,
        ScheduleWritten::Stale
    );
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    assert_eq!(
        write(world, None, Some(schedule.clone()), world.jobs(1)).await,
        ScheduleWritten::Stale
    );
    assert_eq!(write(world, Some(7), None, Vec::new()).await, ScheduleWritten::Stale);
    assert_eq!(all(world).await.len(), 1);
    assert!(world.list(Filter::any()).await.is_empty());
}

pub async fn t_02_taken_key_drops_that_occurrence_only(world: &World) {
    let holder = world.submit(world.job().key("report")).await;
    let schedule = nightly(world.now().await);
    let jobs = vec![world.job().key("report"), world.job()];
    let other = jobs[1].id;
    let written = write(world, None, Some(schedule), jobs).await;
    let ScheduleWritten::Written { created, dropped } = written else { panic!("{written:?}") };
    assert_eq!((created, dropped.len()), (vec![other], 1));
    assert_eq!(all(world).await.len(), 1, "the schedule moves on");
    assert_eq!(world.state(holder).await, JobState::Pending);
}

pub async fn t_04_due_schedules_are_told_by_the_stores_clock(world: &World) {
    let mut schedule = nightly(world.now().await);
    schedule.next = Some(whole(world.now().await + hours(1)));
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    assert_eq!(due(world).await, 0);
    world.pass(hours(1) + mins(1)).await;
    assert_eq!(due(world).await, 1);
    schedule.paused = true;
    write(world, Some(1), Some(schedule), Vec::new()).await;
    assert_eq!(due(world).await, 0, "a paused one is not due");
}

pub async fn t_04_schedule_can_be_removed(world: &World) {
    let schedule = nightly(world.now().await);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    write(world, Some(1), None, Vec::new()).await;
    assert!(all(world).await.is_empty());
    write(world, None, Some(schedule), Vec::new()).await;
    assert_eq!(all(world).await.len(), 1);
}
