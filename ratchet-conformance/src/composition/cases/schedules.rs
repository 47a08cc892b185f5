//! Schedules of recurring jobs.

use ratchet_store::model::{
    Channel, Declarations, Declared, Filter, JobSpec, JobState, Missed, NewJob, Notice, Overlap,
    ScheduleRecord, ScheduleWritten, Watch, WriteSchedule,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, hours, mins, secs};

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
    let write = WriteSchedule {
        name: "nightly".to_owned(),
        replaces,
        record,
        declarations: None,
        jobs,
        notices: Vec::new(),
    };
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
                declarations: None,
                jobs: vec![job],
                notices: Vec::new(),
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

pub async fn t_06_a_schedule_can_be_renamed(world: &World) {
    let mut schedule = nightly(world.now().await);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    "every_night".clone_into(&mut schedule.name);
    let stale = write(world, Some(7), Some(schedule.clone()), Vec::new()).await;
    assert_eq!(stale, ScheduleWritten::Stale);
    let written = write(world, Some(1), Some(schedule.clone()), Vec::new()).await;
    assert!(matches!(written, ScheduleWritten::Written { .. }), "{written:?}");
    schedule.version = 2;
    assert_eq!(all(world).await, [schedule]);
}

pub async fn t_06_a_schedule_is_not_renamed_to_a_taken_name(world: &World) {
    let there = nightly(world.now().await);
    let mut other = there.clone();
    "other".clone_into(&mut other.name);
    write(world, None, Some(there), Vec::new()).await;
    let write_other = WriteSchedule {
        name: "other".to_owned(),
        replaces: None,
        record: Some(other.clone()),
        declarations: None,
        jobs: Vec::new(),
        notices: Vec::new(),
    };
    world.store.write_schedule(write_other).await.expect("is answered");
    let before = all(world).await;
    assert_eq!(write(world, Some(1), Some(other), Vec::new()).await, ScheduleWritten::Stale);
    assert_eq!(all(world).await, before);
}

pub async fn t_06_a_withdrawn_schedule_is_not_due(world: &World) {
    let mut schedule = nightly(world.now().await);
    let declared = |withdrawn| Some(Declared { program: "shop".to_owned(), withdrawn });
    schedule.declared = declared(true);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    world.pass(secs(1)).await;
    assert_eq!(world.store.due_schedules(10).await.expect("reads"), []);
    schedule.declared = declared(false);
    write(world, Some(1), Some(schedule), Vec::new()).await;
    assert_eq!(world.store.due_schedules(10).await.expect("reads").len(), 1);
}

pub async fn t_06_only_the_newest_version_of_a_program_changes_its_schedules(world: &World) {
    let declarations = |fingerprint| Declarations { program: "shop".to_owned(), fingerprint };
    let declare = async |fingerprint, replaces| {
        let write = WriteSchedule {
            name: "nightly".to_owned(),
            replaces,
            record: Some(nightly(world.now().await)),
            declarations: Some(declarations(fingerprint)),
            jobs: Vec::new(),
            notices: Vec::new(),
        };
        let written = world.store.write_schedule(write).await.expect("is answered");
        matches!(written, ScheduleWritten::Written { .. })
    };
    assert!(!declare(1, None).await, "no node has these declarations");
    for fingerprint in [1, 2] {
        let mut node = world.stranger();
        node.declarations = declarations(fingerprint);
        node.join(secs(60)).await;
        assert!(node.try_declare().await);
    }
    assert!(!declare(1, None).await, "the other version is newer");
    assert!(declare(2, None).await);
    assert!(!declare(1, Some(1)).await);
    assert!(declare(2, Some(1)).await);
}

pub async fn t_07_alert_is_recorded_with_the_change(world: &World) {
    let schedule = nightly(world.now().await);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    let run = world.run(world.job()).await;
    let envelope = Box::new(run.envelope("overdue"));
    let alert = |replaces| WriteSchedule {
        name: "nightly".to_owned(),
        replaces: Some(replaces),
        record: Some(schedule.clone()),
        declarations: None,
        jobs: Vec::new(),
        notices: vec![Notice::Alert { window: secs(0), envelope: envelope.clone() }],
    };
    let stale = world.store.write_schedule(alert(7)).await.expect("is answered");
    assert_eq!(stale, ScheduleWritten::Stale);
    assert!(world.alerts().await.is_empty(), "nothing was written");
    world.store.write_schedule(alert(1)).await.expect("is answered");
    let alerts = world.alerts().await;
    assert_eq!((alerts.len(), alerts[0].message.as_str()), (1, "overdue"));
    assert_eq!(world.take_deliveries(Channel::Alerts, secs(60)).await.len(), 1);
}

pub async fn t_07_overlap_policy_reads_back(world: &World) {
    let mut schedule = nightly(world.now().await);
    schedule.overlap = Overlap::QueueOne;
    let mut watch = Watch::new(hours(1), whole(world.now().await));
    watch.submitted([world.unknown_id()]);
    schedule.watch = Some(watch);
    write(world, None, Some(schedule.clone()), Vec::new()).await;
    schedule.version = 1;
    assert_eq!(all(world).await, [schedule]);
}

/// Fires an occurrence of a schedule with this policy. Returns whether a job was created.
async fn fire(world: &World, overlap: Overlap, replaces: u64) -> bool {
    let schedule = nightly(world.now().await);
    let mut job = world.job();
    overlap.apply(&mut job, &schedule.name);
    match write(world, Some(replaces), Some(schedule), vec![job]).await {
        ScheduleWritten::Written { created, dropped } => {
            assert!(dropped.is_empty(), "{dropped:?}");
            !created.is_empty()
        }
        ScheduleWritten::Stale => panic!("nothing else writes"),
    }
}

pub async fn t_07_occurrences_overlap_as_the_policy_says(world: &World) {
    let node = world.node().await;
    let mut version = 0;
    write(world, None, Some(nightly(world.now().await)), Vec::new()).await;
    for (overlap, waiting, running) in [
        (Overlap::Allow, true, [true, true]),
        (Overlap::Skip, false, [false, false]),
        (Overlap::QueueOne, false, [true, false]),
    ] {
        let mut fire = async || {
            version += 1;
            fire(world, overlap, version).await
        };
        assert!(fire().await, "{overlap:?}: nothing has fired before");
        assert_eq!(fire().await, waiting, "{overlap:?}: a job waits");
        let run = node.claim_one().await;
        assert_eq!([fire().await, fire().await], running, "{overlap:?}: a job runs");
        world.apply(run.succeed()).await;
        while let Some(run) = node.claim(1).await.pop() {
            world.apply(run.succeed()).await;
        }
    }
}
